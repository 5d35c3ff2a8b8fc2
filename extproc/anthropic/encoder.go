package anthropic

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// encoder writes one stream. Anthropic's streams write one block after the other, so a step that
// belongs to a later block waits while the arguments of a tool call are not complete: some
// providers mix the steps of calls that the model makes at once.
type encoder struct {
	meta    dialect.Meta
	begun   bool // message_start is written
	blocks  int  // blocks that are begun
	open    pieceKind
	cited   bool // the open block of text has its sources, so that more text is another block
	tool    int  // provider's index of the open tool call
	input   dialect.Arguments
	waiting []piece // in order
	calls   []int   // provider's indexes of the tool calls that are begun
	stop    stop
}

// pieceKind is what a piece of a response is.
type pieceKind uint8

// The kinds of pieces. Those of text, thinking and tool calls have a block that is open until
// another one begins.
const (
	noPiece pieceKind = iota
	textPiece
	thinkingPiece
	toolPiece
	proofPiece    // the proof of the open block of thinking, or a whole block
	citationPiece // sources of the open block of text
)

// piece is a step of one block.
type piece struct {
	kind    pieceKind
	text    []byte // of text, thinking, or arguments
	tool    wire.ToolDelta
	block   *wire.Thinking
	sources []wire.Annotation
}

// Chunk writes one step. The response has one choice; those that nobody requested are left out.
func (e *encoder) Chunk(dst []byte, c *wire.Chunk) []byte {
	if c.Index != 0 {
		return dst
	}
	dst = e.start(dst, c.Usage)
	if c.Thinking != "" {
		dst = e.add(dst, thinkingPiece, c.Thinking)
	}
	if c.Block != nil {
		dst = e.take(dst, &piece{kind: proofPiece, block: c.Block})
	}
	if c.Text != "" {
		dst = e.add(dst, textPiece, c.Text)
	}
	if c.Refusal != "" {
		e.stop.refused = true
		dst = e.add(dst, textPiece, c.Refusal)
	}
	if c.Annotations != nil {
		dst = e.take(dst, &piece{kind: citationPiece, sources: c.Annotations})
	}
	if c.Tool != nil {
		dst = e.call(dst, c.Tool)
	}
	if c.Finish != "" {
		e.stop.finish, e.stop.ending = c.Finish, c.Ending
		dst = e.drain(dst, true)
	}
	return dst
}

// add takes a step of text or thinking.
func (e *encoder) add(dst []byte, kind pieceKind, text string) []byte {
	if e.open == kind && !e.cited && len(e.waiting) == 0 {
		return e.delta(dst, text)
	}
	return e.take(dst, &piece{kind: kind, text: []byte(text)})
}

// call takes a step of a tool call.
func (e *encoder) call(dst []byte, t *wire.ToolDelta) []byte {
	if e.open == toolPiece && e.tool == t.Index {
		dst = e.delta(dst, t.Arguments)
		return e.drain(dst, false)
	}
	if slices.Contains(e.calls, t.Index) {
		return dst // its arguments were complete
	}
	for i := range e.waiting {
		if p := &e.waiting[i]; p.kind == toolPiece && p.tool.Index == t.Index {
			p.text = append(p.text, t.Arguments...)
			return dst
		}
	}
	return e.take(dst, &piece{kind: toolPiece, tool: *t, text: []byte(t.Arguments)})
}

// take writes a piece, or lets it wait until the open block may end.
func (e *encoder) take(dst []byte, p *piece) []byte {
	if len(e.waiting) == 0 && e.mayEnd() {
		return e.write(dst, p)
	}
	e.waiting = append(e.waiting, *p)
	return dst
}

// drain writes the pieces that wait, until one begins a block that may not end; all of them if
// nothing more comes.
func (e *encoder) drain(dst []byte, all bool) []byte {
	for len(e.waiting) > 0 && (all || e.mayEnd()) {
		p := e.waiting[0]
		e.waiting = e.waiting[1:]
		dst = e.write(dst, &p)
	}
	return dst
}

// mayEnd reports whether the open block may end: the arguments of a tool call must be complete.
func (e *encoder) mayEnd() bool { return e.open != toolPiece || e.input.Complete() }

