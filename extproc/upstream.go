package extproc

import (
	"math"
	"strconv"

	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/framing"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// upstream is the stream of an upstream filter: one attempt of one request.
type upstream struct {
	*conn
	p       *pipeline.Pipeline
	x       *pipeline.Exchange // nil if the request has ended meanwhile
	attempt int                // from 0
}

// open reads the first message, the attempt's request headers.
func (s *Server) open(c *conn) (*upstream, frame.Message, error) {
	u := &upstream{conn: c, p: s.pipeline}
	m, err := c.recv()
	if err != nil {
		return nil, m, err
	}
	m.Attributes(func(name []byte, v frame.Attribute) bool {
		switch string(name) {
		case contract.AttrRequestID:
			u.x = s.live.find(requestNamed(string(v.Text)))
		case contract.AttrAttempt:
			u.attempt = int(min(max(v.Number, 1), math.MaxInt16)) - 1
		}
		return true
	})
	return u, m, nil
}

// rewrite replaces the request of an attempt after the first, and ends the stream: an
// upstream filter then continues by itself.
func (s *Server) rewrite(c *conn) error {
	defer c.in.Free()
	u, m, err := s.open(c)
	if err != nil {
		return err
	}
	defer u.charge()
	return u.prepare(&m)
}

// charge adds the time of this stream to that of the request.
func (u *upstream) charge() {
	u.addBusy()
	if u.x != nil {
		u.x.Charge(u.busy)
	}
}

func (u *upstream) prepare(m *frame.Message) error {
	if u.x == nil || m.Kind != frame.RequestHeaders {
		return u.pass(m.Kind)
	}
	edit, instead := u.p.Again(u.stream.Context(), u.x, u.attempt)
	switch {
	case instead != nil:
		return u.immediate(instead) // Envoy gives it to the caller and does not retry
	case edit == nil:
		return u.pass(m.Kind)
	}
	// The length is sent as metadata: Envoy removes the header with the old body.
	dst := frame.AppendMetadata(nil, contract.MetadataRequest, "content-length", strconv.Itoa(len(edit.Body)))
	head, tail := frame.AppendAnswer(dst, m.Kind, &frame.Mutation{Edit: *edit, Continue: true})
	return u.send(head, tail)
}

// check prepares an attempt, and inspects its response before Envoy's router does. An error
// with a good status gets a status that the router retries.
func (s *Server) check(c *conn) error {
	defer c.in.Free()
	u, m, err := s.open(c)
	if err != nil {
		return err
	}
	defer u.charge()
	if err := u.prepare(&m); err != nil {
		return err
	}
	m, err = c.recv()
	if err != nil {
		return err
	}
	if u.x == nil || m.Kind != frame.ResponseHeaders {
		return u.pass(m.Kind)
	}
	return u.inspect(&m)
}

// inspect reads as much of the response as Check needs, answers it, and ends the stream:
// Envoy passes the rest on by itself.
func (u *upstream) inspect(m *frame.Message) error {
	h := readHead(m)
	if m.End || h.Status >= 500 || h.Status == 429 {
		return u.pass(m.Kind)
	}
	start := u.x.Opening(u.attempt, &h)
	body, pieces, err := u.readStart(start)
	if err != nil {
		return err
	}
	if u.p.Check(u.x, u.attempt, &h, body, start) {
		err = u.pass(frame.ResponseHeaders)
	} else {
		err = u.answer(frame.ResponseHeaders, &frame.Mutation{Edit: message.Edit{Set: []message.Header{{Name: ":status", Value: strconv.Itoa(contract.StatusNext)}}}})
	}
	for i := 0; i < pieces && err == nil; i++ {
		err = u.pass(frame.ResponseBody)
	}
	return err
}

// readStart reads the response's body: all of it, or the start of a stream.
func (u *upstream) readStart(start *framing.Opening) (body []byte, pieces int, err error) {
	limit := u.p.MaxResponseBytes()
	for {
		m, err := u.recv()
		if err != nil {
			return nil, pieces, err
		}
		if m.Kind != frame.ResponseBody {
			return body, pieces, nil
		}
		pieces++
		decided := false
		if start != nil {
			decided = start.Piece(m.Body)
		} else {
			body = append(body, m.Body...)
			decided = int64(len(body)) > limit // the downstream filter reports it
		}
		if m.End || decided {
			return body, pieces, nil
		}
	}
}
