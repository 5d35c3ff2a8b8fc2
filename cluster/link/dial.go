package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Dial connects to an address, within ctx and HandshakeTimeout. For a name with several
// addresses, it tries each until one responds, this node itself last: all nodes may share a
// name. Errors are *fault.Error of kind Unavailable.
func (l *Link) Dial(ctx context.Context, address string, p Protocol) (net.Conn, error) {
	return l.DialNode(ctx, address, "", p)
}

// DialNode is Dial, but rejects a peer whose certificate names another node. It accepts a
// certificate that names no node: an operator's authority need not know the nodes' names.
func (l *Link) DialNode(ctx context.Context, address string, node id.Node, p Protocol) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.HandshakeTimeout)
	defer cancel()
	host, targets, err := resolve(ctx, address)
	if err != nil {
		return nil, unreachable(address, err)
	}
	var errs []error
	self := -1
	for i, target := range targets {
		conn, err := l.dialOne(ctx, dialing{target: target, host: host, node: node, protocol: p, left: len(targets) - i})
		switch {
		case err != nil:
			errs = append(errs, err)
		case conn.node == l.cfg.Identity.node && len(targets) > 1 && node == "":
			_ = conn.Close() // the connection was to this node itself
			self = i
		default:
			return conn, nil
		}
	}
	if self >= 0 {
		conn, err := l.dialOne(ctx, dialing{target: targets[self], host: host, protocol: p, left: 1})
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, unreachable(address, errors.Join(errs...))
}

// resolve splits an address and resolves its host. It returns the host in the form of
// certificates.
func resolve(ctx context.Context, address string) (host string, targets []netip.AddrPort, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", nil, fmt.Errorf("the port of %q is not a number", address)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		// Certificates contain no zones.
		return ip.WithZone("").String(), []netip.AddrPort{netip.AddrPortFrom(ip, uint16(n))}, nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", nil, err
	}
	for _, ip := range ips {
		targets = append(targets, netip.AddrPortFrom(ip.Unmap(), uint16(n)))
	}
	return host, targets, nil
}

// dialing is one attempt to connect.
type dialing struct {
	target   netip.AddrPort
	host     string  // the requested host
	node     id.Node // the expected node; empty: any
	protocol Protocol
	left     int // number of addresses left, including this one
}

// minTry is the shortest time for one of many addresses: several round trips around the world.
// If too many of them are dead, the last ones get no time. With less for each, no distant
// address would ever respond.
const minTry = time.Second

// dialOne connects to one address, in its share of the remaining time.
func (l *Link) dialOne(ctx context.Context, d dialing) (*Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && d.left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(time.Until(deadline)/time.Duration(d.left), minTry))
		defer cancel()
	}
	dialer := net.Dialer{KeepAliveConfig: keepAlive()}
	raw, err := dialer.DialContext(ctx, "tcp", d.target.String())
	if err != nil {
		return nil, err
	}
	if tcp, ok := raw.(*net.TCPConn); ok {
		setUserTimeout(tcp, deadAfter)
	}
	conn, err := l.greet(ctx, raw, d.host, d.protocol)
	if err != nil {
		_ = raw.Close() // there is an error already
		return nil, fmt.Errorf("handshake with %s: %w", d.target, err)
	}
	if d.node != "" && conn.named && conn.node != d.node {
		_ = raw.Close()
		return nil, &wrongNodeError{at: d.target, want: d.node, got: conn.node}
	}
	return conn, nil
}

// wrongNodeError reports another node than the expected one.
type wrongNodeError struct {
	at        netip.AddrPort
	want, got id.Node
}

// Error implements error.
func (e *wrongNodeError) Error() string {
	return fmt.Sprintf("at %s is node %s, not %s", e.at, e.got, e.want)
}

// unreachable returns the error for a node that cannot be reached, with a remedy for the cause.
func unreachable(address string, err error) *fault.Error {
	e := &fault.Error{
		Op: "link.dial", Kind: fault.Unavailable, Code: "node_unreachable",
		Detail: fmt.Sprintf("The node at %s cannot be reached.", address), Err: err,
	}
	wrong, isWrong := errors.AsType[*wrongNodeError](err)
	switch reason := reasonOf(err, ""); {
	case isWrong:
		e.Code, e.Detail = "wrong_node", fmt.Sprintf("At %s is node %s, not %s.", address, wrong.got, wrong.want)
	case reason == ReasonRejected:
		e.Code, e.Detail = "certificate_refused", fmt.Sprintf("The node at %s refuses this node's certificate. Both need the same cluster secret, or certificates of the same authority, and clocks that are right.", address)
	case reason == ReasonStranger, reason == ReasonBadCert, reason == ReasonNoCert:
		e.Code, e.Detail = "certificate_unknown", fmt.Sprintf("Whoever is at %s has no valid certificate of this cluster. Both need the same cluster secret, or certificates of the same authority, and clocks that are right.", address)
	case reason == ReasonProtocol, reason == ReasonOldTLS, reason == ReasonNotTLS:
		e.Code, e.Detail = "protocol_unknown", fmt.Sprintf("Whoever is at %s is no node, or one of a version that this one cannot talk to. Look at the port, and bring the versions together.", address)
	}
	return e
}
