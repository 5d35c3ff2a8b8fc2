package attach_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/modelgateway/modelgateway/extproc/attach"
	"github.com/modelgateway/modelgateway/extproc/frame"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// envoy is Envoy's end of links: a listener, and the connections that it has accepted.
type envoy struct {
	t        *testing.T
	listener net.Listener
}

func listen(t *testing.T) *envoy {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "links.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &envoy{t, l}
}

// accept takes a connection for a worker.
func (e *envoy) accept(worker, workers uint32) *peer {
	e.t.Helper()
	c, err := e.listener.Accept()
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = c.Close() })
	p := &peer{e.t, c}
	p.send(0, string(binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, worker), workers)))
	return p
}

// peer is one such connection.
type peer struct {
	t    *testing.T
	conn net.Conn
}

func message(stream uint32, text string) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(len(text)))
	return append(binary.NativeEndian.AppendUint32(b, stream), text...)
}

func (p *peer) send(stream uint32, text string) {
	p.t.Helper()
	if _, err := p.conn.Write(message(stream, text)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) receive() (stream uint32, text string) {
	p.t.Helper()
	head := make([]byte, 8)
	if _, err := io.ReadFull(p.conn, head); err != nil {
		p.t.Fatal(err)
	}
	body := make([]byte, binary.NativeEndian.Uint32(head))
	if _, err := io.ReadFull(p.conn, body); err != nil {
		p.t.Fatal(err)
	}
	return binary.NativeEndian.Uint32(head[4:]), string(body)
}

func (p *peer) want(stream uint32, text string) {
	p.t.Helper()
	if s, got := p.receive(); s != stream || got != text {
		p.t.Fatalf("stream %d got %q, want stream %d and %q", s, got, stream, text)
	}
}

// links runs Links until the test ends, and returns what changed reports.
func links(t *testing.T, e *envoy, serve func(*attach.Stream) error) (complete <-chan bool) {
	t.Helper()
	changes := make(chan bool, 16)
	ctx, cancel := context.WithCancel(t.Context())
	l := attach.NewLinks(e.listener.Addr().String(), serve, func(c bool) { changes <- c }, slog.New(slog.DiscardHandler))
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return changes
}

// echo answers each message with itself, and reports the error that ends it.
func echo(ended chan<- error) func(*attach.Stream) error {
	return func(s *attach.Stream) error {
		var f frame.Frame
		for {
			if err := s.RecvMsg(&f); err != nil {
				ended <- err
				return err
			}
			if err := s.SendMsg(&frame.Frame{Out: [2][]byte{[]byte("got "), f.Bytes()}}); err != nil {
				ended <- err
				return err
			}
		}
	}
}

// Each worker gets a link, and what is not complete is reported as such.
func TestEachWorkerHasALink(t *testing.T) {
	e := listen(t)
	ended := make(chan error, 16)
	complete := links(t, e, echo(ended))
	first := e.accept(0, 2)
	e.accept(0, 2) // not the worker that lacks one: the next one follows
	second := e.accept(1, 2)
	if !<-complete {
		t.Fatal("not complete, though each worker has a link")
	}
	first.send(7, "a")
	second.send(7, "b")
	first.want(7, "got a")
	second.want(7, "got b")
	_ = second.conn.Close()
	if <-complete {
		t.Fatal("complete, though a worker has no link")
	}
	if err := <-ended; !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
		t.Errorf("a stream on a link that broke ended with %v", err)
	}
	e.accept(1, 2)
	if !<-complete {
		t.Fatal("not complete again")
	}
}

// Messages of a stream arrive in order, and none is lost before its end.
func TestStreamsAreApart(t *testing.T) {
	e := listen(t)
	ended := make(chan error, 16)
	links(t, e, echo(ended))
	p := e.accept(0, 1)
	var all []byte
	for i := range 100 {
		all = append(all, message(uint32(1+i%3), strconv.Itoa(i))...)
	}
	all = append(all, message(2, "")...)
	if _, err := p.conn.Write(all); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
		t.Errorf("a stream that Envoy ended: %v", err)
	}
	next := map[uint32]int{1: 0, 3: 2}
	for next[1] < 100 || next[3] < 100 {
		stream, got := p.receive()
		if stream == 2 {
			continue // answered as far as it got
		}
		if want := "got " + strconv.Itoa(next[stream]); got != want {
			t.Fatalf("stream %d got %q, want %q", stream, got, want)
		}
		next[stream] += 3
	}
}

// A stream that the gateway ends is ended at Envoy, and its number can be used again.
func TestGatewayEndsAStream(t *testing.T) {
	e := listen(t)
	links(t, e, func(s *attach.Stream) error {
		var f frame.Frame
		if err := s.RecvMsg(&f); err != nil {
			return err
		}
		return s.SendMsg(&frame.Frame{Out: [2][]byte{f.Bytes()}})
	})
	p := e.accept(0, 1)
	for range 300 { // more than the goroutines that wait for streams
		p.send(1, "x")
		p.want(1, "x")
		p.want(1, "")
		p.send(1, "") // Envoy ends it too
	}
}

// What cannot be sent is an error, and not lost in silence.
func TestForeignMessages(t *testing.T) {
	e := listen(t)
	errs := make(chan error, 2)
	links(t, e, func(s *attach.Stream) error {
		errs <- s.RecvMsg(new(string))
		errs <- s.SendMsg(new(string))
		return nil
	})
	e.accept(0, 1).send(1, "x")
	for range 2 {
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "frames only") {
			t.Errorf("a message that is no frame: %v", err)
		}
	}
}

// A peer that does not say first which worker it is gets no requests of ours.
func TestWrongHello(t *testing.T) {
	e := listen(t)
	complete := links(t, e, echo(make(chan error, 16)))
	for _, first := range [][]byte{message(1, "12345678"), message(0, "1234"), message(0, string(make([]byte, 8))), bytes.Repeat([]byte{0xff}, 8)} {
		c, err := e.listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(first); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("after %q: %v, want the end of the connection", first, err)
		}
		_ = c.Close()
	}
	e.accept(0, 1)
	if !<-complete {
		t.Fatal("not complete")
	}
}
