package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"
)

// greeting is what the accepting side sends when it has verified the other one.
const greeting = 1

// accept verifies a connection that the gate has let in and hands it out, or
// refuses it.
func (l *Link) accept(ctx context.Context, raw *net.TCPConn, p *pass) {
	setUserTimeout(raw, deadAfter)
	conn, err := l.verify(ctx, raw)
	// Who is verified no longer counts, and nobody new can cut it off.
	if !l.gate.leave(p) {
		err = &refusal{reason: ReasonTooMany, err: errors.New("it made way for a newer one: too many connections are being verified")}
	}
	if err == nil {
		err = l.welcome(conn)
	}
	if err == nil {
		return
	}
	if ctx.Err() == nil { // or it is this node that stops
		l.refusals.add(ctx, refusal{reason: reasonOf(err, ""), from: raw.RemoteAddr(), err: err})
	}
	_ = raw.Close() // and not the TLS connection, which would wait until its farewell is written
}

// verify does the accepting side of the handshake.
func (l *Link) verify(ctx context.Context, raw net.Conn) (*Conn, error) {
	m, err := l.cfg.Identity.material()
	if err != nil {
		l.refusals.add(ctx, refusal{reason: ReasonCertificates, err: err}) // goes on with the one it has
	}
	if err := raw.SetDeadline(time.Now().Add(l.cfg.HandshakeTimeout)); err != nil {
		return nil, err
	}
	var (
		hint  Reason
		named nodeName
	)
	bounded := &boundedConn{Conn: raw, left: maxUnverified}
	stream := tls.Server(bounded, &tls.Config{
		Certificates:           []tls.Certificate{m.cert},
		MinVersion:             tls.VersionTLS13,
		NextProtos:             protocolNames(),
		ClientAuth:             tls.RequestClientCert, // VerifyConnection requires it, so that the reason is known
		SessionTicketsDisabled: true,                  // every connection is verified anew
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			hint = helloReason(hello)
			return nil, nil //nolint:nilnil // the configuration as it is; TLS refuses with the right alert
		},
		VerifyConnection: func(cs tls.ConnectionState) (err error) {
			if cs.NegotiatedProtocol == "" {
				return &refusal{reason: ReasonProtocol, err: errors.New("the other side names no protocol")}
			}
			named, err = m.verifyClient(cs, time.Now())
			return err
		},
	})
	if err := stream.HandshakeContext(ctx); err != nil {
		return nil, classified(err, hint)
	}
	return newConn(stream, bounded, named), nil
}

// welcome tells the other side that it is in, and hands the connection out. The
// place is taken before that is said: who was greeted is not turned away for want
// of one.
func (l *Link) welcome(conn *Conn) error {
	p := Protocol(conn.ConnectionState().NegotiatedProtocol)
	ln := l.listeners[p]
	busy := &refusal{reason: ReasonBusy, err: fmt.Errorf("nobody takes connections of %s", p)}
	if !ln.reserve() {
		return busy
	}
	if _, err := conn.Write([]byte{greeting}); err != nil {
		ln.release()
		return err
	}
	conn.trust()
	if !ln.hand(conn) {
		return busy
	}
	return nil
}

// helloReason returns what is wrong with how a handshake begins.
func helloReason(hello *tls.ClientHelloInfo) Reason {
	if !slices.Contains(hello.SupportedVersions, tls.VersionTLS13) {
		return ReasonOldTLS
	}
	for _, p := range hello.SupportedProtos {
		if slices.Contains(protocolNames(), p) {
			return ""
		}
	}
	return ReasonProtocol
}

func protocolNames() []string {
	var out []string
	for _, p := range protocols() {
		out = append(out, string(p))
	}
	return out
}

// greet does the dialling side of the handshake, and waits until the other side
// has verified this one. host is what was dialled.
func (l *Link) greet(ctx context.Context, raw net.Conn, host string, p Protocol) (*Conn, error) {
	m, err := l.cfg.Identity.material()
	if err != nil {
		l.refusals.add(ctx, refusal{reason: ReasonCertificates, err: err}) // goes on with the one it has
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(l.cfg.HandshakeTimeout)
	}
	if err := raw.SetDeadline(deadline); err != nil {
		return nil, err
	}
	// A read has no context; this ends it.
	stop := context.AfterFunc(ctx, func() {
		_ = raw.SetDeadline(time.Unix(1, 0)) // fails only if it is closed
	})
	defer stop()
	var named nodeName
	bounded := &boundedConn{Conn: raw, left: maxUnverified}
	stream := tls.Client(bounded, &tls.Config{
		Certificates:       []tls.Certificate{m.cert},
		MinVersion:         tls.VersionTLS13,
		NextProtos:         []string{string(p)},
		ServerName:         m.serverName(host),
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection verifies: a node's certificate names a node and no host
		VerifyConnection: func(cs tls.ConnectionState) (err error) {
			if cs.NegotiatedProtocol != string(p) {
				return &refusal{reason: ReasonProtocol, err: fmt.Errorf("the other side does not speak %s", p)}
			}
			named, err = m.verifyServer(cs, host, time.Now())
			return err
		},
	})
	if err := stream.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	var first [1]byte
	if _, err := io.ReadFull(stream, first[:]); err != nil {
		return nil, err
	}
	if first[0] != greeting {
		return nil, &refusal{reason: ReasonProtocol, err: errors.New("the other side greets in a way that is not known here")}
	}
	if !stop() {
		return nil, context.Cause(ctx) // the deadline may have been moved already
	}
	conn := newConn(stream, bounded, named)
	conn.trust()
	return conn, nil
}
