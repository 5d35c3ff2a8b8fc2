package openai

import (
	"bytes"
	"slices"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// chatStream decodes chat.completion.chunk events.
type chatStream struct {
	usage    wire.Usage
	model    string
	ended    bool  // [DONE] was seen
	begun    []int // choices with at least one chunk
	finished []int // choices with a finish_reason
	calls    []callRef
	tagged   bool // the reasoning may stand in the text
	tags     []tag
}

// callRef is a tool call whose index is known: some compatible providers leave
// out the index, or send only the id.
type callRef struct {
	choice, index int
	id            string
}

// Event reads one event. Its name is not used: the data has everything.
func (s *chatStream) Event(dst []wire.Chunk, _ string, data []byte) ([]wire.Chunk, error) {
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
	if driver.Given(in.Error) {
		return dst, driver.FailureIn(data)
	}
	if u := readUsage(in.Usage); u.Known() || u.Bad {
		s.usage = u
	} else if u := readUsage(in.XGroq.Usage); u.Known() || u.Bad {
		s.usage = u
	}
	if s.model == "" {
		s.model = in.Model
	}
	for i := range in.Choices {
		dst = s.step(dst, &in.Choices[i])
		if c := &dst[len(dst)-1]; c.Finish != "" && c.Annotations == nil {
			c.Annotations = in.sources()
		}
	}
	return dst, nil
}

// step converts one choice's delta to a chunk, and one more for each tool call
// after the first.
func (s *chatStream) step(dst []wire.Chunk, c *looseChoice) []wire.Chunk {
	d := &c.Delta
	s.begun = with(s.begun, c.Index)
	out := wire.Chunk{
		Index: c.Index, Text: d.Content.text, Refusal: d.Refusal, Thinking: d.thinking(),
		Annotations: annotations(d.Annotations), Audio: givenOrNil(d.Audio), Logprobs: givenOrNil(c.Logprobs),
	}
	finish := readFinish(c.Finish)
	if s.tagged {
		t := s.tag(c.Index)
		t.last = finish != "" || len(d.ToolCalls) > 0
		out.Text, out.Thinking = t.split(out.Text, out.Thinking)
	}
	for i := range d.ToolCalls {
		if i > 0 {
			dst = append(dst, out)
			out = wire.Chunk{Index: c.Index}
		}
		out.Tool = s.tool(c.Index, &d.ToolCalls[i])
	}
	if out.Finish = finish; finish != "" {
		s.finished = with(s.finished, c.Index)
	}
	return append(dst, out)
}

// tool finds the call that a delta belongs to.
func (s *chatStream) tool(choice int, c *chatCall) *wire.ToolDelta {
	name, arguments, custom := c.parts()
	ref := callRef{choice: choice, id: c.ID}
	switch {
	case c.Index != nil:
		ref.index = *c.Index
	default:
		ref.index = s.place(choice, c.ID)
	}
	if !slices.ContainsFunc(s.calls, func(r callRef) bool { return r.choice == choice && r.index == ref.index }) {
		s.calls = append(s.calls, ref)
	}
	return &wire.ToolDelta{Index: ref.index, ID: c.ID, Name: name, Arguments: arguments, Custom: custom}
}

// place returns the index of a call without one: that of the same id, else the
// next for a new id, else the last.
func (s *chatStream) place(choice int, id string) int {
	last := -1
	for _, r := range s.calls {
		if r.choice != choice {
			continue
		}
		if id != "" && r.id == id {
			return r.index
		}
		last = max(last, r.index)
	}
	if id != "" || last < 0 {
		return last + 1
	}
	return last
}

// Complete reports whether the response is complete: not every compatible
// provider sends [DONE], but all send a finish_reason.
func (s *chatStream) Complete() bool {
	return s.ended || len(s.finished) > 0 && len(s.finished) == len(s.begun)
}

// Ended reports whether the last event has come: usage follows the finish_reason.
func (s *chatStream) Ended() bool { return s.ended }

// with adds n to a set.
func with(set []int, n int) []int {
	if slices.Contains(set, n) {
		return set
	}
	return append(set, n)
}

// Usage returns the last report.
func (s *chatStream) Usage() wire.Usage { return s.usage }

// Model returns the model that the first chunk with one named.
func (s *chatStream) Model() string { return s.model }
