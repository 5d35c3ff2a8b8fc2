package attach

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"runtime"
	"sync"
)

const (
	readBuffer = 64 << 10
	mostQueued = 8 << 20 // bytes to be written; senders wait while there are more
	mostIdle   = 128     // goroutines of a link that wait for another stream: a new one would let its stack grow first
)

// link is one connection to Envoy.
type link struct {
	conn  net.Conn
	in    *bufio.Reader
	hello hello
	serve func(*Stream) error
	fresh chan *Stream   // streams for idle goroutines
	done  chan struct{}  // closed when the link is
	wake  chan struct{}  // has room for one: something is in out
	idle  chan struct{}  // holds a token of each goroutine that waits for a stream
	tasks sync.WaitGroup // the writer and the streams

	streams map[uint32]*Stream // of the reader

	mu struct {
		sync.Mutex
		out    []byte // to be written
		broken bool
		room   *sync.Cond // out has become shorter, or the link is broken
	}
}

// openLink connects to path and reads what Envoy says first.
func openLink(ctx context.Context, path string, serve func(*Stream) error) (*link, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	l := &link{
		conn: conn, in: bufio.NewReaderSize(conn, readBuffer), serve: serve,
		fresh: make(chan *Stream), done: make(chan struct{}), wake: make(chan struct{}, 1),
		idle: make(chan struct{}, mostIdle), streams: make(map[uint32]*Stream),
	}
	l.mu.room = sync.NewCond(&l.mu)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if l.hello, err = readHello(l.in); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("link to Envoy: %w", err)
	}
	return l, nil
}

// run serves the link until it breaks or ctx is done, and returns when all its streams have
// ended.
func (l *link) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = l.conn.Close() })
	defer stop()
	l.tasks.Go(l.write)
	err := l.read(ctx)
	_ = l.conn.Close()
	l.mu.Lock()
	l.mu.broken = true
	l.mu.room.Broadcast()
	l.mu.Unlock()
	close(l.done)
	for _, s := range l.streams {
		s.end()
	}
	l.tasks.Wait()
	return err
}

func (l *link) read(ctx context.Context) error {
	for {
		id, message, err := readMessage(l.in)
		if err != nil {
			return err
		}
		s := l.streams[id]
		switch {
		case len(message) == 0:
			if s != nil {
				delete(l.streams, id)
				s.end()
			}
		case s != nil:
			s.put(message)
		default:
			s = newStream(ctx, id, l)
			s.put(message)
			l.streams[id] = s
			l.start(s)
		}
	}
}

// start has an idle goroutine serve a stream, or else a new one.
func (l *link) start(s *Stream) {
	select {
	case l.fresh <- s:
	default:
		l.tasks.Go(func() { l.work(s) })
	}
}

// work serves a stream, and further ones if few goroutines wait for one.
func (l *link) work(s *Stream) {
	for {
		_ = l.serve(s)
		l.finish(s)
		select {
		case l.idle <- struct{}{}:
		default:
			return
		}
		select {
		case s = <-l.fresh:
			<-l.idle
		case <-l.done:
			return
		}
	}
}

// finish tells Envoy that a stream has ended, if Envoy has not ended it. Envoy then ends it too.
func (l *link) finish(s *Stream) {
	defer s.cancel()
	s.mu.Lock()
	ended := s.mu.ended
	s.mu.Unlock()
	if !ended {
		_ = l.send(s.id, nil, nil)
	}
}

// send queues a message.
func (l *link) send(stream uint32, head, tail []byte) error {
	l.mu.Lock()
	for len(l.mu.out) > mostQueued && !l.mu.broken {
		l.mu.room.Wait()
	}
	if l.mu.broken {
		l.mu.Unlock()
		return net.ErrClosed
	}
	l.mu.out = appendMessage(l.mu.out, stream, head, tail)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return nil
}

// write writes what is queued, all of it in one call. Two buffers take turns.
func (l *link) write() {
	var spare []byte
	for {
		select {
		case <-l.wake:
		case <-l.done:
			return
		}
		// Requests that have arrived together are answered together if those that are ready run first.
		runtime.Gosched()
		l.mu.Lock()
		out := l.mu.out
		l.mu.out = spare[:0]
		l.mu.room.Broadcast()
		l.mu.Unlock()
		if _, err := l.conn.Write(out); err != nil {
			_ = l.conn.Close() // the reader ends
			return
		}
		spare = out
		if cap(spare) > readBuffer {
			spare = nil
		}
	}
}
