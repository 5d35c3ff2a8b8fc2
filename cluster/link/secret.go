package link

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net/url"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	// minSecret is the shortest length of a shared secret, in bytes. An observer of a handshake
	// can guess the secret offline, so it must not be a password. A slow hash function would
	// only help a little.
	minSecret = 32
	// minDistinct is the lowest number of different bytes. A repeated short word has fewer. 32
	// random hex digits have fewer with a probability of one in ten million.
	minDistinct = 8

	// derivation is the salt of all derived keys. Another number means another cluster.
	derivation = "modelgateway cluster 1"

	// A node's certificate is valid from a day ago, for slow clocks, and for three days. It is
	// renewed after two, which leaves a day for fast clocks. A restart also makes a new one. To
	// lock a node out, change the secret.
	leafPast   = 24 * time.Hour
	leafFuture = 72 * time.Hour
	leafRenew  = 48 * time.Hour
)

// FromSecret returns the identity of a node from the cluster's shared secret, of at least 32
// characters; `openssl rand -hex 32` makes a good one. Any process with the secret can be any
// node.
//
// Every node derives the same authority from the secret and signs a certificate that names
// itself. The secret is never sent, and nothing is written to disk.
func FromSecret(secret vault.Secret, node id.Node) (*Identity, error) {
	if !isNode(string(node)) {
		return nil, fmt.Errorf("link: %q is not a node's id", node)
	}
	seed, gossip, err := derive(secret)
	if err != nil {
		return nil, err
	}
	ca, err := newAuthority(seed, node)
	if err != nil {
		return nil, err
	}
	first, err := ca.issue(time.Now())
	if err != nil {
		return nil, err
	}
	return newIdentity(node, gossip, ca, first), nil
}

// derive derives the seed of the authority's key and the gossip key.
func derive(secret vault.Secret) (seed, gossip []byte, err error) {
	if problem := weakness(secret.Reveal()); problem != "" {
		e := fault.New(fault.Malformed, "cluster_secret", "The cluster's secret %s. Make one with `openssl rand -hex 32` and give the same to every node.", problem)
		e.Op = "link.secret"
		return nil, nil, e
	}
	if seed, err = derived(secret, "authority"); err != nil {
		return nil, nil, err
	}
	gossip, err = gossipKey(secret)
	return seed, gossip, err
}

// gossipKey derives the gossip key.
func gossipKey(secret vault.Secret) ([]byte, error) { return derived(secret, "gossip") }

// derived derives a key for one purpose. All keys have the length of a SHA-256, as Ed25519 and
// AES-256 need.
func derived(secret vault.Secret, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(secret.Reveal()), []byte(derivation), purpose, sha256.Size)
}

// weakness explains why a secret is too weak, without quoting it; "" if it is not.
func weakness(secret string) string {
	if len(secret) < minSecret {
		return fmt.Sprintf("has less than %d characters", minSecret)
	}
	seen := map[byte]bool{}
	for i := range len(secret) {
		seen[secret[i]] = true
	}
	if len(seen) < minDistinct {
		return "can be guessed, for it has too few different characters"
	}
	return ""
}

// authority signs this node's certificates.
type authority struct {
	node  id.Node
	key   ed25519.PrivateKey
	cert  *x509.Certificate
	roots *x509.CertPool
}

// newAuthority returns the cluster's authority. Its certificate is the same on every node,
// because Ed25519 is deterministic and all fields are fixed. It never expires; a new secret
// ends it.
func newAuthority(seed []byte, node id.Node) (*authority, error) {
	key := ed25519.NewKeyFromSeed(seed)
	name := sha256.Sum256(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:]) // of the public key
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "modelgateway cluster"},
		SubjectKeyId:          name[:20], // the default depends on the version of Go
		NotBefore:             time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making the cluster's authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("making the cluster's authority: %w", err)
	}
	a := &authority{node: node, key: key, cert: cert, roots: x509.NewCertPool()}
	a.roots.AddCert(cert)
	return a, nil
}

// issue returns a certificate with a new key.
func (a *authority) issue(now time.Time) (*material, error) {
	return a.sign(&x509.Certificate{
		Subject:               pkix.Name{CommonName: "modelgateway node"},
		NotBefore:             now.Add(-leafPast),
		NotAfter:              now.Add(leafFuture),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		URIs:                  []*url.URL{nodeURI(a.node)},
	})
}

// sign creates a key and a certificate for it.
func (a *authority) sign(template *x509.Certificate) (*material, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the node's certificate: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("making the node's certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("making the node's certificate: %w", err)
	}
	return &material{cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private, Leaf: leaf}, roots: a.roots}, nil
}

// renew implements source. A clock that was set back also causes a new certificate, because the
// clocks of the others may be right.
func (a *authority) renew(current *material) (*material, error) {
	now := time.Now()
	issued := current.cert.Leaf.NotBefore.Add(leafPast)
	if age := now.Sub(issued); age > -leafPast/2 && age < leafRenew {
		return current, nil
	}
	next, err := a.issue(now)
	if err != nil {
		return current, err
	}
	return next, nil
}
