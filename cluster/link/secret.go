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
	// minSecret is how long a shared secret has to be, in bytes. What is derived from
	// it can be tried offline by who has seen a handshake, so it must not be a
	// password; a function that is slow on purpose would only help a little.
	minSecret = 32
	// minDistinct is how many different bytes it must have at least: 32 random hex
	// digits have fewer once in ten million times, a short word that is repeated
	// always has.
	minDistinct = 8

	// derivation is the salt of all that is derived. Another number makes another
	// cluster.
	derivation = "modelgateway cluster 1"

	// A node's certificate counts from a day ago, for clocks that are slow, and for
	// three days. It is made anew after two, so that there is always a day left for
	// clocks that are fast. A restart makes a new one anyway; who wants to lock a node
	// out has to change the secret.
	leafPast   = 24 * time.Hour
	leafFuture = 72 * time.Hour
	leafRenew  = 48 * time.Hour
)

// FromSecret makes the identity of a node from the cluster's shared secret, of at
// least 32 characters; `openssl rand -hex 32` makes a good one. Whoever has the
// secret can be any node.
//
// Every node derives the same authority from it, and signs a certificate for
// itself that names it. The secret never travels, and nothing is written to disk.
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

// derive makes the keys of a secret: the seed of the authority's, and the gossip's.
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

// gossipKey makes the gossip's key of a secret.
func gossipKey(secret vault.Secret) ([]byte, error) { return derived(secret, "gossip") }

// derived makes a key of a secret for one purpose. All keys are as long as a
// SHA-256, which Ed25519 and AES-256 need.
func derived(secret vault.Secret, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(secret.Reveal()), []byte(derivation), purpose, sha256.Size)
}

// weakness says why a secret will not do, without a word of it; "" if it will.
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

// authority signs a node's own certificates.
type authority struct {
	node  id.Node
	key   ed25519.PrivateKey
	cert  *x509.Certificate
	roots *x509.CertPool
}

// newAuthority makes the cluster's authority. Its certificate is the same on every
// node: Ed25519 signs without chance, and all the rest is fixed. It counts for
// ever, for what ends it is another secret.
func newAuthority(seed []byte, node id.Node) (*authority, error) {
	key := ed25519.NewKeyFromSeed(seed)
	name := sha256.Sum256(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:]) // of the public half
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "modelgateway cluster"},
		SubjectKeyId:          name[:20], // the default is not the same in all versions of Go
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

// issue makes a certificate with a key of its own.
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

// sign makes a key, and a certificate for it.
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

// renew implements source. A clock that was set back makes a new one, too: the
// others may not have been wrong.
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
