package extproc

import (
	"context"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
)

// count is a stream of the filter that counts a body of undeclared length. That
// filter shows each piece before Envoy buffers it, and waits for the answer, so a
// piece for which there is no room is never buffered.
//
// Its stream and the downstream filter's belong to one request and reach the server
// in either order: count waits until the request has passed its headers' stages. If
// those reject it, Envoy ends both streams.
func (s *Server) count(c *conn) error {
	defer c.in.Free()
	ctx := c.stream.Context()
	var u *upload
	for {
		m, err := c.recv()
		if err != nil {
			return err
		}
		if m.Kind != frame.RequestBody {
			if err := c.pass(m.Kind); err != nil {
				return err
			}
			continue
		}
		if u == nil {
			if u, err = s.uploads.await(ctx, requestOf(&m)); err != nil {
				return err
			}
		}
		if refusal := u.grow(ctx, s.pipeline, int64(len(m.Body))); refusal != nil {
			return c.immediate(refusal)
		}
		if err := c.pass(m.Kind); err != nil {
			return err
		}
	}
}

// requestOf is the request that a message of an upstream or counting filter belongs to.
func requestOf(m *frame.Message) id.Request {
	var out id.Request
	m.Attributes(func(name []byte, v frame.Attribute) bool {
		if string(name) == contract.AttrRequestID {
			out = id.RequestFromUUID(string(v.Text))
		}
		return true
	})
	return out
}

// upload is a body of undeclared length on its way in.
type upload struct {
	mu struct {
		sync.Mutex
		x *Exchange // nil when the request has ended
	}
}

// grow reserves n more bytes, or returns the rejection of the request.
func (u *upload) grow(ctx context.Context, p *Pipeline, n int64) *frame.Immediate {
	u.mu.Lock()
	defer u.mu.Unlock()
	x := u.mu.x
	if x == nil {
		return nil
	}
	err := x.flight.Grow(n)
	if err == nil {
		return nil
	}
	// The downstream filter's stream owns the Exchange. It waits for the rest of the
	// body, and takes the lock before it goes on.
	e := fault.From(err)
	p.refused(ctx, x, e)
	return p.refusal(x, e)
}

// uploads finds the upload of a request by its id, for the counting filter's stream.
type uploads struct {
	mu struct {
		sync.Mutex
		live    map[id.Request]*upload
		waiting map[id.Request]chan struct{} // closed when the upload is there
	}
}

// begin makes the upload of a request and returns what ends it.
func (s *uploads) begin(x *Exchange) (end func()) {
	u := &upload{}
	u.mu.x = x
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.live == nil {
		s.mu.live = make(map[id.Request]*upload)
	}
	s.mu.live[x.ID] = u
	if came, ok := s.mu.waiting[x.ID]; ok {
		close(came)
		delete(s.mu.waiting, x.ID)
	}
	return func() {
		s.mu.Lock()
		delete(s.mu.live, x.ID)
		s.mu.Unlock()
		u.mu.Lock()
		u.mu.x = nil
		u.mu.Unlock()
	}
}

// await returns the upload of a request when it is there. It ends with ctx, which is
// that of the stream: at the latest when Envoy has ended the request.
func (s *uploads) await(ctx context.Context, request id.Request) (*upload, error) {
	s.mu.Lock()
	if u := s.mu.live[request]; u != nil {
		s.mu.Unlock()
		return u, nil
	}
	if s.mu.waiting == nil {
		s.mu.waiting = make(map[id.Request]chan struct{})
	}
	came, ok := s.mu.waiting[request]
	if !ok {
		came = make(chan struct{})
		s.mu.waiting[request] = came
	}
	s.mu.Unlock()
	select {
	case <-came:
		return s.await(ctx, request)
	case <-ctx.Done():
		s.mu.Lock()
		if s.mu.waiting[request] == came {
			delete(s.mu.waiting, request)
		}
		s.mu.Unlock()
		return nil, ctx.Err()
	}
}
