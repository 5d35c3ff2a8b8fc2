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

// Protocol is what a stream carries, by its ALPN name.
type Protocol string

// The protocols. Their numbers rise when nodes of two versions could not talk.
const (
	Raft   Protocol = "modelgateway-raft/1"   // the log
	Gossip Protocol = "modelgateway-gossip/1" // whole states of the gossip
	Peer   Protocol = "modelgateway-peer/1"   // calls
)

// protocols is all of them.
func protocols() []Protocol { return []Protocol{Raft, Gossip, Peer} }

// Config says where a node listens, what it is called by the others and who it is.
// Listen and Identity are required.
type Config struct {
	// Listen is host:port, for TCP and UDP. Port 0 is a free one, the same for both.
	Listen string
	// Advertise is what the other nodes reach this one at: host:port, where the host
	// may be a name and port 0 or none is the one that is listened at. Empty is the
	// host of Listen, or if that is every address of the machine, the first that is
	// not just this machine's, private ones before public ones.
	Advertise string
	// Identity is who the node is.
	Identity *Identity
	// Logger is told who is refused; nil means nobody is.
	Logger *slog.Logger
	// HandshakeTimeout bounds how long it may take until a connection is verified,
	// on both sides. 0 means 5 s: some round trips around the world, with a loss.
	HandshakeTimeout time.Duration
	// MaxHandshakes is how many connections may be unverified at once; for one more,
	// the one that has taken longest is closed. A single address (of version 6: a
	// network of 64 bits) gets a quarter of them. 0 means 256: strangers can make a
	// node hold 16 MiB, and some times that while TLS takes it apart.
	MaxHandshakes int
}

const (
	defaultHandshakeTimeout = 5 * time.Second
	defaultMaxHandshakes    = 256
)

// withDefaults fills in what was left out.
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

// advertised returns what the others reach this node at, when it listens at bound.
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
		if isEverywhere(host) || !isHost(host) || !isPort(port) {
			return "", badAddress("The address %q cannot be advertised: give the other nodes a host and a port that lead to this one.", c.Advertise)
		}
		return net.JoinHostPort(host, port), nil
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return "", badAddress("The address %q is not host:port.", c.Listen)
	}
	if !isEverywhere(host) {
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

// bestOf returns the address that other machines are most likely to reach: private
// before public, version 4 before 6, and else in the system's order.
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

// isEverywhere reports whether host stands for every address of a machine.
func isEverywhere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || (err == nil && ip.IsUnspecified())
}

// isHost reports whether host can be one machine: a name, or an address that is
// not a group's. Whether the name is known, only the other nodes can tell.
func isHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return !strings.ContainsAny(host, ":[]/ ")
	}
	return !ip.IsMulticast()
}

// isPort reports whether s is the number of a port that can be connected to.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// badAddress is what an operator is told of an address.
func badAddress(format string, args ...any) *fault.Error {
	e := fault.New(fault.Malformed, "cluster_address", format, args...)
	e.Op = "link.address"
	return e
}
