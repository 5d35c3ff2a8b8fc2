package extproc

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// maxErrorBytes is how much of a provider's error is read: its class and its
// message are at the beginning.
const maxErrorBytes = 64 << 10

var errTooLong = errors.New("longer than limits.max_response_bytes")

// body collects an answer's body without answering for its pieces: Envoy does
// not let the headers go before the processor has answered them. It returns how
// many pieces are waiting for their answers.
//
// It does not wait to be told of the end where it can see it. An answer that ends
// with trailers (HTTP/2 has them) has no last piece, and Envoy sends the trailers
// only when the pieces before them have been answered.
func (d *session) body(h *head, ended bool, limit int64) (body []byte, pieces int, err error) {
	var parts [][]byte
	var size int64
	for !ended {
		m, err := d.recv()
		if err != nil {
			return nil, pieces, err
		}
		if m.Kind != frame.ResponseBody {
			continue
		}
		pieces++
		if size += int64(len(m.Body)); size > limit {
			return join(parts, size-int64(len(m.Body))), pieces, errTooLong
		}
		if len(m.Body) > 0 {
			parts = append(parts, m.Body)
			d.free = append(d.free, d.in.Hold())
		}
		switch ended = m.End || size == h.length; {
		case ended:
		case h.length < 0 && size <= maxGuess && endsObject(m.Body):
			whole := join(parts, size)
			ended = jsontext.Value(whole).IsValid()
			parts = append(parts[:0], whole)
		}
	}
	return join(parts, size), pieces, nil
}

// maxGuess is up to which size an answer of unknown length is looked at piece by
// piece for its end: each look reads all of it.
const maxGuess = 1 << 20

// endsObject reports whether a JSON object may end here.
func endsObject(b []byte) bool {
	b = bytes.TrimRight(b, " \t\r\n")
	return len(b) > 0 && b[len(b)-1] == '}'
}

func join(parts [][]byte, size int64) []byte {
	if len(parts) == 1 {
		return parts[0]
	}
	out := make([]byte, 0, size)
	for _, part := range parts {
		out = append(out, part...)
	}
	return out
}

// failed ends a request whose last attempt has failed.
func (d *session) failed(ctx context.Context, m *frame.Message, h *head) error {
	body, _, err := d.body(h, m.End, maxErrorBytes)
	if err != nil && !errors.Is(err, errTooLong) {
		return err
	}
	_, e := d.p.fail(ctx, d.x, h, body)
	return d.end(ctx, outcomeOf(e), e)
}

// end settles a failed request and tells its caller.
func (d *session) end(ctx context.Context, o Outcome, e *fault.Error) error {
	o.status = e.HTTPStatus()
	pending, _ := d.p.settle(ctx, d.x, o)
	if err := d.p.synced(ctx, d.x, pending); err != nil {
		e = fault.From(err)
	}
	return d.immediate(d.p.refusal(d.x, e))
}

// unstreamed takes a whole response through its stages and sends it.
func (d *session) unstreamed(ctx context.Context, m *frame.Message) error {
	r := &d.x.response
	body, pieces, err := d.body(&r.head, m.End, d.p.deps.Settings.MaxResponseBytes)
	if r.tooLong = errors.Is(err, errTooLong); err != nil && !r.tooLong {
		return err
	}
	r.body = body
	if err := d.p.run(ctx, d.x, d.p.whole); err != nil {
		return d.unanswered(ctx, err)
	}
	if err := d.answer(frame.ResponseHeaders, r.headers); err != nil {
		return err
	}
	return d.release(pieces, len(body) > 0 && len(r.out) == len(body) && &r.out[0] == &body[0], r.out)
}

// unanswered ends a request whose whole response a stage has stopped.
func (d *session) unanswered(ctx context.Context, err error) error {
	if d.x.ended() { // its usage is recorded, or cannot be
		return d.immediate(d.p.refusal(d.x, fault.From(err)))
	}
	e := d.p.unusable(d.x, err)
	o := outcomeOf(e)
	o.Text, o.Bytes, o.unread = d.x.response.body, int64(len(d.x.response.body)), true
	return d.end(ctx, o, e)
}

