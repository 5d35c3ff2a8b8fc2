package link

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Files are the PEM certificate files of the operator.
type Files struct {
	// CA has the trusted authority, or the old and the new one during a rotation.
	CA string
	// Cert is this node's certificate, followed by intermediate ones: for server and client
	// use, and for the advertised host. The URI modelgateway://node/<id> may name the node, and
	// is then checked.
	Cert string
	// Key is the private key of Cert.
	Key string
	// GossipKey is a secret of at least 32 characters, the same on all nodes.
	GossipKey vault.Secret
}

// FromFiles returns the identity of a node from the operator's certificates. Changed files are
// read again at the next handshake. While they are unusable or incomplete, the previous ones
// stay in use, and the link logs the cause.
func FromFiles(files Files, node id.Node) (*Identity, error) {
	if !isNode(string(node)) {
		return nil, fmt.Errorf("link: %q is not a node's id", node)
	}
	if problem := weakness(files.GossipKey.Reveal()); problem != "" {
		e := fault.New(fault.Malformed, "cluster_secret", "The gossip's key %s. Make one with `openssl rand -hex 32` and give the same to every node.", problem)
		e.Op = "link.secret"
		return nil, e
	}
	gossip, err := gossipKey(files.GossipKey)
	if err != nil {
		return nil, err
	}
	d := &diskSource{files: files, node: node}
	first, err := d.renew(nil)
	if err != nil {
		return nil, err
	}
	return newIdentity(node, gossip, d, first), nil
}

// diskSource reads certificates again when their files change.
type diskSource struct {
	files Files
	node  id.Node
	read  []os.FileInfo // file infos at the last read
}

// renew implements source. It compares the file infos before it reads. A change in between is
// noticed at the next handshake.
func (d *diskSource) renew(current *material) (*material, error) {
	var infos []os.FileInfo
	for _, path := range []string{d.files.CA, d.files.Cert, d.files.Key} {
		info, err := os.Stat(path) // follows symbolic links, which is how mounted secrets change
		if err != nil {
			return current, badFile(path, fileRemedy(err), err)
		}
		infos = append(infos, info)
	}
	if current != nil && slices.EqualFunc(infos, d.read, sameFile) {
		return current, nil
	}
	next, err := d.load()
	if err != nil {
		return current, err // retried at the next handshake: the other file may still be missing
	}
	d.read = infos
	return next, nil
}

func sameFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// load reads the files and checks whether the other nodes would accept them. An error here is
// better than one on every other node.
func (d *diskSource) load() (*material, error) {
	authorities, err := os.ReadFile(d.files.CA)
	if err != nil {
		return nil, badFile(d.files.CA, fileRemedy(err), err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authorities) {
		return nil, badFile(d.files.CA, "it holds no certificate in PEM", nil)
	}
	chain, err := os.ReadFile(d.files.Cert)
	if err != nil {
		return nil, badFile(d.files.Cert, fileRemedy(err), err)
	}
	key, err := os.ReadFile(d.files.Key)
	if err != nil {
		return nil, badFile(d.files.Key, fileRemedy(err), err)
	}
	// Its errors name types of blocks and keys, but not their content.
	cert, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, badFile(d.files.Cert, fmt.Sprintf("it is not a certificate in PEM whose key is in %q", d.files.Key), err)
	}
	m := &material{cert: cert, roots: roots, hosts: true}
	if err := d.check(m); err != nil {
		return nil, err
	}
	return m, nil
}

// check returns an error if the other nodes would reject the certificate.
func (d *diskSource) check(m *material) error {
	cs := tls.ConnectionState{}
	for _, der := range m.cert.Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return badFile(d.files.Cert, "it holds a damaged certificate", err)
		}
		cs.PeerCertificates = append(cs.PeerCertificates, c)
	}
	m.cert.Leaf = cs.PeerCertificates[0]
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		named, err := m.verify(cs, usage, time.Now())
		_, isStranger := errors.AsType[x509.UnknownAuthorityError](err)
		invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
		switch {
		case err == nil:
		case isStranger:
			return badFile(d.files.Cert, fmt.Sprintf("it was not issued by an authority in %q", d.files.CA), err)
		case isInvalid && invalid.Reason == x509.Expired:
			return badFile(d.files.Cert, "it has expired, or does not count yet; renew it, or set the machine's clock", err)
		case isInvalid && invalid.Reason == x509.IncompatibleUsage:
			return badFile(d.files.Cert, "it must be issued for both uses, TLS server and TLS client", err)
		default:
			return badFile(d.files.Cert, "other nodes would refuse it", err)
		}
		if named != "" && id.Node(named) != d.node {
			return badFile(d.files.Cert, fmt.Sprintf("it names node %s, but this is node %s; issue one with the URI %s, or without", named, d.node, nodeURI(d.node)), nil)
		}
	}
	return nil
}

// fileRemedy returns the remedy for a file that cannot be read.
func fileRemedy(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is not there; put it there or give the right path"
	case errors.Is(err, fs.ErrPermission):
		return "the gateway's user may not read it; allow that"
	}
	return "it cannot be read; see the cause in the log"
}

// badFile returns the error for an unusable file.
func badFile(path, remedy string, err error) *fault.Error {
	return &fault.Error{
		Op: "link.files", Kind: fault.Malformed, Code: "cluster_certificate",
		Detail: fmt.Sprintf("The file %q cannot be used for the connections between nodes: %s.", path, remedy),
		Err:    err,
	}
}
