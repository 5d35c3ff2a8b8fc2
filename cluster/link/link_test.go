package link_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/e2e/porttest"
)

const (
	ourSecret   = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	theirSecret = "f0e1d2c3b4a5968778695a4b3c2d1e0f"
)

// nodeID is the id of the n-th node.
func nodeID(n int) id.Node { return id.Node(fmt.Sprintf("%032x", n)) }

// member is the identity of a node of our cluster.
func member(t *testing.T, n int) *link.Identity {
	t.Helper()
	return identity(t, ourSecret, n)
}

func identity(t *testing.T, secret string, n int) *link.Identity {
	t.Helper()
	i, err := link.FromSecret(vault.NewSecret(secret), nodeID(n))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// bind makes a link that accepts nothing yet. It is closed at the end.
func bind(t *testing.T, cfg link.Config) *link.Link {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	if cfg.HandshakeTimeout == 0 {
		cfg.HandshakeTimeout = time.Minute // no test depends on how busy the machine is
	}
	l, err := link.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// run lets a link accept. stop ends that, and returns when it has ended.
func run(t *testing.T, l *link.Link) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// start makes a link that accepts.
func start(t *testing.T, cfg link.Config) *link.Link {
	t.Helper()
	l := bind(t, cfg)
	run(t, l)
	return l
}

// echo sends back what comes on connections of a protocol, behind the number of
// the node that it came from.
func echo(t *testing.T, l *link.Link, p link.Protocol) {
	t.Helper()
	var all sync.WaitGroup
	ln := l.Listener(p)
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				return
			}
			all.Go(func() {
				defer func() { _ = conn.Close() }()
				who, _ := link.PeerOf(conn)
				b := make([]byte, 64)
				for {
					n, err := conn.Read(b)
					if err != nil {
						return
					}
					if _, err := fmt.Fprintf(conn, "%s %s", who, b[:n]); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { _ = ln.Close(); all.Wait() })
}

// ask says something on a connection and returns the echo.
func ask(t *testing.T, conn net.Conn, question string, length int) string {
	t.Helper()
	if _, err := io.WriteString(conn, question); err != nil {
		t.Error(err)
	}
	answer := make([]byte, length)
	if _, err := io.ReadFull(conn, answer); err != nil {
		t.Error(err)
	}
	return string(answer)
}

// mustDial connects, until the end of the test.
func mustDial(t *testing.T, l *link.Link, address string, p link.Protocol) net.Conn {
	t.Helper()
	conn, err := l.Dial(t.Context(), address, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// wantFault checks what an operator or a caller is told.
func wantFault(t *testing.T, err error, code, says string) {
	t.Helper()
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatalf("got %v, want a fault %s", err, code)
	}
	if e.Code != code || !strings.Contains(e.Detail, says) {
		t.Errorf("got code %q: %s (%v)\nwant %q: …%s…", e.Code, e.Detail, e.Err, code, says)
	}
}

// lines is a log handler that hands out its lines.
type lines chan map[string]string

func (lines) Enabled(context.Context, slog.Level) bool { return true }
func (l lines) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l lines) WithGroup(string) slog.Handler          { return l }

func (l lines) Handle(_ context.Context, r slog.Record) error {
	line := map[string]string{"msg": r.Message}
	r.Attrs(func(a slog.Attr) bool {
		line[a.Key] = a.Value.String()
		return true
	})
	l <- line
	return nil
}

// TestEveryProtocol lets two nodes talk to each other on all protocols and by
// packets, at once, over one port each. Both ends know who the other is.
func TestEveryProtocol(t *testing.T) {
	a, b := start(t, link.Config{Identity: member(t, 1)}), start(t, link.Config{Identity: member(t, 2)})
	var all sync.WaitGroup
	for _, p := range []link.Protocol{link.Raft, link.Gossip, link.Peer} {
		echo(t, a, p)
		echo(t, b, p)
		for from, to := range map[*link.Link]*link.Link{a: b, b: a} {
			me, other := nodeID(1), nodeID(2)
			if from == b {
				me, other = other, me
			}
			all.Go(func() {
				conn, err := from.DialNode(t.Context(), to.Address(), other, p)
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = conn.Close() }()
				if who, ok := link.PeerOf(conn); who != other || !ok {
					t.Errorf("connected to %q, %v", who, ok)
				}
				for i := range 20 {
					question := fmt.Sprintf("%02d %s", i, p)
					want := string(me) + " " + question
					if got := ask(t, conn, question, len(want)); got != want {
						t.Errorf("got %q, want %q", got, want)
					}
				}
			})
		}
	}
	for from, to := range map[*link.Link]*link.Link{a: b, b: a} {
		all.Go(func() {
			if err := from.WritePacket([]byte("to "+to.Address()), to.Address()); err != nil {
				t.Error(err)
			}
			buf := make([]byte, 100)
			n, addr, err := from.ReadPacket(buf)
			if err != nil {
				t.Error(err)
				return
			}
			if string(buf[:n]) != "to "+from.Address() || addr.String() != to.Address() {
				t.Errorf("%s got %q of %s", from.Address(), buf[:n], addr)
			}
		})
	}
	all.Wait()
	if n := len(a.Refused()) + len(b.Refused()); n != 0 {
		t.Errorf("refused: %v and %v", a.Refused(), b.Refused())
	}
}

// TestLargeStream sends more than what is read of somebody unknown, both ways.
func TestLargeStream(t *testing.T) {
	a, b := start(t, link.Config{Identity: member(t, 1)}), start(t, link.Config{Identity: member(t, 2)})
	conn := mustDial(t, a, b.Address(), link.Raft)
	accepted, err := b.Listener(link.Raft).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = accepted.Close() }()
	const size = 10 * link.MaxUnverified
	for _, way := range [][2]net.Conn{{conn, accepted}, {accepted, conn}} {
		sent := make(chan error, 1)
		go func() {
			_, err := way[0].Write(make([]byte, size))
			sent <- err
		}()
		n, err := io.CopyN(io.Discard, way[1], size)
		if err := errors.Join(err, <-sent); n != size || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
}

// TestAnotherNode connects to an address at which another node is than was
// expected, as after a disk was replaced.
func TestAnotherNode(t *testing.T) {
	a, b := start(t, link.Config{Identity: member(t, 1)}), start(t, link.Config{Identity: member(t, 2)})
	_, err := a.DialNode(t.Context(), b.Address(), nodeID(3), link.Raft)
	wantFault(t, err, "wrong_node", fmt.Sprintf("is node %s, not %s", nodeID(2), nodeID(3)))
	conn, err := a.DialNode(t.Context(), b.Address(), nodeID(2), link.Raft)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

// TestNobodyThere connects to where nothing listens.
func TestNobodyThere(t *testing.T) {
	serveNames(t, nil)
	a := bind(t, link.Config{Identity: member(t, 1)})
	for _, address := range []string{porttest.Free(t).String(), "127.0.0.1", "127.0.0.1:x", "no-such-name.invalid:1"} {
		_, err := a.Dial(t.Context(), address, link.Peer)
		wantFault(t, err, "node_unreachable", address)
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestClosedListener refuses connections of a protocol that nobody takes, and of no
// other; who had not been accepted is let down.
func TestClosedListener(t *testing.T) {
	a, b := start(t, link.Config{Identity: member(t, 1)}), start(t, link.Config{Identity: member(t, 2)})
	waiting := mustDial(t, a, b.Address(), link.Raft)
	ln := b.Listener(link.Raft)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := waiting.Read(make([]byte, 1)); err == nil {
		t.Error("the connection that waited is still there")
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept: %v", err)
	}
	before := b.Refused()[link.ReasonBusy] // 1 if the first had been greeted, but was not in the queue yet
	_, err := a.Dial(t.Context(), b.Address(), link.Raft)
	wantFault(t, err, "node_unreachable", b.Address())
	if got := b.Refused()[link.ReasonBusy]; got != before+1 {
		t.Errorf("counted %v", b.Refused())
	}
	mustDial(t, a, b.Address(), link.Peer)
}

// TestBacklog refuses who comes when too many wait for Accept, before it is told
// that it is welcome.
func TestBacklog(t *testing.T) {
	a, b := start(t, link.Config{Identity: member(t, 1)}), start(t, link.Config{Identity: member(t, 2)})
	for range link.Backlog {
		mustDial(t, a, b.Address(), link.Raft)
	}
	_, err := a.Dial(t.Context(), b.Address(), link.Raft)
	wantFault(t, err, "node_unreachable", b.Address())
	conn, err := b.Listener(link.Raft).Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	mustDial(t, a, b.Address(), link.Raft) // there is room again
}

// TestRunEnds ends Run while connections are being verified and one is in use: the
// first are closed and not counted as refused, and the other stays.
func TestRunEnds(t *testing.T) {
	a := start(t, link.Config{Identity: member(t, 1)})
	b := bind(t, link.Config{Identity: member(t, 2)})
	stop := run(t, b)
	echo(t, b, link.Peer)
	conn := mustDial(t, a, b.Address(), link.Peer)
	want := string(nodeID(1)) + " a"
	if got := ask(t, conn, "a", len(want)); got != want {
		t.Errorf("got %q", got)
	}
	silent := connect(t, b.Address())
	stop()
	awaitClose(silent)
	if got := ask(t, conn, "a", len(want)); got != want {
		t.Errorf("got %q", got)
	}
	if _, err := b.Listener(link.Raft).Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept: %v", err)
	}
	if len(b.Refused()) != 0 {
		t.Errorf("counted %v", b.Refused())
	}
	_, err := a.Dial(t.Context(), b.Address(), link.Peer)
	wantFault(t, err, "node_unreachable", b.Address())
}

// TestClose closes a link before, while and after it runs; all that waits for it is
// woken, and the port is free.
func TestClose(t *testing.T) {
	l := bind(t, link.Config{Identity: member(t, 1)})
	ended := make(chan error, 3)
	go func() { ended <- l.Run(context.WithoutCancel(t.Context())) }()
	go func() {
		_, err := l.Listener(link.Raft).Accept()
		ended <- err
	}()
	go func() {
		_, _, err := l.ReadPacket(make([]byte, 1))
		ended <- err
	}()
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		if err := <-ended; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
	if err := l.Run(t.Context()); err != nil {
		t.Error(err)
	}
	bind(t, link.Config{Identity: member(t, 1), Listen: l.Address()})
}

// TestPacketDeadline wakes who waits for a packet.
func TestPacketDeadline(t *testing.T) {
	l := bind(t, link.Config{Identity: member(t, 1)})
	ended := make(chan error, 1)
	go func() {
		_, _, err := l.ReadPacket(make([]byte, 1))
		ended <- err
	}()
	if err := l.SetPacketDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestUnknownProtocolPanics holds for a mistake in the program.
func TestUnknownProtocolPanics(t *testing.T) {
	l := bind(t, link.Config{Identity: member(t, 1)})
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	l.Listener("http/1.1")
}
