package link_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// operator is an authority as an operator has one.
type operator struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "operator"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &operator{cert: cert, key: key, pem: pemOf("CERTIFICATE", der)}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// issue makes a certificate for 127.0.0.1 that names no node, unless it is changed.
func (o *operator) issue(t *testing.T, change func(*x509.Certificate)) (cert, key []byte) {
	t.Helper()
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "a node"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if change != nil {
		change(template)
	}
	private := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, o.cert, private.Public(), o.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pemOf("CERTIFICATE", der), pemOf("PRIVATE KEY", pkcs8)
}

// naming gives a certificate the names of nodes.
func naming(uris ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		for _, u := range uris {
			parsed, err := url.Parse(u)
			if err != nil {
				panic(err)
			}
			c.URIs = append(c.URIs, parsed)
		}
	}
}

func uriOf(n int) string { return "modelgateway://node/" + string(nodeID(n)) }

// put replaces a file as a whole, as who rotates certificates does.
func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// disk is a node's certificates in a directory of its own.
func disk(t *testing.T, ca, cert, key []byte) link.Files {
	t.Helper()
	dir := t.TempDir()
	files := link.Files{
		CA: filepath.Join(dir, "ca.pem"), Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"),
		GossipKey: vault.NewSecret(ourSecret),
	}
	put(t, files.CA, ca)
	put(t, files.Cert, cert)
	put(t, files.Key, key)
	return files
}

// issued is the identity of the n-th node, with a certificate of an operator.
func issued(t *testing.T, o *operator, n int, change func(*x509.Certificate)) (*link.Identity, link.Files) {
	t.Helper()
	cert, key := o.issue(t, change)
	files := disk(t, o.pem, cert, key)
	i, err := link.FromFiles(files, nodeID(n))
	if err != nil {
		t.Fatal(err)
	}
	return i, files
}

// TestOperatorsCertificates: a node that its certificate names is known by it, and
// one that it does not name is taken for whom it is expected to be.
func TestOperatorsCertificates(t *testing.T) {
	o := newOperator(t)
	one, _ := issued(t, o, 1, naming(uriOf(1), "spiffe://example/other"))
	two, _ := issued(t, o, 2, nil)
	a, b := start(t, link.Config{Identity: one}), start(t, link.Config{Identity: two})

	conn, err := a.DialNode(t.Context(), b.Address(), nodeID(9), link.Raft)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if who, ok := link.PeerOf(conn); ok || who != "" {
		t.Errorf("node 2 is %q", who)
	}
	accepted, err := b.Listener(link.Raft).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = accepted.Close() }()
	if who, ok := link.PeerOf(accepted); !ok || who != nodeID(1) {
		t.Errorf("node 1 is %q", who)
	}
	_, err = b.DialNode(t.Context(), a.Address(), nodeID(9), link.Raft)
	wantFault(t, err, "wrong_node", string(nodeID(9)))

	// Another operator's nodes, and those of a secret, are strangers.
	other, _ := issued(t, newOperator(t), 3, nil)
	for _, stranger := range []*link.Identity{other, member(t, 3)} {
		c := start(t, link.Config{Identity: stranger})
		_, err = a.Dial(t.Context(), c.Address(), link.Raft)
		wantFault(t, err, "certificate_unknown", c.Address())
		_, err = c.Dial(t.Context(), a.Address(), link.Raft)
		wantFault(t, err, "certificate_unknown", a.Address())
	}
}

