package link

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Identity is the identity of a node: its certificate, the trusted authorities, and the gossip
// key. Its printed form hides the keys. It is safe for concurrent use.
type Identity struct {
	node   id.Node
	gossip [32]byte
	source source

	mu struct {
		sync.Mutex
		current *material
	}
}

// source provides the material of a handshake.
type source interface {
	// renew returns the material to use from now on: current if nothing has changed, or current
	// with an error if the changed material is unusable. It is called under a lock.
	renew(current *material) (*material, error)
}

// newIdentity returns an identity with its first material.
func newIdentity(node id.Node, gossip []byte, from source, first *material) *Identity {
	i := &Identity{node: node, source: from}
	copy(i.gossip[:], gossip)
	i.mu.current = first
	return i
}

// GossipKey returns the encryption key of packets, 32 bytes for AES-256. It is the same on all
// nodes of the cluster.
func (i *Identity) GossipKey() []byte { return slices.Clone(i.gossip[:]) }

// String hides the keys.
func (i *Identity) String() string { return "node " + string(i.node) }

// GoString hides the keys from %#v.
func (i *Identity) GoString() string { return i.String() }

// Format hides the keys from every verb of fmt.
func (i *Identity) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, i.String()) }

// LogValue hides the keys from slog.
func (i *Identity) LogValue() slog.Value { return slog.StringValue(i.String()) }

// material returns the material for a handshake; it is never nil. The error explains why it is
// not the newest.
func (i *Identity) material() (*material, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	next, err := i.source.renew(i.mu.current)
	i.mu.current = next
	return next, err
}

// validFor rejects an advertised address for which this node's certificate is not valid.
func (i *Identity) validFor(address string) error {
	m, _ := i.material() // an error concerns newer material, and is logged at the first handshake
	if !m.hosts {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	host, _, _ = strings.Cut(host, "%") // certificates contain no zones
	if err := m.cert.Leaf.VerifyHostname(host); err != nil {
		e := badAddress("The other nodes would refuse this one, for its certificate is not valid for %q, at which they reach it: issue one that is, or advertise a host that it is valid for.", host)
		e.Err = err
		return e
	}
	return nil
}

// material is the input of a handshake. It is immutable.
type material struct {
	cert  tls.Certificate
	roots *x509.CertPool
	// hosts: the certificate of a server must be valid for the dialed host. Otherwise it must
	// name a node.
	hosts bool
}

// serverName returns the SNI of the dialing side.
func (m *material) serverName(host string) string {
	if _, err := netip.ParseAddr(host); err == nil || !m.hosts {
		return "" // SNI has no form for an address, and nodes need no name
	}
	return host
}

// The name of a node in its certificate is the URI modelgateway://node/<id>.
const (
	nodeScheme = "modelgateway"
	nodeHost   = "node"
)

// nodeName is the node in a certificate; empty if none.
type nodeName id.Node

func nodeURI(node id.Node) *url.URL {
	return &url.URL{Scheme: nodeScheme, Host: nodeHost, Path: "/" + string(node)}
}
