package googlecaller

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// encoder writes one stream. Each event is a response with more of its candidates. Calls are complete in their
// event, so their arguments are collected first. The last event has the reasons for the end and the usage.
type encoder struct {
	meta       dialect.Meta
	candidates []answering
}

// answering is what has come of a candidate.
type answering struct {
	index   int
	text    []byte // so far: sources name their places in it by bytes
	calls   []wire.ToolDelta
	thought bool // some of the open block of reasoning has been written
	refused bool
	finish  wire.Finish
	sources []wire.Annotation // that have come since text was written
}

// Chunk writes one step.
func (e *encoder) Chunk(dst []byte, c *wire.Chunk) []byte {
	a := e.candidate(c.Index)
	var parts []answerPart
	if thought := a.thinks(c); thought != "" {
		parts = append(parts, answerPart{Text: &thought, Thought: true})
	}
	if text := c.Text + c.Refusal; text != "" {
		a.refused = a.refused || c.Refusal != ""
		a.text = append(a.text, text...)
		parts = append(parts, answerPart{Text: &text})
	}
	if sound := soundOf(c.Audio); sound != nil {
		parts = append(parts, answerPart{Inline: sound})
	}
	if len(parts) > 0 {
		parts = append(a.complete(), parts...)
	}
	if c.Tool != nil {
		a.call(c.Tool)
	}
	a.sources = append(a.sources, c.Annotations...)
	if c.Finish != "" {
		a.finish = c.Finish
	}
	probs := logprobsOf(c.Logprobs)
	if len(parts) == 0 && probs == nil {
		return dst
	}
	return e.event(dst, nil, answerCandidate{Content: a.content(parts), Index: c.Index, Logprobs: probs})
}

// thinks returns the reasoning of a step: a block of which nothing has come before is written whole.
func (a *answering) thinks(c *wire.Chunk) string {
	if c.Block == nil {
		a.thought = a.thought || c.Thinking != ""
		return c.Thinking
	}
	text := c.Thinking
	if !a.thought && text == "" {
		text = c.Block.Text
	}
	a.thought = false
	return text
}

// candidate returns the candidate of an index, which may be a new one.
func (e *encoder) candidate(index int) *answering {
	at := slices.IndexFunc(e.candidates, func(a answering) bool { return a.index == index })
	if at < 0 {
		at, e.candidates = len(e.candidates), append(e.candidates, answering{index: index})
	}
	return &e.candidates[at]
}

// content returns the content of an event. One without parts would be none to Google's libraries.
func (a *answering) content(parts []answerPart) answerContent {
	if len(parts) == 0 {
		parts = []answerPart{{Text: new(string)}}
	}
	return answerContent{Parts: parts, Role: roleModel}
}

// call takes a step of a call. Providers may mix the steps of several.
func (a *answering) call(t *wire.ToolDelta) {
	for i := range a.calls {
		if c := &a.calls[i]; c.Index == t.Index {
			c.Arguments += t.Arguments
			return
		}
	}
	a.calls = append(a.calls, *t)
}

// complete returns the calls before more text, and forgets them. One whose arguments are not complete yet
// stays, with those after it: its step may come after the text.
func (a *answering) complete() []answerPart {
	var out []answerPart
	for len(a.calls) > 0 {
		c := &a.calls[0]
		if args := jsontext.Value(c.Arguments); !args.IsValid() || args.Kind() != '{' {
			break
		}
		out = append(out, callOf(c.ID, c.Name, c.Arguments))
		a.calls = a.calls[1:]
	}
	return out
}

// End writes the rest of all candidates, the reasons for the end and the usage.
func (e *encoder) End(dst []byte, u *wire.Usage) []byte {
	if len(e.candidates) == 0 {
		e.candidate(0)
	}
	last := make([]answerCandidate, 0, len(e.candidates))
	for i := range e.candidates {
		a := &e.candidates[i]
		var parts []answerPart
		for _, c := range a.calls {
			parts = append(parts, callOf(c.ID, c.Name, c.Arguments))
		}
		last = append(last, answerCandidate{
			Content: a.content(parts), Finish: finishOf(a.finish, a.refused), Index: a.index, Grounding: groundingOf(string(a.text), a.sources),
		})
	}
	return e.event(dst, usageOf(u), last...)
}

// Fail writes the error. No candidate has a reason for its end then.
func (e *encoder) Fail(dst []byte, err *fault.Error) []byte {
	dst = append(append(dst, "data: "...), inOwnWords(err).Google("")...)
	return append(dst, "\n\n"...)
}

// event appends one event.
func (e *encoder) event(dst []byte, u *answerUsage, candidates ...answerCandidate) []byte {
	dst = appendJSON(append(dst, "data: "...), &answer{Candidates: candidates, Usage: u, Model: e.meta.Model, ID: e.meta.ID})
	return append(dst, "\n\n"...)
}
