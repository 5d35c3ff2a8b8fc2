package gemini

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// mostCandidates bounds the state of a stream.
const mostCandidates = 128

// Stream returns a decoder of the events of streamGenerateContent.
func (Codec) Stream() driver.Stream { return &stream{} }

// stream decodes events, each of which is a response with more of its candidates. No event says that it
// is the last one.
type stream struct {
	id         string
	model      string
	usage      looseUsage
	spare      counts // whose lists are used again
	begun      bool
	candidates []candidate
}

// candidate is what has come of a candidate.
type candidate struct {
	index    int
	finished bool
	calls    int
	spoken   bool   // some sound has come
	text     []byte // so far: sources name their places in it by bytes
	thoughts []byte // of the open block of reasoning
	sources  []wire.Annotation
}

// Event reads one event.
func (s *stream) Event(dst []wire.Chunk, _ string, data []byte) ([]wire.Chunk, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "[DONE]" || s.Complete() && data[0] != '{' {
		return dst, nil
	}
	if more, ok := s.texts(dst, data); ok {
		return more, nil
	}
	var in looseResponse
	if f := driver.ReadResponse(data, &in); f != nil {
		return dst, f
	}
	if driver.Given(in.Error) {
		return dst, failureIn(data)
	}
	return s.read(dst, &in)
}

// read appends what an event means.
func (s *stream) read(dst []wire.Chunk, in *looseResponse) ([]wire.Chunk, error) {
	if s.id == "" {
		s.id = in.ID
	}
	if s.model == "" {
		s.model = in.Model
	}
	s.usage.add(in.Usage)
	if !s.begun {
		s.begun = true
		before := s.usage.before()
		dst = append(dst, wire.Chunk{Usage: &before})
	}
	for i := range in.Candidates {
		one := &in.Candidates[i]
		c := s.candidate(one.Index)
		if c == nil {
			continue
		}
		var err error
		if dst, err = s.step(dst, c, one); err != nil {
			return dst, err
		}
	}
	if in.Feedback.BlockReason != "" {
		dst = s.block(dst)
	}
	return dst, nil
}

// candidate returns the candidate of an index, and begins it if it is new; nil for an index that
// cannot be one.
func (s *stream) candidate(index int) *candidate {
	at := slices.IndexFunc(s.candidates, func(c candidate) bool { return c.index == index })
	if at < 0 {
		if index < 0 || index >= mostCandidates {
			return nil
		}
		at, s.candidates = len(s.candidates), append(s.candidates, candidate{index: index})
	}
	return &s.candidates[at]
}

// block ends what the provider's filter has stopped: the prompt before it had a response, or the response.
func (s *stream) block(dst []wire.Chunk) []wire.Chunk {
	if len(s.candidates) == 0 {
		s.candidate(0)
	}
	for i := range s.candidates {
		if c := &s.candidates[i]; !c.finished {
			c.finished = true
			dst = append(dst, wire.Chunk{Index: c.index, Finish: wire.FinishFilter})
		}
	}
	return dst
}

// step reads more of a candidate.
func (s *stream) step(dst []wire.Chunk, c *candidate, in *looseCandidate) ([]wire.Chunk, error) {
	if c.finished {
		return s.late(dst, c, in), nil
	}
	bases := make([]int, 0, len(in.Content.Parts))
	for i := range in.Content.Parts {
		bases = append(bases, len(c.text))
		var err error
		if dst, err = s.part(dst, c, &in.Content.Parts[i]); err != nil {
			return dst, err
		}
	}
	if probs := in.Logprobs.canonical(); probs != nil {
		dst = append(dst, wire.Chunk{Index: c.index, Logprobs: probs})
	}
	if more := c.annotate(&in.Grounding, bases); more != nil {
		dst = append(dst, wire.Chunk{Index: c.index, Annotations: more})
	}
	s.usage.searched(&in.Grounding, s.model)
	if finish := readFinish(in.Finish); finish != "" {
		c.finished = true
		if c.calls > 0 && finish == wire.FinishStop {
			finish = wire.FinishToolCalls
		}
		dst = append(dst, wire.Chunk{Index: c.index, Finish: finish})
	}
	return dst, nil
}

// late reads what may follow the end of a candidate: its sources, and the signature of its text.
func (s *stream) late(dst []wire.Chunk, c *candidate, in *looseCandidate) []wire.Chunk {
	s.usage.searched(&in.Grounding, s.model)
	if more := c.annotate(&in.Grounding, nil); more != nil {
		dst = append(dst, wire.Chunk{Index: c.index, Annotations: more})
	}
	return dst
}

// part reads a part of a candidate.
func (s *stream) part(dst []wire.Chunk, c *candidate, p *loosePart) ([]wire.Chunk, error) {
	own := ownPart{p.OwnCall, p.OwnResult, p.Signature}
	switch proof := own.proof(); {
	case p.Call != nil:
		return s.call(dst, c, p), nil
	case proof != "":
		c.thoughts = c.thoughts[:0]
		return append(dst, wire.Chunk{Index: c.index, Block: &wire.Thinking{Redacted: proof}}), nil
	case p.Thought:
		if p.Text != "" {
			c.thoughts = append(c.thoughts, p.Text...)
			dst = append(dst, wire.Chunk{Index: c.index, Thinking: p.Text})
		}
		return dst, nil
	case p.Inline != nil:
		id := ""
		if !c.spoken {
			id = fmt.Sprintf("audio_%s_%d", s.id, c.index)
		}
		delta := p.Inline.delta(id)
		if delta == nil {
			return dst, p.Inline.failure()
		}
		c.spoken = true
		return append(dst, wire.Chunk{Index: c.index, Audio: delta}), nil
	}
	if p.Text != "" {
		c.thoughts = c.thoughts[:0]
		c.text = append(c.text, p.Text...)
		dst = append(dst, wire.Chunk{Index: c.index, Text: p.Text})
	}
	if p.Signature != "" {
		dst = append(dst, wire.Chunk{Index: c.index, Block: &wire.Thinking{Redacted: ProofOf("", p.Signature)}})
	}
	return dst, nil
}

// call reads a call, which is always complete. Its signature ends the reasoning before it.
func (s *stream) call(dst []wire.Chunk, c *candidate, p *loosePart) []wire.Chunk {
	arguments := argumentsOf(p.Call.Args)
	id := callID(s.id, c.index, c.calls, p.Call, arguments)
	if p.Signature != "" {
		block := &wire.Thinking{Redacted: ProofOf(id, p.Signature)}
		if len(c.thoughts) > 0 {
			block = &wire.Thinking{Text: string(c.thoughts), Signature: block.Redacted}
		}
		dst = append(dst, wire.Chunk{Index: c.index, Block: block})
	}
	c.thoughts = c.thoughts[:0]
	dst = append(dst, wire.Chunk{Index: c.index, Tool: &wire.ToolDelta{Index: c.calls, ID: id, Name: p.Call.Name, Arguments: arguments}})
	c.calls++
	return dst
}

// Complete reports whether every candidate that began has ended.
func (s *stream) Complete() bool {
	return len(s.candidates) > 0 && !slices.ContainsFunc(s.candidates, func(c candidate) bool { return !c.finished })
}

// Ended reports false: another candidate, sources or usage may follow in an event of their own.
func (s *stream) Ended() bool { return false }

// Usage returns what was reported so far.
func (s *stream) Usage() wire.Usage {
	if s.Complete() || s.usage.begun() {
		return s.usage.report()
	}
	return s.usage.before()
}

// Model returns the model that the first event with one named.
func (s *stream) Model() string { return s.model }