// write writes a piece, and begins its block.
func (e *encoder) write(dst []byte, p *piece) []byte {
	switch p.kind {
	case proofPiece:
		return e.proof(dst, p.block)
	case citationPiece:
		if e.open != textPiece {
			return dst // there is no text that it could belong to
		}
		e.cited = true
		for i := range p.sources {
			dst = e.deltaOf(dst, `{"type":"citations_delta","citation":`)
			dst = append(append(dst, citationOf(&p.sources[i])...), "}}\n\n"...)
		}
		return dst
	case textPiece:
		if e.open != textPiece || e.cited {
			dst = e.beginBlock(dst, textPiece, &answerBlock{Type: "text", Text: new(string)})
		}
	case thinkingPiece:
		if e.open != thinkingPiece {
			dst = e.beginBlock(dst, thinkingPiece, &answerBlock{Type: "thinking", Thinking: new(string), Signature: new(string)})
		}
	case toolPiece:
		id := answerID(p.tool.ID, e.meta, len(e.calls))
		dst = e.beginBlock(dst, toolPiece, &answerBlock{Type: "tool_use", ID: id, Name: &p.tool.Name, Input: inputOf("")})
		e.tool, e.input, e.calls = p.tool.Index, dialect.Arguments{}, append(e.calls, p.tool.Index)
	case noPiece:
	}
	return e.delta(dst, string(p.text))
}

// proof writes what is known of a block of thinking at its end. If nothing of the block was
// streamed, it is written whole.
func (e *encoder) proof(dst []byte, t *wire.Thinking) []byte {
	if t.Redacted != "" {
		block := thinkingBlock(t)
		return e.endBlock(e.beginBlock(dst, proofPiece, &block))
	}
	if e.open != thinkingPiece {
		if t.Text == "" && t.Signature == "" {
			return dst
		}
		dst = e.write(dst, &piece{kind: thinkingPiece, text: []byte(t.Text)})
	}
	if t.Signature != "" {
		dst = e.deltaOf(dst, `{"type":"signature_delta","signature":`)
		dst = append(quote(dst, t.Signature), "}}\n\n"...)
	}
	return e.endBlock(dst)
}

// delta writes more of the open block.
func (e *encoder) delta(dst []byte, text string) []byte {
	if text == "" {
		return dst
	}
	switch e.open {
	case textPiece:
		dst = e.deltaOf(dst, `{"type":"text_delta","text":`)
	case thinkingPiece:
		dst = e.deltaOf(dst, `{"type":"thinking_delta","thinking":`)
	case toolPiece:
		e.input.Read(text)
		dst = e.deltaOf(dst, `{"type":"input_json_delta","partial_json":`)
	case noPiece, proofPiece, citationPiece:
		return dst
	}
	return append(quote(dst, text), "}}\n\n"...)
}

// deltaOf begins an event with a delta of the open block.
func (e *encoder) deltaOf(dst []byte, delta string) []byte {
	dst = append(dst, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"...)
	dst = strconv.AppendInt(dst, int64(e.blocks-1), 10)
	return append(append(dst, `,"delta":`...), delta...)
}

// beginBlock ends the open block and begins another one.
func (e *encoder) beginBlock(dst []byte, kind pieceKind, b *answerBlock) []byte {
	dst = e.endBlock(dst)
	dst = event(dst, "content_block_start", &blockStart{Type: "content_block_start", Index: e.blocks, Block: b})
	e.open, e.cited = kind, false
	e.blocks++
	return dst
}

// endBlock ends the open block, if there is one.
func (e *encoder) endBlock(dst []byte) []byte {
	if e.open == noPiece {
		return dst
	}
	e.open = noPiece
	return event(dst, "content_block_stop", &blockStop{Type: "content_block_stop", Index: e.blocks - 1})
}

// start writes message_start, once.
func (e *encoder) start(dst []byte, u *wire.Usage) []byte {
	if e.begun {
		return dst
	}
	e.begun = true
	return event(dst, "message_start", &messageStart{Type: "message_start", Message: begin(e.meta, u)})
}

// End writes the reason for the end and the usage.
func (e *encoder) End(dst []byte, u *wire.Usage) []byte {
	dst = e.endBlock(e.drain(e.start(dst, nil), true))
	e.stop.tools = len(e.calls) > 0
	last := &messageDelta{Type: "message_delta", Usage: usageOf(u)}
	last.Usage.Created = nil
	last.Delta.Reason, last.Delta.Details = stopReason(&e.stop), e.stop.ending.Details
	if last.Delta.Reason == stoppedByText {
		last.Delta.Sequence = &e.stop.ending.Sequence
	}
	dst = event(dst, "message_delta", last)
	return event(dst, "message_stop", &messageStop{Type: "message_stop"})
}

// Fail writes the error. There is no message_stop after it.
func (e *encoder) Fail(dst []byte, err *fault.Error) []byte {
	return event(dst, "error", jsontext.Value(err.Anthropic("")))
}
