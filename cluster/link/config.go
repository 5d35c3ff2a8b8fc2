package link

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Protocol is the application protocol of a stream, by its ALPN name.
type Protocol string

// The protocols. An incompatible change increments the number.
const (
	Raft   Protocol = "modelgateway-raft/1"   // the Raft log
	Gossip Protocol = "modelgateway-gossip/1" // full states of the gossip
	Peer   Protocol = "modelgateway-peer/1"   // RPCs
)

func protocols() []Protocol { return []Protocol{Raft, Gossip, Peer} }

// Config configures a node's link. Listen and Identity are required.
type Config struct {
	// Listen is host:port, for TCP and UDP. Port 0 means a free port, the same for both.
	Listen string
	// Advertise is the host:port at which other nodes reach this one. The host may be a name;
	// port 0 or a missing port means the listening port. Empty means the host of Listen. If
	// that is a wildcard address, it means the machine's first address that is reachable from
	// others, private ones before public ones.
	Advertise string
	// Identity is the identity of the node.
	Identity *Identity
	// Logger logs rejected connections; nil discards the logs.
	Logger *slog.Logger
	// HandshakeTimeout limits the time until a connection is verified, on both sides. 0 means 5
	// s: several round trips around the world, with a lost packet.
	HandshakeTimeout time.Duration
	// MaxHandshakes limits the number of unverified connections; a new one evicts the oldest. A
	// single address (in IPv6: a /64 network) gets a quarter of them. 0 means 256:
	// unauthenticated peers can make a node hold 16 MiB, and several times that while TLS
	// decodes it.
	MaxHandshakes int
}

const (
	defaultHandshakeTimeout = 5 * time.Second
	defaultMaxHandshakes    = 256
)

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.HandshakeTimeout <= 0 {
		c.HandshakeTimeout = defaultHandshakeTimeout
	}
	if c.MaxHandshakes <= 0 {
		c.MaxHandshakes = defaultMaxHandshakes
	}
	return c
}

// advertised returns the address at which other nodes reach this one, when it listens at bound.
func (c Config) advertised(bound net.Addr) (string, error) {
	_, port, err := net.SplitHostPort(bound.String())
	if err != nil {
		return "", err
	}
	if c.Advertise != "" {
		host, given, err := net.SplitHostPort(c.Advertise)
		if err != nil { // a host without a port
			host, given = strings.TrimSuffix(strings.TrimPrefix(c.Advertise, "["), "]"), ""
		}
		if given != "" && given != "0" {
			port = given
		}
		if isWildcard(host) || !isHost(host) || !isPort(port) {
			return "", badAddress("The address %q cannot be advertised: give the other nodes a host and a port that lead to this one.", c.Advertise)
		}
		return net.JoinHostPort(host, port), nil
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return "", badAddress("The address %q is not host:port.", c.Listen)
	}
	if !isWildcard(host) {
		return net.JoinHostPort(host, port), nil
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return "", fmt.Errorf("listing the machine's addresses: %w", err)
	}
	ip, ok := bestOf(addrs)
	if !ok {
		return "", badAddress("The machine has no address that other nodes could reach it at. Say which one they are to use (advertise).")
	}
	return net.JoinHostPort(ip.String(), port), nil
}

// bestOf returns the address that other machines are most likely to reach: private before
// public, IPv4 before IPv6, and otherwise in the order of the system.
func bestOf(addrs []net.Addr) (best netip.Addr, found bool) {
	rank := 0
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		ip := prefix.Addr().Unmap().WithZone("")
		if !ip.IsGlobalUnicast() {
			continue // loopback, link-local, multicast
		}
		r := 1
		if ip.Is4() {
			r++
		}
		if ip.IsPrivate() {
			r += 2
		}
		if r > rank {
			best, rank = ip, r
		}
	}
	return best, rank > 0
}

// isWildcard reports whether host is a wildcard address.
func isWildcard(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || (err == nil && ip.IsUnspecified())
}

// isHost reports whether host can be one machine: a name, or an address that is not multicast.
// Only the other nodes can tell whether the name resolves.
func isHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return !strings.ContainsAny(host, ":[]/ ")
	}
	return !ip.IsMulticast()
}

// isPort reports whether s is the number of a port to which clients can connect.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// badAddress returns the error for an address in the configuration.
func badAddress(format string, args ...any) *fault.Error {
	e := fault.New(fault.Malformed, "cluster_address", format, args...)
	e.Op = "link.address"
	return e
}
