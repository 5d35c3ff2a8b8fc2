package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"
)

// greeting is the byte that the accepting side sends after it has verified the other one.
const greeting = 1

// accept verifies a connection that passed the gate, and returns it from Accept or rejects it.
func (l *Link) accept(ctx context.Context, raw *net.TCPConn, p *pass) {
	setUserTimeout(raw, deadAfter)
	conn, err := l.verify(ctx, raw)
	// A verified connection no longer counts, and no new one can evict it.
	if !l.gate.leave(p) {
		err = &refusal{reason: ReasonTooMany, err: errors.New("a newer connection evicted it: too many connections are being verified")}
	}
	if err == nil {
		err = l.welcome(conn)
	}
	if err == nil {
		return
	}
	if ctx.Err() == nil { // otherwise this node is stopping
		l.refusals.add(ctx, refusal{reason: reasonOf(err, ""), from: raw.RemoteAddr(), err: err})
	}
	_ = raw.Close() // not the TLS connection, which would wait until it has written its close message
}

// verify does the handshake of the accepting side.
func (l *Link) verify(ctx context.Context, raw net.Conn) (*Conn, error) {
	m, err := l.cfg.Identity.material()
	if err != nil {
		l.refusals.add(ctx, refusal{reason: ReasonCertificates, err: err}) // continues with the current certificate
	}
	if err := raw.SetDeadline(time.Now().Add(l.cfg.HandshakeTimeout)); err != nil {
		return nil, err
	}
	var (
		hint  Reason
		named nodeName
	)
	bounded := &boundedConn{Conn: raw, left: maxUnverified}
	stream := tls.Server(bounded, &tls.Config{
		Certificates:           []tls.Certificate{m.cert},
		MinVersion:             tls.VersionTLS13,
		NextProtos:             protocolNames(),
		ClientAuth:             tls.RequestClientCert, // VerifyConnection requires it, to know the reason
		SessionTicketsDisabled: true,                  // every connection is verified again
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			hint = helloReason(hello)
			return nil, nil //nolint:nilnil // unchanged configuration; TLS rejects with the right alert
		},
		VerifyConnection: func(cs tls.ConnectionState) (err error) {
			if cs.NegotiatedProtocol == "" {
				return &refusal{reason: ReasonProtocol, err: errors.New("the other side requests no protocol")}
			}
			named, err = m.verifyClient(cs, time.Now())
			return err
		},
	})
	if err := stream.HandshakeContext(ctx); err != nil {
		return nil, classified(err, hint)
	}
	return newConn(stream, bounded, named), nil
}

// welcome greets the other side and passes the connection to Accept. It reserves the queue slot
// before the greeting, so that a greeted connection is never rejected for lack of a slot.
func (l *Link) welcome(conn *Conn) error {
	p := Protocol(conn.ConnectionState().NegotiatedProtocol)
	ln := l.listeners[p]
	busy := &refusal{reason: ReasonBusy, err: fmt.Errorf("no slot for connections of %s", p)}
	if !ln.reserve() {
		return busy
	}
	if _, err := conn.Write([]byte{greeting}); err != nil {
		ln.release()
		return err
	}
	conn.trust()
	if !ln.hand(conn) {
		return busy
	}
	return nil
}

// helloReason returns the problem of a client hello.
func helloReason(hello *tls.ClientHelloInfo) Reason {
	if !slices.Contains(hello.SupportedVersions, tls.VersionTLS13) {
		return ReasonOldTLS
	}
	for _, p := range hello.SupportedProtos {
		if slices.Contains(protocolNames(), p) {
			return ""
		}
	}
	return ReasonProtocol
}

func protocolNames() []string {
	var out []string
	for _, p := range protocols() {
		out = append(out, string(p))
	}
	return out
}

// greet does the handshake of the dialing side, and waits until the other side has verified
// this one. host is the dialed host.
func (l *Link) greet(ctx context.Context, raw net.Conn, host string, p Protocol) (*Conn, error) {
	m, err := l.cfg.Identity.material()
	if err != nil {
		l.refusals.add(ctx, refusal{reason: ReasonCertificates, err: err}) // continues with the current certificate
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(l.cfg.HandshakeTimeout)
	}
	if err := raw.SetDeadline(deadline); err != nil {
		return nil, err
	}
	// A read takes no context; the deadline ends it.
	stop := context.AfterFunc(ctx, func() {
		_ = raw.SetDeadline(time.Unix(1, 0)) // fails only if it is closed
	})
	defer stop()
	var named nodeName
	bounded := &boundedConn{Conn: raw, left: maxUnverified}
	stream := tls.Client(bounded, &tls.Config{
		Certificates:       []tls.Certificate{m.cert},
		MinVersion:         tls.VersionTLS13,
		NextProtos:         []string{string(p)},
		ServerName:         m.serverName(host),
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection verifies: a node's certificate names a node, not a host
		VerifyConnection: func(cs tls.ConnectionState) (err error) {
			if cs.NegotiatedProtocol != string(p) {
				return &refusal{reason: ReasonProtocol, err: fmt.Errorf("the other side does not speak %s", p)}
			}
			named, err = m.verifyServer(cs, host, time.Now())
			return err
		},
	})
	if err := stream.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	var first [1]byte
	if _, err := io.ReadFull(stream, first[:]); err != nil {
		return nil, err
	}
	if first[0] != greeting {
		return nil, &refusal{reason: ReasonProtocol, err: errors.New("the other side sent an unknown greeting")}
	}
	if !stop() {
		return nil, context.Cause(ctx) // the deadline may already have been cleared
	}
	conn := newConn(stream, bounded, named)
	conn.trust()
	return conn, nil
}
