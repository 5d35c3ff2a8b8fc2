package extproc

import (
	"bytes"
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/reply"
)

// receive processes the provider's response: the headers in m, and what follows them.
func (d *session) receive(ctx context.Context, m *frame.Message) error {
	h := readHead(m)
	limit, err := d.p.Receive(ctx, d.x, h)
	if err != nil {
		return err
	}
	if limit > 0 {
		body, tooLong, err := d.body(&h, limit)
		if err != nil {
			return err
		}
		if err := d.p.Finish(ctx, d.x, body, tooLong); err != nil {
			return err
		}
		d.letBodyGo()
	}
	edit, instead := d.x.Answer()
	if instead != nil {
		return d.immediate(instead)
	}
	if err := d.answer(frame.ResponseHeaders, &frame.Mutation{Edit: message.Edit{Set: edit.Set, Remove: edit.Remove}}); err != nil {
		return err
	}
	if limit == 0 {
		return d.relay(ctx)
	}
	return d.answerHeld(edit)
}

// body collects a response's body without answering its pieces: Envoy holds the headers
// until the processor has answered them. A body longer than limit is truncated.
//
// Where the content shows the end, body does not wait for Envoy to report it. A response that
// ends with trailers (HTTP/2) has no last piece, and Envoy sends the trailers only after the
// pieces before them have been answered.
func (d *session) body(h *reply.Head, limit int64) (body []byte, tooLong bool, err error) {
	var parts [][]byte
	var size int64
	for ended := h.Empty; !ended; {
		m, err := d.recv()
		if err != nil {
			return nil, false, err
		}
		if m.Kind != frame.ResponseBody {
			continue
		}
		d.held++
		if size += int64(len(m.Body)); size > limit {
			return join(parts, size-int64(len(m.Body))), true, nil
		}
		if len(m.Body) > 0 {
			parts = append(parts, m.Body)
			d.free = append(d.free, d.in.Hold())
		}
		switch ended = m.End || size == h.Length; {
		case ended:
		case h.Length < 0 && size <= maxGuess && endsObject(m.Body):
			whole := join(parts, size)
			ended = jsontext.Value(whole).IsValid()
			parts = append(parts[:0], whole)
		}
	}
	return join(parts, size), false, nil
}

// maxGuess is the size up to which a response of unknown length is searched for its end
// after each piece. Each search reads all of it.
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

// answerHeld answers the pieces of a body: unchanged, or with the last one replaced and the
// others removed.
func (d *session) answerHeld(e *message.Edit) error {
	for i := range d.held {
		var err error
		switch {
		case !e.Replace:
			err = d.pass(frame.ResponseBody)
		case i < d.held-1:
			err = d.answer(frame.ResponseBody, &frame.Mutation{Edit: message.Edit{Replace: true}})
		default:
			err = d.answer(frame.ResponseBody, &frame.Mutation{Edit: message.Edit{Replace: true, Body: e.Body}})
		}
		if err != nil {
			return err
		}
	}
	return d.drain()
}

// drain answers every further message, until Envoy ends the stream.
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

// relay passes a stream on, piece by piece.
func (d *session) relay(ctx context.Context) error {
	r := d.p.Relay(d.x)
	for {
		m, err := d.recv()
		if err != nil {
			return err
		}
		take := r.Piece
		if m.End { // with the last piece, or with trailers, which have no room for more
			take = r.Last
		}
		out, same, err := take(ctx, m.Body)
		if err != nil {
			return err
		}
		if m.End {
			d.letBodyGo()
		}
		if same || m.Kind != frame.ResponseBody {
			err = d.pass(m.Kind)
		} else {
			// gRPC may send it later than Piece keeps it.
			err = d.answer(m.Kind, &frame.Mutation{Edit: message.Edit{Replace: true, Body: append([]byte(nil), out...)}})
		}
		if err != nil {
			return err
		}
		if r.Stopped() && !m.End {
			// As the headers have left, Envoy resets both streams: the provider stops.
			return d.immediate(&message.Response{Status: http.StatusBadRequest, Reason: blockedByGuardrail})
		}
	}
}

// blockedByGuardrail is the reason for which Envoy ends a stream that a guardrail has blocked. The module streamend
// then ends the caller's body behind the error event.
const blockedByGuardrail = "guardrail_blocked"
