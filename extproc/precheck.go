package extproc

import (
	"context"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
)

// precheck is a stream of the filter in front of the downstream filter. A request with
// a long body, or one of undeclared length, passes it. The filter holds the headers back
// until they are answered, and Envoy reads no more than a small buffer of the body
// meanwhile: the answer leads to a route whose buffer is as large as a body may be.
//
// Of a body of undeclared length the filter also shows each piece before Envoy buffers
// it, and waits for the answer, so a piece for which there is no room is never buffered.
//
// This stream runs the stages of the headers, and the downstream filter's stream, which
// Envoy opens afterwards, claims the Exchange. Until then it belongs to this stream.
func (s *Server) precheck(c *conn) error {
	defer c.in.Free()
	var u *upload
	defer func() { s.leave(u) }()
	for {
		m, err := c.recv()
		if err != nil {
			return err
		}
		switch {
		case m.Kind == frame.RequestHeaders:
			if u, err = s.arrive(c, &m); err != nil || u == nil {
				return err
			}
		case m.Kind == frame.RequestBody && u != nil:
			if refusal := u.grow(c.stream.Context(), s.pipeline, int64(len(m.Body))); refusal != nil {
				return c.immediate(refusal)
			}
			err = c.pass(m.Kind)
		default:
			err = c.pass(m.Kind)
		}
		if err != nil {
			return err
		}
	}
}

// arrive runs the stages of the headers and answers the message. The upload is nil if
// the request was rejected.
func (s *Server) arrive(c *conn, m *frame.Message) (*upload, error) {
	x, err := s.pipeline.begin(c.stream.Context(), m)
	if err != nil {
		e := fault.From(err)
		s.pipeline.refused(c.stream.Context(), x, e)
		return nil, c.immediate(s.pipeline.refusal(x, e))
	}
	u := s.uploads.begin(x)
	dst := frame.AppendMetadata(make([]byte, 0, answerSize), contract.MetadataAdmitted, contract.MetadataAdmittedBody, "true")
	// Envoy looks the route up again only if the headers change, so one is removed that
	// no provider gets.
	head, tail := frame.AppendAnswer(dst, m.Kind, &frame.Mutation{ClearRoute: true, Remove: []string{"expect"}})
	return u, c.send(head, tail)
}

// leave ends the upload of a precheck's stream. A request that the downstream filter
// has not claimed by then releases what it holds.
func (s *Server) leave(u *upload) {
	if u == nil {
		return
	}
	if x := s.uploads.end(u); x != nil {
		s.pipeline.giveBack(x)
		x.flight.Release()
	}
}

// begin makes the exchange of a request, identifies its sender, and rejects what the
// headers show to be without quota or room. Of a rejected request nothing is reserved.
func (p *Pipeline) begin(ctx context.Context, m *frame.Message) (*Exchange, error) {
	x := &Exchange{Start: p.deps.Now(), View: p.deps.View()}
	x.Inbound.length = undeclared
	m.Headers(func(name, value []byte) bool {
		x.header(name, value)
		return true
	})
	if x.ID == "" {
		x.ID = id.NewRequest()
	}
	err := p.run(ctx, x, p.entry)
	if err == nil && m.End {
		err = errEmptyBody()
	}
	if err != nil {
		p.giveBack(x)
		x.flight.Release()
	}
	return x, err
}

// requestID is the id of the request that a headers message belongs to; empty if it
// has none.
func requestID(m *frame.Message) (out id.Request) {
	m.Headers(func(name, value []byte) bool {
		if string(name) != headerRequestID {
			return true
		}
		out = id.RequestFromUUID(string(value))
		return false
	})
	return out
}

// upload is a body on its way in that was prechecked.
type upload struct {
	request id.Request
	mu      struct {
		sync.Mutex
		x       *Exchange // nil when its body is here, or the request has ended
		claimed bool      // by the downstream filter's stream
	}
}

// grow reserves n more bytes, or returns the rejection of the request.
func (u *upload) grow(ctx context.Context, p *Pipeline, n int64) *frame.Immediate {
	u.mu.Lock()
	defer u.mu.Unlock()
	x := u.mu.x
	if x == nil || x.Inbound.length != undeclared {
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

// received ends the upload: nobody else uses the exchange from here on.
func (u *upload) received() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mu.x = nil
}

// uploads finds the upload of a request by its id, for the downstream filter's stream.
type uploads struct {
	mu struct {
		sync.Mutex
		live map[id.Request]*upload // those that are not claimed
	}
}

// begin adds the upload of a request.
func (s *uploads) begin(x *Exchange) *upload {
	u := &upload{request: x.ID}
	u.mu.x = x
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.live == nil {
		s.mu.live = make(map[id.Request]*upload)
	}
	s.mu.live[x.ID] = u
	return u
}

// claim hands the upload of a request, and its exchange, to the downstream filter's
// stream. Both are nil if the request was not prechecked.
func (s *uploads) claim(request id.Request) (*upload, *Exchange) {
	s.mu.Lock()
	u := s.mu.live[request]
	delete(s.mu.live, request)
	s.mu.Unlock()
	if u == nil {
		return nil, nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mu.claimed = true
	return u, u.mu.x
}

// end removes an upload. It returns the exchange if nobody has claimed it.
func (s *uploads) end(u *upload) *Exchange {
	s.mu.Lock()
	if s.mu.live[u.request] == u {
		delete(s.mu.live, u.request)
	}
	s.mu.Unlock()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mu.claimed {
		return nil
	}
	x := u.mu.x
	u.mu.x = nil
	return x
}