// TestOperatorsBadCertificates refuses what the authority has issued, but not for
// this: by who connects, and by who is connected to.
func TestOperatorsBadCertificates(t *testing.T) {
	o := newOperator(t)
	identity, _ := issued(t, o, 1, nil)
	always := map[string]func(*x509.Certificate){
		"expired":      func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) },
		"not yet":      func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) },
		"no use":       func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning} },
		"two nodes":    naming(uriOf(1), uriOf(2)),
		"no id":        naming("modelgateway://node/1"),
		"more than id": naming(uriOf(1) + "?x"),
		"other host":   naming("modelgateway://nodes/" + string(nodeID(1))),
	}
	asServer := map[string]func(*x509.Certificate){
		"client use only": func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} },
		"wrong host":      func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 2)} },
	}
	asClient := map[string]func(*x509.Certificate){
		"server use only": func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} },
	}
	config := func(t *testing.T, change func(*x509.Certificate)) *tls.Config {
		t.Helper()
		cert, err := tls.X509KeyPair(o.issue(t, change))
		if err != nil {
			t.Fatal(err)
		}
		return &tls.Config{
			MinVersion: tls.VersionTLS13, NextProtos: []string{string(link.Peer)}, Certificates: []tls.Certificate{cert},
			InsecureSkipVerify: true, // a hostile client verifies nothing
		}
	}
	server := func(t *testing.T, change func(*x509.Certificate)) {
		t.Helper()
		address := serve(t, func(conn net.Conn) {
			if err := tls.Server(conn, config(t, change)).HandshakeContext(t.Context()); err == nil {
				t.Error("the client did not mind")
			}
		})
		_, err := bind(t, link.Config{Identity: identity}).Dial(t.Context(), address, link.Peer)
		wantFault(t, err, "certificate_unknown", address)
	}
	client := func(t *testing.T, change func(*x509.Certificate)) {
		t.Helper()
		l := start(t, link.Config{Identity: identity})
		conn := connect(t, l.Address())
		if _, err := tls.Client(conn, config(t, change)).Read(make([]byte, 1)); err == nil {
			t.Error("it was greeted")
		}
		awaitClose(conn)
		if got := l.Refused(); len(got) != 1 || got[link.ReasonBadCert] != 1 {
			t.Errorf("counted %v", got)
		}
	}
	for name, change := range always {
		t.Run(name, func(t *testing.T) {
			server(t, change)
			client(t, change)
		})
	}
	for name, change := range asServer {
		t.Run(name, func(t *testing.T) { server(t, change) })
	}
	for name, change := range asClient {
		t.Run(name, func(t *testing.T) { client(t, change) })
	}
}

// TestBadFiles refuses at the start what other nodes would refuse later, and names
// the file and the remedy, but nothing of a key.
func TestBadFiles(t *testing.T) {
	o := newOperator(t)
	cert, key := o.issue(t, nil)
	_, otherKey := o.issue(t, nil)
	stranger, strangerKey := newOperator(t).issue(t, nil)
	with := func(change func(*x509.Certificate)) [3][]byte {
		cert, key := o.issue(t, change)
		return [3][]byte{o.pem, cert, key}
	}
	for name, c := range map[string]struct {
		content    [3][]byte // of CA, Cert and Key; nil: no file
		file, says string
	}{
		"no CA":       {[3][]byte{nil, cert, key}, "ca.pem", "it is not there"},
		"no cert":     {[3][]byte{o.pem, nil, key}, "cert.pem", "it is not there"},
		"no key":      {[3][]byte{o.pem, cert, nil}, "key.pem", "it is not there"},
		"empty CA":    {[3][]byte{{}, cert, key}, "ca.pem", "no certificate in PEM"},
		"key as CA":   {[3][]byte{key, cert, key}, "ca.pem", "no certificate in PEM"},
		"key as cert": {[3][]byte{o.pem, key, key}, "cert.pem", "not a certificate in PEM"},
		"other key":   {[3][]byte{o.pem, cert, otherKey}, "cert.pem", "whose key is in"},
		"cert as key": {[3][]byte{o.pem, cert, cert}, "cert.pem", "whose key is in"},
		"stranger":    {[3][]byte{o.pem, stranger, strangerKey}, "cert.pem", "not issued by an authority in"},
		"expired":     {with(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), "cert.pem", "it has expired"},
		"one use": {with(func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		}), "cert.pem", "for both uses"},
		"other node": {with(naming(uriOf(2))), "cert.pem", "but this is node " + string(nodeID(1))},
		"two nodes":  {with(naming(uriOf(1), uriOf(2))), "cert.pem", "other nodes would refuse it"},
	} {
		t.Run(name, func(t *testing.T) {
			files := disk(t, c.content[0], c.content[1], c.content[2])
			for i, path := range []string{files.CA, files.Cert, files.Key} {
				if c.content[i] == nil {
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
				}
			}
			_, err := link.FromFiles(files, nodeID(1))
			wantFault(t, err, "cluster_certificate", c.says)
			wantFault(t, err, "cluster_certificate", c.file)
			for _, secret := range [][]byte{c.content[2], []byte(ourSecret)} {
				for line := range strings.Lines(string(secret)) {
					if text := strings.TrimSpace(line); text != "" && strings.Contains(err.Error(), text) {
						t.Errorf("shows %q", text)
					}
				}
			}
		})
	}
}

