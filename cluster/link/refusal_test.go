package link_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/link"
)

// connect opens a connection that says nothing, until the end of the test.
func connect(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// awaitClose reads until the other side has closed.
func awaitClose(conn net.Conn) {
	_, _ = io.Copy(io.Discard, conn) // a reset is as good as an end
}

// clientConfig is what a node of ours connects with, as far as TLS goes.
func clientConfig(t *testing.T, secret string, now time.Time) *tls.Config {
	t.Helper()
	cert, err := identity(t, secret, 7).CertificateAt(now)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{string(link.Peer)},
		Certificates:       []tls.Certificate{cert},
		InsecureSkipVerify: true, // a hostile client verifies nothing
	}
}

// TestRefusals connects in every way in which no node does. Each is closed and
// counted for what it is, and nodes still get in.
func TestRefusals(t *testing.T) {
	type client = func(t *testing.T, conn net.Conn)
	// with is a client that is a node of ours but for one thing.
	with := func(change func(t *testing.T, c *tls.Config)) client {
		return func(t *testing.T, conn net.Conn) {
			t.Helper()
			cfg := clientConfig(t, ourSecret, time.Now())
			change(t, cfg)
			stream := tls.Client(conn, cfg)
			if stream.HandshakeContext(t.Context()) == nil { // or refused already
				_, _ = stream.Read(make([]byte, 1))
			}
		}
	}
	says := func(what []byte) client {
		return func(_ *testing.T, conn net.Conn) {
			_, _ = conn.Write(what) // whoever refuses need not read it all
		}
	}
	at := func(skew time.Duration) client {
		return with(func(t *testing.T, c *tls.Config) {
			t.Helper()
			*c = *clientConfig(t, ourSecret, time.Now().Add(skew))
		})
	}
	for name, c := range map[string]struct {
		client client
		want   link.Reason
	}{
		"HTTP":             {says([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")), link.ReasonNotTLS},
		"HTTP/2":           {says([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")), link.ReasonNotTLS},
		"a frame of 1 GiB": {says(append([]byte{0x40, 0, 0, 0}, make([]byte, 1<<20)...)), link.ReasonNotTLS},
		"a TLS record that is too long": {
			says(append([]byte{22, 3, 1, 0xff, 0xff}, make([]byte, 1<<16)...)), link.ReasonNotTLS,
		},
		"a hello of 16 MiB": {
			says(append([]byte{22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff}, make([]byte, 1<<14)...)), link.ReasonHandshake,
		},
		"an alert":        {says([]byte{21, 3, 1, 0, 2, 2, 40}), link.ReasonHandshake},
		"a wrong message": {says([]byte{22, 3, 1, 0, 4, 20, 0, 0, 0}), link.ReasonHandshake},
		"nothing":         {func(_ *testing.T, conn net.Conn) { _ = conn.(*net.TCPConn).CloseWrite() }, link.ReasonGone},
		"half a hello": {func(_ *testing.T, conn net.Conn) {
			_, _ = conn.Write([]byte{22, 3, 1, 1, 0, 1})
			_ = conn.(*net.TCPConn).CloseWrite()
		}, link.ReasonGone},
		"TLS 1.2":        {with(func(_ *testing.T, c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), link.ReasonOldTLS},
		"no ALPN":        {with(func(_ *testing.T, c *tls.Config) { c.NextProtos = nil }), link.ReasonProtocol},
		"other ALPN":     {with(func(_ *testing.T, c *tls.Config) { c.NextProtos = []string{"h2", "http/1.1"} }), link.ReasonProtocol},
		"no certificate": {with(func(_ *testing.T, c *tls.Config) { c.Certificates = nil }), link.ReasonNoCert},
		"another cluster": {with(func(t *testing.T, c *tls.Config) {
			t.Helper()
			*c = *clientConfig(t, theirSecret, time.Now())
		}), link.ReasonStranger},
		"a certificate of the past":   {at(-73 * time.Hour), link.ReasonBadCert},
		"a certificate of the future": {at(25 * time.Hour), link.ReasonBadCert},
		"a certificate without a name": {with(func(t *testing.T, c *tls.Config) {
			t.Helper()
			var err error
			if c.Certificates[0], err = member(t, 7).Nameless(); err != nil {
				t.Fatal(err)
			}
		}), link.ReasonBadCert},
		"a certificate without its key": {with(func(t *testing.T, c *tls.Config) {
			t.Helper()
			c.Certificates[0].PrivateKey = clientConfig(t, ourSecret, time.Now()).Certificates[0].PrivateKey
		}), link.ReasonHandshake},
		"a client that trusts nobody": {with(func(_ *testing.T, c *tls.Config) {
			c.VerifyConnection = func(tls.ConnectionState) error { return errors.New("no") }
		}), link.ReasonRejected},
		"a chain without end": {with(func(_ *testing.T, c *tls.Config) {
			junk := make([]byte, 1<<14)
			_, _ = rand.Read(junk) // never fails
			for range 10 {
				c.Certificates[0].Certificate = append(c.Certificates[0].Certificate, junk)
			}
		}), link.ReasonTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			logged := make(lines, 1)
			l := start(t, link.Config{Identity: member(t, 1), Logger: slog.New(logged)})
			conn := connect(t, l.Address())
			c.client(t, conn)
			awaitClose(conn)
			if got := l.Refused(); len(got) != 1 || got[c.want] != 1 {
				t.Errorf("counted %v, want 1 %s", got, c.want)
			}
			line := <-logged
			if line["reason"] != string(c.want) || line["from"] != conn.LocalAddr().String() || len(line["error"]) > 300 {
				t.Errorf("logged %v", line)
			}
			mustDial(t, l, l.Address(), link.Peer)
		})
	}
}

// TestSkewedClocks lets nodes in whose clocks are a day off.
func TestSkewedClocks(t *testing.T) {
	l := start(t, link.Config{Identity: member(t, 1)})
	// The first is in the last hour of its certificate, made when it was two days old
	// by a clock that was right.
	for _, skew := range []time.Duration{-71 * time.Hour, -23 * time.Hour, 23 * time.Hour} {
		stream := tls.Client(connect(t, l.Address()), clientConfig(t, ourSecret, time.Now().Add(skew)))
		if _, err := stream.Read(make([]byte, 1)); err != nil {
			t.Errorf("%s: %v", skew, err)
		}
	}
}

// TestSilentConnections are closed when their time is over.
func TestSilentConnections(t *testing.T) {
	l := start(t, link.Config{Identity: member(t, 1), HandshakeTimeout: 20 * time.Millisecond})
	conn := connect(t, l.Address())
	awaitClose(conn)
	if got := l.Refused(); got[link.ReasonTimeout] != 1 {
		t.Errorf("counted %v", got)
	}
}

// TestNewerOnesGetIn fills all places with connections that say nothing: nodes get
// in nevertheless, in place of the oldest.
func TestNewerOnesGetIn(t *testing.T) {
	logged := make(lines, 100)
	a := start(t, link.Config{Identity: member(t, 1)})
	b := start(t, link.Config{Identity: member(t, 2), MaxHandshakes: 8, Logger: slog.New(logged)})
	first, second := connect(t, b.Address()), connect(t, b.Address())
	mustDial(t, a, b.Address(), link.Peer)
	awaitClose(first) // a quarter of 8 is 2
	if line := <-logged; line["reason"] != string(link.ReasonTooMany) {
		t.Errorf("logged %v", line)
	}
	connect(t, b.Address())
	connect(t, b.Address())
	awaitClose(second)
}

// TestFlood sends a thousand connections with junk, and leaves in the middle of
// some: each is closed and counted, nodes get in all the time, and no goroutine is
// left.
func TestFlood(t *testing.T) {
	a, b := start(t, link.Config{Identity: member(t, 1)}), start(t, link.Config{Identity: member(t, 2)})
	const connections, workers = 1000, 20
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range connections / workers {
				conn := connect(t, b.Address())
				junk := []byte(strings.Repeat("GET / HTTP/1.1\r\n", 100))
				switch (w + i) % 4 {
				case 0:
					junk = append([]byte{22, 3, 1, 1, 0}, junk[:256]...)
				case 1:
					junk = append([]byte{22, 3, 1, 0, 200}, junk[:100]...)
				case 2:
					junk = nil
				}
				_, _ = conn.Write(junk)
				_ = conn.(*net.TCPConn).CloseWrite() // may be closed already
				awaitClose(conn)
				_ = conn.Close()
			}
		})
	}
	for range 20 {
		conn, err := a.Dial(t.Context(), b.Address(), link.Peer)
		if err != nil {
			t.Error(err)
			continue
		}
		accepted, err := b.Listener(link.Peer).Accept()
		if err != nil {
			t.Error(err)
			break
		}
		_, _ = conn.Close(), accepted.Close()
	}
	all.Wait()
	counted := uint64(0)
	for _, n := range b.Refused() {
		counted += n
	}
	if counted != connections {
		t.Errorf("counted %v", b.Refused())
	}
}

// TestLogIsNotFlooded logs a reason once a second, with how often it was.
func TestLogIsNotFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logged := make(lines, 1000)
		l := bind(t, link.Config{Identity: member(t, 1), Logger: slog.New(logged)})
		from := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 7}
		want := func(reason link.Reason, soFar string) {
			t.Helper()
			select {
			case line := <-logged:
				if line["reason"] != string(reason) || line["refused_so_far"] != soFar || line["from"] != "10.0.0.1:7" {
					t.Errorf("logged %v", line)
				}
			default:
				t.Errorf("no line for %s", reason)
			}
		}
		for range 100 {
			l.Refuse(t.Context(), link.ReasonStranger, from)
			l.Refuse(t.Context(), link.ReasonNotTLS, from)
		}
		want(link.ReasonStranger, "1")
		want(link.ReasonNotTLS, "1")
		<-time.After(time.Second - 1)
		l.Refuse(t.Context(), link.ReasonStranger, from)
		<-time.After(1)
		l.Refuse(t.Context(), link.ReasonStranger, from)
		want(link.ReasonStranger, "102")
		if len(logged) != 0 {
			t.Errorf("logged %v", <-logged)
		}
	})
}

