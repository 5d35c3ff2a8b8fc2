package eventstream_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/eventstream"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Events of ConverseStream that pass through the gateway leave in the same frames, wherever the stream is cut, and exceptions with them.
func TestPassedFramesAreTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var stream []byte
		for range rapid.IntRange(0, 6).Draw(rt, "frames") {
			payload := `{"delta":{"text":` + string(splice.Quote(nil, rapid.String().Draw(rt, "text"))) + `},"p":"abc"}`
			kind := rapid.SampledFrom([]string{"event", "event", "exception"}).Draw(rt, "kind")
			name := map[string]string{"event": "contentBlockDelta", "exception": "throttlingException"}[kind]
			// In AWS's order.
			stream = append(stream, frame(t, payload, ":"+kind+"-type", name, ":content-type", "application/json", ":message-type", kind)...)
		}
		s, f := eventstream.Splitter{Sent: true}, eventstream.Frames{Events: true}
		var out []byte
		var e splice.Event
		for rest := stream; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "piece")
			s.Push(bytes.Clone(rest[:n]))
			rest = rest[n:]
			for s.Next(&e) {
				if e.DataAt < 0 || !bytes.HasPrefix(e.Raw[e.DataAt:], e.Data) {
					rt.Fatalf("%q has its data at %d", e.Raw, e.DataAt)
				}
				out = append(out, f.Add(e.Raw)...)
			}
		}
		if s.Err() != nil || !bytes.Equal(out, stream) {
			rt.Fatalf("%v\n%q\n%q", s.Err(), stream, out)
		}
	})
}

// Keep-alives and events without a name have no frame.
func TestOnlyEventsHaveFrames(t *testing.T) {
	t.Parallel()
	f := eventstream.Frames{Events: true}
	if out := f.Add([]byte(":\n\ndata: {}\n\nevent: x\n\n")); len(out) != 0 {
		t.Errorf("%q", out)
	}
}

// No name of a frame's type makes a line of its own.
func TestNamesAreNoLines(t *testing.T) {
	t.Parallel()
	s := eventstream.Splitter{Sent: true}
	s.Push(event(t, "a\nevent: b", `{}`))
	var e splice.Event
	if !s.Next(&e) || bytes.Contains(e.Raw, []byte("event:")) {
		t.Errorf("%q, %v", e.Raw, s.Err())
	}
}
