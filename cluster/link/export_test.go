package link

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"
)

// MaxUnverified is how much is read of who is not known.
const MaxUnverified = maxUnverified

// Backlog is how many connections wait for Accept.
const Backlog = backlog

// CertificateAt returns the certificate that a node whose clock shows now makes for
// itself. The identity is one of a secret.
func (i *Identity) CertificateAt(now time.Time) (tls.Certificate, error) {
	a, ok := i.source.(*authority)
	if !ok {
		return tls.Certificate{}, errors.New("an operator's certificate is in a file")
	}
	m, err := a.issue(now)
	if err != nil {
		return tls.Certificate{}, err
	}
	return m.cert, nil
}

// Nameless returns a certificate of the cluster's authority that names no node.
func (i *Identity) Nameless() (tls.Certificate, error) {
	a, ok := i.source.(*authority)
	if !ok {
		return tls.Certificate{}, errors.New("an operator's certificate is in a file")
	}
	template := *i.mu.current.cert.Leaf // nobody else has the identity
	template.URIs, template.SerialNumber = nil, nil
	m, err := a.sign(&template)
	if err != nil {
		return tls.Certificate{}, err
	}
	return m.cert, nil
}

// Refuse counts and logs a refusal as if a connection had come.
func (l *Link) Refuse(ctx context.Context, reason Reason, from net.Addr) {
	l.refusals.add(ctx, refusal{reason: reason, from: from, err: errors.New("a test wants it")})
}

// Socket returns the connection below TLS.
func (c *Conn) Socket() net.Conn { return c.bounded.Conn }
