package mistral

import (
	"bytes"
	"slices"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// stream decodes chat.completion.chunk events.
type stream struct {
	usage    wire.Usage
	model    string
	ended    bool  // [DONE] was seen
	begun    []int // choices with at least one piece
	finished []int // choices with a finish_reason
	calls    []callRef
	thought  []reasoning
}

// callRef is a call whose index is known: Mistral's own indexes are sometimes all 0.
type callRef struct {
	choice, index int
	id            string
}

// reasoning is the reasoning of a choice since its last signature.
type reasoning struct {
	choice int
	text   []byte
}

// Event reads one event.
func (s *stream) Event(dst []wire.Chunk, _ string, data []byte) ([]wire.Chunk, error) {
	data = bytes.TrimSpace(data)
	if s.ended || len(data) == 0 {
		return dst, nil
	}
	if string(data) == "[DONE]" {
		s.ended = true
		return dst, nil
	}
	var in looseResponse
	if f := driver.ReadResponse(data, &in); f != nil {
		return dst, f
	}
	if f := in.failure(data); f != nil {
		return dst, f
	}
	if u := readUsage(in.Usage); u.Known() || u.Bad {
		s.usage = u
	}
	if s.model == "" {
		s.model = in.Model
	}
	for i := range in.Choices {
		c := &in.Choices[i]
		if c.Finish == finishError {
			return dst, brokenOff()
		}
		dst = s.step(dst, c)
	}
	return dst, nil
}

// step converts one choice's delta: the reasoning first, then the text, then the calls.
func (s *stream) step(dst []wire.Chunk, c *looseChoice) []wire.Chunk {
	s.begun = with(s.begun, c.Index)
	for _, t := range c.Delta.Content.thinking {
		dst = s.think(dst, c.Index, t)
	}
	out := wire.Chunk{Index: c.Index, Text: c.Delta.Content.text}
	for i := range c.Delta.ToolCalls {
		if i > 0 {
			dst = append(dst, out)
			out = wire.Chunk{Index: c.Index}
		}
		call := &c.Delta.ToolCalls[i]
		out.Tool = &wire.ToolDelta{Index: s.place(c.Index, call), ID: call.id(), Name: call.Function.Name, Arguments: call.arguments()}
	}
	if out.Finish, out.Ending.Window = readFinish(c.Finish); out.Finish != "" {
		s.finished = with(s.finished, c.Index)
	}
	return append(dst, out)
}

// think adds to the reasoning. A signature ends a block, which is then whole.
func (s *stream) think(dst []wire.Chunk, choice int, t looseThinking) []wire.Chunk {
	i := slices.IndexFunc(s.thought, func(r reasoning) bool { return r.choice == choice })
	if i < 0 {
		i = len(s.thought)
		s.thought = append(s.thought, reasoning{choice: choice})
	}
	r := &s.thought[i]
	r.text = append(r.text, t.text...)
	if t.text != "" {
		dst = append(dst, wire.Chunk{Index: choice, Thinking: t.text})
	}
	if t.signature != "" {
		dst = append(dst, wire.Chunk{Index: choice, Block: &wire.Thinking{Text: string(r.text), Signature: wire.Mark(wire.Mistral, t.signature)}})
		r.text = r.text[:0]
	}
	return dst
}

// place returns the index of a call: that of the same id, the next for a new id, and without an id the
// one that Mistral names.
func (s *stream) place(choice int, c *looseCall) int {
	id, next := c.id(), 0
	for _, r := range s.calls {
		if r.choice != choice {
			continue
		}
		if id != "" && r.id == id {
			return r.index
		}
		next = max(next, r.index+1)
	}
	index := next
	if id == "" && next > 0 && c.Function.Name == "" {
		index = next - 1
		if c.Index.Given {
			index = int(min(c.Index.N, int64(index)))
		}
		return index
	}
	s.calls = append(s.calls, callRef{choice: choice, index: index, id: id})
	return index
}

// with adds n to a set.
func with(set []int, n int) []int {
	if slices.Contains(set, n) {
		return set
	}
	return append(set, n)
}

// Complete reports whether every choice has ended.
func (s *stream) Complete() bool { return len(s.finished) > 0 && len(s.finished) == len(s.begun) }

// Ended reports whether the last event has come.
func (s *stream) Ended() bool { return s.ended }

// Usage returns the last report.
func (s *stream) Usage() wire.Usage { return s.usage }

// Model returns the model that the first piece with one named.
func (s *stream) Model() string { return s.model }
