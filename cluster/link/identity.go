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

// Identity is who a node is to the others: its certificate, whom it trusts, and
// the key of the gossip. It cannot be printed. It is safe for concurrent use.
type Identity struct {
	node   id.Node
	gossip [32]byte
	source source

	mu struct {
		sync.Mutex
		current *material
	}
}

// source makes what a handshake needs.
type source interface {
	// renew returns what to use from now on: the same if nothing has changed, and
	// the same with an error if it has changed and cannot be used. It is called
	// under a lock.
	renew(current *material) (*material, error)
}

// newIdentity makes an identity whose first material has been made.
func newIdentity(node id.Node, gossip []byte, from source, first *material) *Identity {
	i := &Identity{node: node, source: from}
	copy(i.gossip[:], gossip)
	i.mu.current = first
	return i
}

// GossipKey returns the key that packets are encrypted with, 32 bytes for AES-256.
// It is the same on all nodes of the cluster.
func (i *Identity) GossipKey() []byte { return slices.Clone(i.gossip[:]) }

// String hides the keys.
func (i *Identity) String() string { return "node " + string(i.node) }

// GoString hides the keys from %#v.
func (i *Identity) GoString() string { return i.String() }

// Format hides the keys from every verb of fmt.
func (i *Identity) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, i.String()) }

// LogValue hides the keys from slog.
func (i *Identity) LogValue() slog.Value { return slog.StringValue(i.String()) }

// material returns what to use for a handshake now; it is never nil. The error
// says why it is not as new as it should be.
func (i *Identity) material() (*material, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	next, err := i.source.renew(i.mu.current)
	i.mu.current = next
	return next, err
}

// validFor refuses an address that the others will dial in vain, because this
// node's certificate is for another host.
func (i *Identity) validFor(address string) error {
	m, _ := i.material() // an error is of one that is newer, and told at the first handshake
	if !m.hosts {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	host, _, _ = strings.Cut(host, "%") // no certificate has a zone
	if err := m.cert.Leaf.VerifyHostname(host); err != nil {
		e := badAddress("The other nodes would refuse this one, for its certificate is not valid for %q, at which they reach it: issue one that is, or advertise a host that it is valid for.", host)
		e.Err = err
		return e
	}
	return nil
}

// material is what a handshake needs. It is immutable.
type material struct {
	cert  tls.Certificate
	roots *x509.CertPool
	// hosts: a server's certificate must be valid for the host that was dialled. If
	// not, it must name a node.
	hosts bool
}

// serverName is what the dialling side asks for.
func (m *material) serverName(host string) string {
	if _, err := netip.ParseAddr(host); err == nil || !m.hosts {
		return "" // TLS has no way to ask for an address, and nodes need no name
	}
	return host
}

// The name of a node in its certificate is the URI modelgateway://node/<id>.
const (
	nodeScheme = "modelgateway"
	nodeHost   = "node"
)

// nodeName is the node that a certificate names; empty if none.
type nodeName id.Node

func nodeURI(node id.Node) *url.URL {
	return &url.URL{Scheme: nodeScheme, Host: nodeHost, Path: "/" + string(node)}
}
