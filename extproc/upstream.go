package extproc

import (
	"math"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// upstream is a stream of an upstream filter: one attempt of one request.
type upstream struct {
	*conn
	p       *Pipeline
	x       *Exchange // nil if the request has ended meanwhile
	attempt int       // from 0
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

// rewrite puts in the request of an attempt after the first, and leaves: an
// upstream filter goes on by itself when its stream ends well.
func (s *Server) rewrite(c *conn) error {
	defer c.in.Free()
	u, m, err := s.open(c)
	if err != nil {
		return err
	}
	defer u.charge()
	return u.prepare(&m)
}

// charge adds the time of this stream to the request's.
func (u *upstream) charge() {
	u.rest()
	if u.x != nil {
		u.x.busy.Add(int64(u.busy))
	}
}

func (u *upstream) prepare(m *frame.Message) error {
	if u.x == nil || m.Kind != frame.RequestHeaders {
		return u.pass(m.Kind)
	}
	mutation, err := u.p.again(u.stream.Context(), u.x, u.attempt)
	switch {
	case err != nil:
		// Envoy does not retry an answer from here, so what cannot be sent to this
		// deployment ends the request.
		e := fault.From(err)
		u.x.report(u.attempt, trouble{code: e.Code, kind: e.Kind, cause: causeNotSent})
		return u.immediate(u.p.refusal(u.x, e))
	case mutation == nil:
		return u.pass(m.Kind)
	}
	// The length goes as metadata: Envoy takes the header away with the old body.
	dst := frame.AppendMetadata(make([]byte, 0, answerSize), contract.MetadataRequest, headerContentLength, strconv.Itoa(len(mutation.Body)))
	head, tail := frame.AppendAnswer(dst, m.Kind, mutation)
	return u.send(head, tail)
}

// check prepares an attempt, and then looks at its answer before Envoy's router
// does: an answer that is an error in all but its status gets a status that the
// router retries.
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
	return u.look(&m)
}

// look reads as much of the answer as it takes to tell, answers for it, and ends
// the stream: Envoy passes the rest on by itself.
func (u *upstream) look(m *frame.Message) error {
	h := readHead(m)
	h.local = false
	if m.End || h.status >= 500 || h.status == 429 {
		return u.pass(m.Kind)
	}
	body, pieces, err := u.start(&h)
	if err != nil {
		return err
	}
	f := u.verdict(&h, body)
	if f == nil {
		if err := u.pass(frame.ResponseHeaders); err != nil {
			return err
		}
	} else {
		t := trouble{status: f.Status, code: reason(f), kind: f.Kind, reached: true, cause: causeOfCheck(f), requestID: h.requestID}
		u.x.failureText(&t, u.attempt, f, nil)
		u.x.report(u.attempt, t)
		if err := u.answer(frame.ResponseHeaders, &frame.Mutation{Set: []frame.Header{{Name: ":status", Value: strconv.Itoa(contract.StatusNext)}}}); err != nil {
			return err
		}
	}
	for range pieces {
		if err := u.pass(frame.ResponseBody); err != nil {
			return err
		}
	}
	return nil
}

// causeOfCheck is the cause of a response that was looked at and taken away.
func causeOfCheck(f *wire.Failure) string {
	if f.ContentFilter {
		return causeContentFilter
	}
	return causeStreamError
}

// start reads the answer's body: all of it, or the first event of a stream.
func (u *upstream) start(h *head) (body []byte, pieces int, err error) {
	limit := u.p.deps.Settings.MaxResponseBytes
	stream := h.media == u.x.op.stream
	var split splice.Splitter
	var e splice.Event
	for {
		m, err := u.recv()
		if err != nil {
			return nil, pieces, err
		}
		if m.Kind != frame.ResponseBody {
			return body, pieces, nil
		}
		pieces++
		if stream {
			split.Push(m.Body)
			for split.Next(&e) {
				if e.HasData {
					return append([]byte(nil), e.Data...), pieces, nil
				}
			}
		} else {
			body = append(body, m.Body...)
		}
		tooLong := int64(len(body)) > limit || split.Err() != nil // let the downstream filter say so
		if m.End || tooLong {
			return body, pieces, nil
		}
	}
}

// verdict says why the next attempt should be made, nil if this one stands.
func (u *upstream) verdict(h *head, body []byte) *wire.Failure {
	driver := u.x.Plan[u.attempt].Provider.Driver
	switch {
	case h.status >= 300:
		if f := driver.Classify(h.status, h.value, body); f.ContentFilter {
			return f
		}
		return nil
	case h.media == u.x.op.stream:
		if _, err := driver.Stream().Event(nil, "", body); err != nil {
			return failureOf(err)
		}
		return nil
	}
	reply, err := driver.Decode(body)
	if err != nil {
		return failureOf(err)
	}
	for i := range reply.Choices {
		if reply.Choices[i].Finish != wire.FinishFilter {
			return nil
		}
	}
	if len(reply.Choices) == 0 {
		return nil
	}
	return &wire.Failure{Status: h.status, Kind: fault.Blocked, Code: "content_filter", ContentFilter: true}
}
