package link

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// verifyClient returns the node that has connected, or an error.
func (m *material) verifyClient(cs tls.ConnectionState, now time.Time) (nodeName, error) {
	return m.verify(cs, x509.ExtKeyUsageClientAuth, now)
}

// verifyServer returns the node that was dialed, or an error.
func (m *material) verifyServer(cs tls.ConnectionState, host string, now time.Time) (nodeName, error) {
	named, err := m.verify(cs, x509.ExtKeyUsageServerAuth, now)
	if err != nil || !m.hosts {
		return named, err
	}
	if err := cs.PeerCertificates[0].VerifyHostname(host); err != nil {
		return "", &refusal{reason: ReasonBadCert, err: err}
	}
	return named, nil
}

// verify checks both sides: the certificate is of the authority, valid now and for this use,
// and names a node or, for an operator's certificate, none.
func (m *material) verify(cs tls.ConnectionState, usage x509.ExtKeyUsage, now time.Time) (nodeName, error) {
	if len(cs.PeerCertificates) == 0 {
		return "", &refusal{reason: ReasonNoCert, err: errors.New("the other side has no certificate")}
	}
	leaf := cs.PeerCertificates[0]
	options := x509.VerifyOptions{
		Roots: m.roots, Intermediates: x509.NewCertPool(), CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{usage},
	}
	for _, c := range cs.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	if _, err := leaf.Verify(options); err != nil {
		reason := ReasonBadCert
		if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
			reason = ReasonStranger
		}
		return "", &refusal{reason: reason, err: err}
	}
	named, err := nodeOf(leaf)
	if err == nil && named == "" && !m.hosts {
		err = errors.New("the certificate names no node")
	}
	if err != nil {
		return "", &refusal{reason: ReasonBadCert, err: err}
	}
	return named, nil
}

// nodeOf returns the node that a certificate names. It rejects a certificate with two nodes or
// an invalid one.
func nodeOf(leaf *x509.Certificate) (nodeName, error) {
	var found nodeName
	for _, uri := range leaf.URIs {
		if uri.Scheme != nodeScheme {
			continue
		}
		name := id.Node(strings.TrimPrefix(uri.Path, "/"))
		if !isNode(string(name)) || uri.String() != nodeURI(name).String() || found != "" {
			return "", errors.New("the certificate names an invalid node")
		}
		found = nodeName(name)
	}
	return found, nil
}

// isNode reports whether s has the form of a node's id: 32 hex digits.
func isNode(s string) bool {
	return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == ""
}