// awaitEarlier gives the attempt log time to say why earlier attempts failed.
func (x *Exchange) awaitEarlier(ctx context.Context) {
	if x.Tries > 1 {
		x.awaitTrouble(ctx, x.Tries-1)
	}
}

// release answers for the pieces of a body: as they came, or all but the last
// taken away and the last replaced.
func (d *session) release(pieces int, same bool, body []byte) error {
	for i := range pieces {
		var err error
		switch {
		case same:
			err = d.pass(frame.ResponseBody)
		case i < pieces-1:
			err = d.answer(frame.ResponseBody, &frame.Mutation{Replace: true})
		default:
			err = d.answer(frame.ResponseBody, &frame.Mutation{Replace: true, Body: body})
		}
		if err != nil {
			return err
		}
	}
	return d.drain()
}

// drain answers whatever still comes, until Envoy ends the stream.
func (d *session) drain() error {
	for {
		m, err := d.recv()
		if err != nil {
			return err
		}
		if err := d.pass(m.Kind); err != nil {
			return err
		}
	}
}

// acceptable refuses an answer of another form than was asked for.
func acceptable(h *head, media string) error {
	if h.encoding != "" && h.encoding != "identity" {
		return errors.New("content-encoding " + h.encoding + " was not asked for")
	}
	if h.media != media {
		return errors.New("content-type is not " + media)
	}
	return nil
}

// unusable is the error for a good status without a good answer.
func (p *Pipeline) unusable(x *Exchange, err error) *fault.Error {
	if f, ok := errors.AsType[*wire.Failure](err); ok {
		x.brokeOff(f, nil)
		return f.Fault()
	}
	return p.broken(x, err)
}

// streamed passes an event stream on, event by event.
func (d *session) streamed(ctx context.Context, m *frame.Message, h *head) error {
	if err := acceptable(h, d.x.op.stream); err != nil || m.End {
		body, _, readErr := d.body(h, m.End, maxErrorBytes)
		if readErr != nil && !errors.Is(readErr, errTooLong) {
			return readErr
		}
		return d.end(ctx, Outcome{Kind: journal.Failed, Code: "upstream_invalid_response", Text: body}, d.p.broken(d.x, err))
	}
	d.x.awaitEarlier(ctx)
	// A crash before this leaves a request of which the caller has seen nothing
	// and, perhaps, no trace; from here on there is one.
	if err := d.p.synced(ctx, d.x, nil); err != nil {
		return d.immediate(d.p.refusal(d.x, fault.From(err)))
	}
	answer := d.p.answerHeaders(d.x, h)
	answer.Set = append(answer.Set,
		frame.Header{Name: headerContentType, Value: contentTypeStream},
		frame.Header{Name: "cache-control", Value: "no-cache"},
		frame.Header{Name: "x-accel-buffering", Value: "no"})
	answer.Remove = append(answer.Remove, headerContentLength)
	if err := d.answer(frame.ResponseHeaders, answer); err != nil {
		return err
	}
	return d.relay(ctx)
}

func (d *session) relay(ctx context.Context) error {
	r := newRelay(d.p, d.x)
	// Wherever the stream breaks off, what was taken in counts: of the piece that
	// was under way nobody knows whether it arrived.
	defer func() { d.outcome = r.outcome }()
	settled := false
	for {
		m, err := d.recv()
		if err != nil {
			return err
		}
		feed := r.feed
		if m.End { // with the last piece, or with trailers, which have no room for more
			feed = r.last
		}
		out, same := feed(m.Body)
		if r.done && !settled {
			// The end of the answer waits here until its cost is on disk. A crash
			// before leaves the intent; the caller has not seen the end.
			settled = true
			pending, _ := d.p.settle(ctx, d.x, r.outcome)
			if err := d.p.synced(ctx, d.x, pending); err != nil {
				return err
			}
		}
		if same || m.Kind != frame.ResponseBody {
			err = d.pass(m.Kind)
		} else {
			// What feed returned is valid until the next feed only, and gRPC may
			// send it later than that.
			err = d.answer(m.Kind, &frame.Mutation{Replace: true, Body: append([]byte(nil), out...)})
		}
		if err != nil {
			return err
		}
	}
}
