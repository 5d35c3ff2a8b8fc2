package memlink_test

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/nettest"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/link/memlink"
)

const (
	here  = "10.0.0.1:7400"
	there = "10.0.0.2:7400"
)

// pair is two nodes of a network and a connection between them.
type pair struct {
	network    *memlink.Network
	here       *memlink.Link
	there      *memlink.Link
	near, afar net.Conn
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{network: memlink.New(1)}
	p.here, p.there = p.network.Node(here, "one"), p.network.Node(there, "two")
	p.near, p.afar = p.connect(t)
	return p
}

// connect makes one more connection.
func (p *pair) connect(t *testing.T) (near, afar net.Conn) {
	t.Helper()
	near, err := p.here.Dial(t.Context(), there, link.Raft)
	if err != nil {
		t.Fatal(err)
	}
	if afar, err = p.there.Listener(link.Raft).Accept(); err != nil {
		t.Fatal(err)
	}
	return near, afar
}

func (p *pair) say(t *testing.T, text string) {
	t.Helper()
	if _, err := p.near.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// heard reads until text has come, and returns how long that took.
func heard(t *testing.T, c net.Conn, text string) time.Duration {
	t.Helper()
	start := time.Now()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatal(err)
	}
	if string(got) != text {
		t.Fatalf("read %q, want %q", got, text)
	}
	return time.Since(start)
}

func TestConnectionsBehaveAsThoseOfTheNetPackage(t *testing.T) {
	nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
		p := newPair(t)
		return p.near, p.afar, func() {
			_, _ = p.near.Close(), p.afar.Close()
			_, _ = p.here.Close(), p.there.Close()
		}, nil
	})
}

func TestBothEndsKnowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		for _, c := range []struct {
			conn       net.Conn
			own, other string
			node       id.Node
		}{{p.near, here, there, "two"}, {p.afar, there, here, "one"}} {
			if c.conn.LocalAddr().String() != c.own || c.conn.RemoteAddr().String() != c.other {
				t.Errorf("addresses are %s and %s, want %s and %s", c.conn.LocalAddr(), c.conn.RemoteAddr(), c.own, c.other)
			}
			if node, ok := link.PeerOf(c.conn); !ok || node != c.node {
				t.Errorf("at the other end is %q %t, want %q", node, ok, c.node)
			}
		}
		nameless := p.network.Node("10.0.0.3:7400", "")
		conn, err := nameless.Dial(t.Context(), there, link.Peer)
		if err != nil {
			t.Fatal(err)
		}
		afar, err := p.there.Listener(link.Peer).Accept()
		if err != nil {
			t.Fatal(err)
		}
		if node, ok := link.PeerOf(afar); ok {
			t.Errorf("who has no name is %q", node)
		}
		_ = conn.Close()
	})
}

func TestOnlyTheNodeThatIsMeantIsConnectedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		if _, err := p.here.DialNode(t.Context(), there, "two", link.Gossip); err != nil {
			t.Error(err)
		}
		_, err := p.here.DialNode(t.Context(), there, "three", link.Gossip)
		if f := fault.From(err); f.Code != "wrong_node" {
			t.Errorf("another node: %v", err)
		}
		if _, err := p.here.Dial(t.Context(), "10.0.0.9:7400", link.Raft); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody there: %v", err)
		}
		if err := p.there.Listener(link.Gossip).Close(); err != nil {
			t.Error(err)
		}
		if _, err := p.here.Dial(t.Context(), there, link.Gossip); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody listens: %v", err)
		}
	})
}

func TestAFullStreamHoldsTheWriterUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		if err := p.near.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		sent, err := p.near.Write(make([]byte, 2<<20))
		if !errors.Is(err, os.ErrDeadlineExceeded) || sent == 0 || sent == 2<<20 {
			t.Fatalf("%d bytes went, %v", sent, err)
		}
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%v is no timeout", err)
		}
		if err := p.near.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(p.afar)
		if err != nil || len(got) != sent {
			t.Errorf("%d of %d bytes came, %v", len(got), sent, err)
		}
	})
}

func TestANewDeadlineWakesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		failed := make(chan error, 1)
		go func() {
			_, err := p.near.Read(make([]byte, 1))
			failed <- err
		}()
		synctest.Wait()
		if err := p.near.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRunEndsWithItsContextAndTakesTheListenersAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		ended := make(chan error, 3)
		go func() { ended <- p.there.Run(t.Context()) }()
		go func() {
			_, err := p.there.Listener(link.Peer).Accept()
			ended <- err
		}()
		go func() {
			_, _, err := p.there.ReadPacket(make([]byte, 1))
			ended <- err
		}()
		synctest.Wait()
		if err := p.there.Close(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := <-ended; err != nil && !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
		}
		p.say(t, "still there")
		heard(t, p.afar, "still there")
	})
}

// Somebody who writes and is told that nobody listens any more expects to read the
// end as well; gRPC tries again at once, and for ever, until it has.
func TestWhoCannotWriteCanReadTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.network.Delay(100*time.Millisecond, 0)
		if _, err := p.afar.Write([]byte("last words")); err != nil {
			t.Fatal(err)
		}
		if err := p.afar.Close(); err != nil {
			t.Fatal(err)
		}
		p.say(t, "into the void")
		heard(t, p.near, "last words")
		if _, err := p.near.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("reading: %v", err)
		}
		if _, err := p.near.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("writing: %v", err)
		}
	})
}
