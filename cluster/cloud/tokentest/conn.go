package tokentest

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// conn is an end of a connection in memory. As with TCP, and other than with net.Pipe, a write does not wait until the
// other end reads: else two ends that write at the same time would wait for each other.
type conn struct{ in, out *stream }

// newPipe returns both ends of a connection.
func newPipe() (net.Conn, net.Conn) {
	a, b := newStream(), newStream()
	return conn{a, b}, conn{b, a}
}

// stream is one direction.
type stream struct {
	mu struct {
		sync.Mutex
		moved    *sync.Cond // any of these has changed
		unread   []byte
		ended    bool // by the writer
		left     bool // by the reader
		deadline time.Time
		alarm    *time.Timer // at the deadline
	}
}

func newStream() *stream {
	s := &stream{}
	s.mu.moved = sync.NewCond(&s.mu)
	return s
}

// Read waits for bytes.
func (c conn) Read(b []byte) (int, error) {
	s := c.in
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.mu.left:
			return 0, net.ErrClosed
		case len(s.mu.unread) > 0:
			n := copy(b, s.mu.unread)
			s.mu.unread = s.mu.unread[n:]
			return n, nil
		case s.mu.ended:
			return 0, io.EOF
		case !s.mu.deadline.IsZero() && !time.Now().Before(s.mu.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		s.mu.moved.Wait()
	}
}

// Write sends bytes, and does not wait until they are read.
func (c conn) Write(b []byte) (int, error) {
	s := c.out
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.ended || s.mu.left {
		return 0, net.ErrClosed
	}
	s.mu.unread = append(s.mu.unread, b...)
	s.mu.moved.Broadcast()
	return len(b), nil
}

// SetReadDeadline ends reads at a time; zero: never.
func (c conn) SetReadDeadline(t time.Time) error {
	s := c.in
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.alarm != nil {
		s.mu.alarm.Stop()
		s.mu.alarm = nil
	}
	if s.mu.deadline = t; !t.IsZero() && !s.mu.left {
		s.mu.alarm = time.AfterFunc(time.Until(t), s.mu.moved.Broadcast)
	}
	s.mu.moved.Broadcast()
	return nil
}

// SetWriteDeadline does nothing: writes do not wait.
func (conn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline is one for reads.
func (c conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// Close ends both directions. The other end still reads what was written.
func (c conn) Close() error {
	_ = c.SetReadDeadline(time.Time{})
	for _, end := range []struct {
		s    *stream
		flag *bool
	}{{c.in, &c.in.mu.left}, {c.out, &c.out.mu.ended}} {
		end.s.mu.Lock()
		*end.flag = true
		end.s.mu.moved.Broadcast()
		end.s.mu.Unlock()
	}
	return nil
}

// LocalAddr returns no real address.
func (conn) LocalAddr() net.Addr { return memory() }

// RemoteAddr returns no real address.
func (conn) RemoteAddr() net.Addr { return memory() }

func memory() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }
