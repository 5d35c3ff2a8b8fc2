package cohere

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// looseEvent is an event of any type.
type looseEvent struct {
	Type  string       `json:"type"`
	Index driver.Count `json:"index"`
	Delta struct {
		Message struct {
			Content   one[looseContent] `json:"content"`
			ToolPlan  string            `json:"tool_plan"`
			ToolCalls one[looseCall]    `json:"tool_calls"`
			Citations one[citation]     `json:"citations"`
		} `json:"message"`
		Finish string         `json:"finish_reason"`
		Usage  jsontext.Value `json:"usage"`
		Error  string         `json:"error"`
	} `json:"delta"`
	Message jsontext.Value `json:"message"` // of an error
}

// one is an object in the place of the list that a whole response has there.
type one[T any] struct{ value T }

// UnmarshalJSONFrom reads an object; anything else counts as none.
func (o *one[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, &o.value)
}

// stream decodes chat events.
type stream struct {
	usage    wire.Usage
	ended    bool          // message-end was seen
	runes    int           // of text so far
	starts   map[int64]int // the code points before each content
	calls    []int64       // the indexes of calls, in order
	fed      bool          // the open call has arguments
	finished bool
}

// Event reads one event. It uses the type inside the data, not the event's name, which some proxies lose.
func (s *stream) Event(dst []wire.Chunk, _ string, data []byte) ([]wire.Chunk, error) {
	data = bytes.TrimSpace(data)
	if s.ended || len(data) == 0 || string(data) == "[DONE]" {
		return dst, nil
	}
	var e looseEvent
	if f := driver.ReadResponse(data, &e); f != nil {
		return dst, f
	}
	m := &e.Delta.Message
	switch e.Type {
	case "message-start":
		dst = append(dst, wire.Chunk{})
	case "content-start":
		if s.starts == nil {
			s.starts = map[int64]int{}
		}
		s.starts[e.Index.N] = s.runes
		dst = s.content(dst, &m.Content.value)
	case "content-delta":
		dst = s.content(dst, &m.Content.value)
	case "tool-plan-delta":
		dst = s.content(dst, &looseContent{Text: m.ToolPlan})
	case "tool-call-start":
		dst = s.begin(dst, e.Index.N, &m.ToolCalls.value)
	case "tool-call-delta":
		dst = s.arguments(dst, e.Index.N, m.ToolCalls.value.Function.Arguments)
	case "tool-call-end":
		if !s.fed {
			dst = s.arguments(dst, e.Index.N, "{}")
		}
	case "citation-start":
		if a := m.Citations.value.annotations(s.starts); a != nil {
			dst = append(dst, wire.Chunk{Annotations: a})
		}
	case "message-end":
		return s.end(dst, &e)
	case "":
		if len(e.Message) > 0 {
			return dst, driver.FailureIn(data)
		}
	}
	return dst, nil
}

// content adds to the text, or to the reasoning.
func (s *stream) content(dst []wire.Chunk, c *looseContent) []wire.Chunk {
	s.runes += runes(c.Text)
	if c.Text == "" && c.Thinking == "" {
		return dst
	}
	return append(dst, wire.Chunk{Text: c.Text, Thinking: c.Thinking})
}

// begin begins a call.
func (s *stream) begin(dst []wire.Chunk, index int64, c *looseCall) []wire.Chunk {
	s.calls, s.fed = append(s.calls, index), false
	dst = append(dst, wire.Chunk{Tool: &wire.ToolDelta{Index: len(s.calls) - 1, ID: c.ID, Name: c.Function.Name}})
	return s.arguments(dst, index, c.Function.Arguments)
}

// arguments adds to the arguments of a call; without one of that index, to the last.
func (s *stream) arguments(dst []wire.Chunk, index int64, text string) []wire.Chunk {
	if text == "" || len(s.calls) == 0 {
		return dst
	}
	s.fed = true
	at := slices.Index(s.calls, index)
	if at < 0 {
		at = len(s.calls) - 1
	}
	return append(dst, wire.Chunk{Tool: &wire.ToolDelta{Index: at, Arguments: text}})
}

// end reads the last event.
func (s *stream) end(dst []wire.Chunk, e *looseEvent) ([]wire.Chunk, error) {
	s.ended = true
	s.usage = ReadUsage(e.Delta.Usage)
	finish, f := ReadFinish(e.Delta.Finish)
	if f == nil && e.Delta.Error != "" {
		_, f = ReadFinish("ERROR")
	}
	if f != nil {
		return dst, f
	}
	if finish == "" {
		finish = wire.FinishStop
	}
	s.finished = true
	return append(dst, wire.Chunk{Finish: finish}), nil
}

// Complete reports whether the last event has come.
func (s *stream) Complete() bool { return s.finished }

// Ended reports the same: it has the usage, too.
func (s *stream) Ended() bool { return s.ended }

// Usage returns what the last event reported.
func (s *stream) Usage() wire.Usage { return s.usage }

// Model returns nothing: Cohere does not name the model.
func (s *stream) Model() string { return "" }