// TestCertificateOfAnotherHost refuses to start where no other node could connect.
func TestCertificateOfAnotherHost(t *testing.T) {
	identity, _ := issued(t, newOperator(t), 1, nil)
	_, err := link.New(t.Context(), link.Config{Identity: identity, Listen: "127.0.0.1:0", Advertise: "a.example"})
	wantFault(t, err, "cluster_address", `not valid for "a.example"`)
}

// TestCertificateOfAName is valid for the name, and not for the address that it
// stands for.
func TestCertificateOfAName(t *testing.T) {
	o := newOperator(t)
	named, _ := issued(t, o, 1, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"localhost"} })
	other, _ := issued(t, o, 2, nil)
	a := start(t, link.Config{Identity: named, Listen: "127.0.0.1:0", Advertise: "localhost"})
	b := bind(t, link.Config{Identity: other})
	mustDial(t, b, a.Address(), link.Peer)
	address := a.Listener(link.Peer).Addr().String()
	_, err := b.Dial(t.Context(), address, link.Peer)
	wantFault(t, err, "certificate_unknown", address)
}

// serialOf connects and returns which certificate the other side has.
func serialOf(t *testing.T, from, to *link.Link) string {
	t.Helper()
	conn := mustDial(t, from, to.Address(), link.Peer)
	return conn.(*link.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// serial is the serial number of a certificate in PEM.
func serial(t *testing.T, cert []byte) string {
	t.Helper()
	block, _ := pem.Decode(cert)
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.SerialNumber.String()
}

// TestRotation exchanges a node's certificate and then the authority while the
// links run. At each step both connect to each other, and connections stay.
func TestRotation(t *testing.T) {
	before, after := newOperator(t), newOperator(t)
	one, filesOfOne := issued(t, before, 1, nil)
	two, filesOfTwo := issued(t, before, 2, nil)
	logged := make(lines, 100)
	a := start(t, link.Config{Identity: one})
	b := start(t, link.Config{Identity: two, Logger: slog.New(logged)})
	echo(t, b, link.Raft)
	stays := mustDial(t, a, b.Address(), link.Raft)

	// A new certificate, and for a while with the key of the old one.
	first := serialOf(t, a, b)
	cert, key := before.issue(t, nil)
	put(t, filesOfTwo.Cert, cert)
	if got := serialOf(t, a, b); got != first {
		t.Error("a certificate without its key is in use")
	}
	if line := <-logged; line["reason"] != string(link.ReasonCertificates) || !strings.Contains(line["error"], filesOfTwo.Cert) {
		t.Errorf("logged %v", line)
	}
	if got := b.Refused()[link.ReasonCertificates]; got == 0 {
		t.Error("not counted")
	}
	put(t, filesOfTwo.Key, key)
	if got := serialOf(t, a, b); got != serial(t, cert) {
		t.Error("the new certificate is not in use")
	}

	// A file that is not there for a moment.
	if err := os.Remove(filesOfTwo.Cert); err != nil {
		t.Fatal(err)
	}
	if got := serialOf(t, a, b); got != serial(t, cert) {
		t.Error("the certificate that was in use is not any more")
	}
	put(t, filesOfTwo.Cert, cert)

	// Both authorities everywhere, then certificates of the new one, then it alone.
	for _, files := range []link.Files{filesOfOne, filesOfTwo} {
		put(t, files.CA, append(append([]byte{}, before.pem...), after.pem...))
		serialOf(t, a, b)
		serialOf(t, b, a)
	}
	for _, files := range []link.Files{filesOfOne, filesOfTwo} {
		cert, key = after.issue(t, nil)
		put(t, files.Key, key)
		put(t, files.Cert, cert)
		serialOf(t, a, b)
		serialOf(t, b, a)
	}
	for _, files := range []link.Files{filesOfOne, filesOfTwo} {
		put(t, files.CA, after.pem)
		serialOf(t, a, b)
		serialOf(t, b, a)
	}

	// Who still has the old one is out.
	late, _ := issued(t, before, 3, nil)
	c := bind(t, link.Config{Identity: late})
	_, err := c.Dial(t.Context(), a.Address(), link.Peer)
	wantFault(t, err, "certificate_unknown", a.Address())
	if got := ask(t, stays, "x", 2); got != " x" {
		t.Errorf("the connection of before says %q", got)
	}
}
