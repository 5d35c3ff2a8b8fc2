package attach

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelgateway/modelgateway/extproc/frame"
)

// Stream is one request.
type Stream struct {
	id     uint32
	link   *link
	ctx    context.Context //nolint:containedctx // as a stream of gRPC has one
	cancel context.CancelFunc
	wake   chan struct{} // has room for one: something is in mu

	mu struct {
		sync.Mutex
		queue [][]byte // messages that have arrived
		ended bool     // no more will
	}
}

func newStream(ctx context.Context, id uint32, l *link) *Stream {
	s := &Stream{id: id, link: l, wake: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// errNoFrame is the error for a message that is no frame.Frame.
var errNoFrame = errors.New("attach: a stream carries frames only")

// Context is canceled when Envoy has no more use for the stream.
func (s *Stream) Context() context.Context { return s.ctx }

// RecvMsg waits for the next message and puts it into v, a *frame.Frame.
func (s *Stream) RecvMsg(v any) error {
	f, ok := v.(*frame.Frame)
	if !ok {
		return errNoFrame
	}
	for {
		s.mu.Lock()
		if len(s.mu.queue) > 0 {
			f.Take(s.mu.queue[0])
			s.mu.queue[0] = nil
			s.mu.queue = s.mu.queue[1:]
			s.mu.Unlock()
			return nil
		}
		ended := s.mu.ended
		s.mu.Unlock()
		if ended {
			return io.EOF
		}
		<-s.wake
	}
}

// SendMsg sends a *frame.Frame. It keeps nothing of it.
func (s *Stream) SendMsg(v any) error {
	f, ok := v.(*frame.Frame)
	if !ok {
		return errNoFrame
	}
	defer f.More.Free()
	if len(f.More) > 0 {
		return errors.New("attach: a body in pieces cannot be sent")
	}
	if s.ctx.Err() != nil {
		return context.Canceled
	}
	return s.link.send(s.id, f.Out[0], f.Out[1])
}

// put adds a message.
func (s *Stream) put(message []byte) {
	s.mu.Lock()
	s.mu.queue = append(s.mu.queue, message)
	s.mu.Unlock()
	s.signal()
}

// end makes RecvMsg return io.EOF after what has arrived.
func (s *Stream) end() {
	s.mu.Lock()
	s.mu.ended = true
	s.mu.Unlock()
	s.cancel()
	s.signal()
}

func (s *Stream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
