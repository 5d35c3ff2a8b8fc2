package converse

import (
	"slices"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// encoder writes one stream. Bedrock writes one block after the other, so a step that belongs to a later block waits
// while the arguments of a call are not complete: some providers mix the steps of calls that the model makes at once.
// Only calls have an event that begins them.
type encoder struct {
	meta    dialect.Meta
	begun   bool // messageStart is written
	blocks  int  // blocks that are begun
	open    kind
	cited   bool // the open block of text has its sources, so that more text is another block
	tool    int  // provider's index of the open call
	input   dialect.Arguments
	blank   bool   // the open call has no arguments yet, but for space
	waiting []step // in order
	calls   []int  // provider's indexes of the calls that are begun
	finish  wire.Finish
	ending  wire.Ending
	refused bool
}

// kind is what a step of a response is of.
type kind uint8

// The kinds. Those of text, thinking and calls have a block that is open until another one begins.
const (
	nothing kind = iota
	words
	thinking
	call
	proof   // of the open block of thinking, or a whole block
	sources // of the open block of text
)

// step is a step of one block.
type step struct {
	kind    kind
	text    []byte // of text, thinking, or arguments
	tool    wire.ToolDelta
	block   *wire.Thinking
	sources []wire.Annotation
}

// Chunk writes one step. The response has one choice.
func (e *encoder) Chunk(dst []byte, c *wire.Chunk) []byte {
	if c.Index != 0 {
		return dst
	}
	dst = e.start(dst)
	if c.Thinking != "" {
		dst = e.add(dst, thinking, c.Thinking)
	}
	if c.Block != nil {
		dst = e.take(dst, &step{kind: proof, block: c.Block})
	}
	if c.Text != "" {
		dst = e.add(dst, words, c.Text)
	}
	if c.Refusal != "" {
		e.refused = true
		dst = e.add(dst, words, c.Refusal)
	}
	if c.Annotations != nil {
		dst = e.take(dst, &step{kind: sources, sources: c.Annotations})
	}
	if c.Tool != nil {
		dst = e.call(dst, c.Tool)
	}
	if c.Finish != "" {
		e.finish, e.ending = c.Finish, c.Ending
		dst = e.drain(dst, true)
	}
	return dst
}

// add takes a step of text or thinking.
func (e *encoder) add(dst []byte, k kind, text string) []byte {
	if e.open == k && !e.cited && len(e.waiting) == 0 {
		return e.delta(dst, text)
	}
	return e.take(dst, &step{kind: k, text: []byte(text)})
}

// call takes a step of a call.
func (e *encoder) call(dst []byte, t *wire.ToolDelta) []byte {
	if e.open == call && e.tool == t.Index {
		return e.drain(e.delta(dst, t.Arguments), false)
	}
	if slices.Contains(e.calls, t.Index) {
		return dst // its arguments were complete
	}
	for i := range e.waiting {
		if w := &e.waiting[i]; w.kind == call && w.tool.Index == t.Index {
			w.text = append(w.text, t.Arguments...)
			return dst
		}
	}
	return e.take(dst, &step{kind: call, tool: *t, text: []byte(t.Arguments)})
}

// take writes a step, or lets it wait until the open block may end.
func (e *encoder) take(dst []byte, s *step) []byte {
	if len(e.waiting) == 0 && e.mayEnd() {
		return e.write(dst, s)
	}
	e.waiting = append(e.waiting, *s)
	return dst
}

// drain writes the steps that wait, until one begins a block that may not end; all of them if nothing more comes.
func (e *encoder) drain(dst []byte, all bool) []byte {
	for len(e.waiting) > 0 && (all || e.mayEnd()) {
		s := e.waiting[0]
		e.waiting = e.waiting[1:]
		dst = e.write(dst, &s)
	}
	return dst
}

// mayEnd reports whether the open block may end: the arguments of a call must be complete.
func (e *encoder) mayEnd() bool {
	return e.open != call || e.input.Complete()
}

// write writes a step, and begins its block.
func (e *encoder) write(dst []byte, s *step) []byte {
	switch s.kind {
	case proof:
		return e.proof(dst, s.block)
	case sources:
		if e.open != words {
			return dst // there is no text that they could belong to
		}
		for i := range s.sources {
			if s.sources[i].URL != "" {
				e.cited = true
				dst = appendJSON(e.deltaOf(dst, `{"citation":`), citationOf(&s.sources[i]))
				dst = append(dst, "}}\n\n"...)
			}
		}
		return dst
	case call:
		dst = e.endBlock(dst)
		dst = e.event(dst, "contentBlockStart")
		dst = append(dst, `,"start":{"toolUse":{"toolUseId":"`+callID(s.tool.ID)+`","name":`...)
		dst = append(splice.Quote(dst, s.tool.Name), "}}}\n\n"...)
		e.tool, e.input, e.blank, e.calls = s.tool.Index, dialect.Arguments{}, true, append(e.calls, s.tool.Index)
		e.open = call
	case words, thinking:
		if e.open != s.kind || e.cited {
			dst = e.endBlock(dst)
			e.open, e.cited = s.kind, false
		}
	case nothing:
	}
	return e.delta(dst, string(s.text))
}

// proof writes what is known of a block of reasoning at its end. If nothing of the block was streamed, it is
// written whole.
func (e *encoder) proof(dst []byte, t *wire.Thinking) []byte {
	if t.Redacted != "" {
		dst = e.endBlock(dst)
		e.open = thinking
		dst = append(e.deltaOf(dst, `{"reasoningContent":{"redactedContent":"`), redactedFor(t.Redacted)...)
		return e.endBlock(append(dst, "\"}}}\n\n"...))
	}
	if e.open != thinking {
		if t.Text == "" && t.Signature == "" {
			return dst
		}
		dst = e.write(dst, &step{kind: thinking, text: []byte(t.Text)})
	}
	if t.Signature != "" {
		dst = e.deltaOf(dst, `{"reasoningContent":{"signature":`)
		dst = append(splice.Quote(dst, proofFor(t.Signature)), "}}}\n\n"...)
	}
	return e.endBlock(dst)
}

// delta writes more of the open block.
func (e *encoder) delta(dst []byte, more string) []byte {
	if more == "" {
		return dst
	}
	switch e.open {
	case words:
		dst = splice.Quote(e.deltaOf(dst, `{"text":`), more)
		return append(dst, "}}\n\n"...)
	case thinking:
		dst = splice.Quote(e.deltaOf(dst, `{"reasoningContent":{"text":`), more)
	case call:
		e.input.Read(more)
		e.blank = e.blank && strings.Trim(more, jsonSpace) == ""
		dst = splice.Quote(e.deltaOf(dst, `{"toolUse":{"input":`), more)
	case nothing, proof, sources:
		return dst
	}
	return append(dst, "}}}\n\n"...)
}

// event begins an event of the open block.
func (e *encoder) event(dst []byte, name string) []byte {
	dst = append(append(append(dst, "event: "...), name...), "\ndata: {\"contentBlockIndex\":"...)
	return strconv.AppendInt(dst, int64(e.blocks), 10)
}

// deltaOf begins an event with a delta of the open block.
func (e *encoder) deltaOf(dst []byte, delta string) []byte {
	return append(append(e.event(dst, "contentBlockDelta"), `,"delta":`...), delta...)
}

// endBlock ends the open block, if there is one.
func (e *encoder) endBlock(dst []byte) []byte {
	if e.open == nothing {
		return dst
	}
	if e.open == call && e.blank {
		dst = e.delta(dst, "{}") // callers read JSON
	}
	dst = append(e.event(dst, "contentBlockStop"), "}\n\n"...)
	e.open, e.cited = nothing, false
	e.blocks++
	return dst
}

// start writes messageStart, once.
func (e *encoder) start(dst []byte) []byte {
	if e.begun {
		return dst
	}
	e.begun = true
	return append(dst, "event: messageStart\ndata: {\"role\":\"assistant\"}\n\n"...)
}

// End writes the reason for the end, and the usage.
func (e *encoder) End(dst []byte, u *wire.Usage) []byte {
	dst = e.endBlock(e.drain(e.start(dst), true))
	dst = append(dst, "event: messageStop\ndata: {\"stopReason\":\""+stopOf(e.finish, &e.ending, e.refused)+"\"}\n\nevent: metadata\ndata: "...)
	dst = appendJSON(dst, &struct {
		Usage   answerUsage   `json:"usage"`
		Metrics answerMetrics `json:"metrics"`
	}{usageOf(u), metricsOf(e.meta)})
	return append(dst, "\n\n"...)
}

// Fail writes the error as an exception of those that a stream of Bedrock's may have. There is no messageStop after it.
func (e *encoder) Fail(dst []byte, err *fault.Error) []byte {
	dst = append(append(append(dst, "event: "...), exceptionOf(err)...), "\ndata: {\"message\":"...)
	return append(splice.Quote(dst, err.Message()), "}\n\n"...)
}

// exceptionOf names the exception for an error.
func exceptionOf(e *fault.Error) string {
	switch e.AWSType() {
	case "ThrottlingException", "ServiceQuotaExceededException":
		return "throttlingException"
	case "ValidationException", "AccessDeniedException", "ResourceNotFoundException":
		return "validationException"
	case "ServiceUnavailableException":
		return "serviceUnavailableException"
	case "ModelErrorException", "ModelTimeoutException":
		return "modelStreamErrorException"
	}
	return "internalServerException"
}