// TestHostileServers connects to what is not a node, and says so.
func TestHostileServers(t *testing.T) {
	ours := func(t *testing.T) *tls.Config {
		t.Helper()
		cfg := clientConfig(t, ourSecret, time.Now())
		cfg.ClientAuth = tls.RequireAnyClientCert
		return cfg
	}
	over := func(change func(t *testing.T, c *tls.Config), then func(*tls.Conn)) func(*testing.T, net.Conn) {
		return func(t *testing.T, conn net.Conn) {
			t.Helper()
			cfg := ours(t)
			change(t, cfg)
			stream := tls.Server(conn, cfg)
			if stream.HandshakeContext(t.Context()) == nil {
				then(stream)
			}
		}
	}
	same := func(*testing.T, *tls.Config) {}
	nothing := func(*tls.Conn) {}
	for name, c := range map[string]struct {
		server func(*testing.T, net.Conn)
		code   string
	}{
		"HTTP": {func(_ *testing.T, conn net.Conn) {
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		}, "protocol_unknown"},
		"TLS 1.2":    {over(func(_ *testing.T, c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, nothing), "protocol_unknown"},
		"no ALPN":    {over(func(_ *testing.T, c *tls.Config) { c.NextProtos = nil }, nothing), "protocol_unknown"},
		"other ALPN": {over(func(_ *testing.T, c *tls.Config) { c.NextProtos = []string{"modelgateway-peer/2"} }, nothing), "protocol_unknown"},
		"other greeting": {over(same, func(conn *tls.Conn) {
			_, _ = conn.Write([]byte{2})
		}), "protocol_unknown"},
		"no greeting": {over(same, nothing), "node_unreachable"},
		"another cluster": {over(func(t *testing.T, c *tls.Config) {
			t.Helper()
			*c = *clientConfig(t, theirSecret, time.Now())
		}, nothing), "certificate_unknown"},
		"a certificate of the past": {over(func(t *testing.T, c *tls.Config) {
			t.Helper()
			*c = *clientConfig(t, ourSecret, time.Now().Add(-73*time.Hour))
		}, nothing), "certificate_unknown"},
		"a server that trusts nobody": {over(func(_ *testing.T, c *tls.Config) {
			c.VerifyConnection = func(tls.ConnectionState) error { return errors.New("no") }
		}, nothing), "certificate_refused"},
		"a chain without end": {over(func(_ *testing.T, c *tls.Config) {
			for range 10 {
				c.Certificates[0].Certificate = append(c.Certificates[0].Certificate, make([]byte, 1<<14))
			}
		}, nothing), "node_unreachable"},
		"a flood instead of a greeting": {func(_ *testing.T, conn net.Conn) {
			_, _ = conn.Write(bytes.Repeat([]byte{22, 3, 3, 0, 1, 1}, 1<<20))
		}, "node_unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			address := serve(t, func(conn net.Conn) { c.server(t, conn) })
			a := bind(t, link.Config{Identity: member(t, 1)})
			conn, err := a.Dial(t.Context(), address, link.Peer)
			if err == nil {
				_ = conn.Close()
			}
			wantFault(t, err, c.code, address)
			if text := err.Error(); strings.Contains(text, ourSecret) || strings.Contains(text, theirSecret) {
				t.Error("the error shows a secret")
			}
		})
	}
}

// serve accepts one connection, closes it when do is done, and the rest at the end
// of the test.
func serve(t *testing.T, do func(net.Conn)) (address string) {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := ln.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		do(conn)
		_ = conn.Close() // the other side may have been faster
	}()
	t.Cleanup(func() { _ = ln.Close(); <-ended })
	return ln.Addr().String()
}

// TestDialIsInterrupted gives up on who does not answer, and on who does not greet,
// when the caller does.
func TestDialIsInterrupted(t *testing.T) {
	for name, handshake := range map[string]bool{"silent": false, "no greeting": true} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			address := serve(t, func(conn net.Conn) {
				if handshake {
					if err := tls.Server(conn, clientConfig(t, ourSecret, time.Now())).HandshakeContext(t.Context()); err != nil {
						t.Error(err)
					}
				}
				cancel()
				awaitClose(conn)
			})
			a := bind(t, link.Config{Identity: member(t, 1)})
			_, err := a.Dial(ctx, address, link.Peer)
			wantFault(t, err, "node_unreachable", address)
		})
	}
}
