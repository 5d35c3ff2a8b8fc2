package tokentest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// Network has services by their addresses. Connections to other addresses are refused.
type Network struct {
	t     *testing.T
	key   *ecdsa.PrivateKey // of the test authority
	root  *x509.Certificate
	roots *x509.CertPool

	mu struct {
		sync.Mutex
		services map[string]*listener
		dialed   []string
	}
}

// NewNetwork returns a network without services. It must be called in a bubble.
func NewNetwork(t *testing.T) *Network {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	n := &Network{t: t, key: key, roots: x509.NewCertPool()}
	n.mu.services = make(map[string]*listener)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	n.root = n.issue(template, template, &key.PublicKey)
	n.roots.AddCert(n.root)
	return n
}

// issue returns a certificate that the test authority has signed.
func (n *Network) issue(template, parent *x509.Certificate, key *ecdsa.PublicKey) *x509.Certificate {
	n.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, n.key)
	if err != nil {
		n.t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		n.t.Fatal(err)
	}
	return c
}

// Serve has a service without TLS at an address, such as 169.254.169.254:80, until the test ends.
func (n *Network) Serve(address string, h http.Handler) { n.serve(address, h, nil) }

// ServeTLS has a service with a certificate of the test authority at port 443 of a host, until the test ends.
func (n *Network) ServeTLS(host string, h http.Handler) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		n.t.Fatal(err)
	}
	c := n.issue(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature,
	}, n.root, &key.PublicKey)
	n.serve(host+":443", h, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{c.Raw}, PrivateKey: key}}})
}

func (n *Network) serve(address string, h http.Handler, secure *tls.Config) {
	l := &listener{accepted: make(chan net.Conn), closed: make(chan struct{})}
	var accepts net.Listener = l
	if secure != nil {
		accepts = tls.NewListener(l, secure)
	}
	n.mu.Lock()
	n.mu.services[address] = l
	n.mu.Unlock()
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	ended := make(chan error)
	go func() { ended <- s.Serve(accepts) }()
	n.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			n.t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			n.t.Error(err)
		}
	})
}

// Dial connects to a service.
func (n *Network) Dial(ctx context.Context, _, to string) (net.Conn, error) {
	n.mu.Lock()
	n.mu.dialed = append(n.mu.dialed, to)
	l, ok := n.mu.services[to]
	n.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("connect to %s: connection refused", to)
	}
	ours, theirs := newPipe()
	select {
	case l.accepted <- theirs:
		return ours, nil
	case <-l.closed:
	case <-ctx.Done():
	}
	_, _ = ours.Close(), theirs.Close()
	return nil, errors.New("connection refused")
}

// Dialed returns the addresses that were connected to, each once.
func (n *Network) Dialed() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := slices.Clone(n.mu.dialed)
	slices.Sort(all)
	return slices.Compact(all)
}

// listener accepts the connections of Dial.
type listener struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

// Accept waits for a connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close lets no one connect any more.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns no real address.
func (*listener) Addr() net.Addr { return memory() }
