package coherecaller

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// encoder writes one stream. Cohere's streams write one part of the content, and one call, after the other, so a step that
// belongs to a later one waits while the arguments of a call are not complete: some providers mix the steps of calls
// that the model makes at once.
type encoder struct {
	meta     dialect.Meta
	begun    bool // message-start is written
	open     pieceKind
	thought  bool // some of the open block of reasoning has come
	contents int  // parts of the content that are begun
	sources  int  // citations so far
	text     []byte
	runes    int // code points of the text before its last part
	last     int // index of that part
	tool     int // provider's index of the open call
	input    dialect.Arguments
	empty    bool   // the open call has no arguments yet
	blank    string // white space before them
	calls    []int
	waiting  []piece // in order
	stop     stop
}

// pieceKind is what a piece of a response is.
type pieceKind uint8

// The kinds of pieces.
const (
	noPiece pieceKind = iota
	textPiece
	thinkingPiece
	toolPiece
)

// piece is a step of one part or call.
type piece struct {
	kind     pieceKind
	text     []byte // of text, thinking, or arguments
	tool     wire.ToolDelta
	sources  []wire.Annotation
	logprobs []answerLogprob
}

// Chunk writes one step. The response has one choice; those that nobody requested are left out.
func (e *encoder) Chunk(dst []byte, c *wire.Chunk) []byte {
	if c.Index != 0 {
		return dst
	}
	dst = e.start(dst)
	dst = e.think(dst, c)
	dst = e.say(dst, c)
	if c.Tool != nil {
		dst = e.call(dst, c.Tool)
	}
	if c.Finish != "" {
		e.stop.finish, e.stop.ending = c.Finish, c.Ending
		dst = e.drain(dst, true)
	}
	return dst
}

// think takes a step of the reasoning. A block of which nothing has come before is written whole.
func (e *encoder) think(dst []byte, c *wire.Chunk) []byte {
	thought := c.Thinking
	e.thought = e.thought || thought != ""
	if c.Block != nil && !e.thought {
		thought = c.Block.Text
	}
	if thought != "" {
		dst = e.take(dst, &piece{kind: thinkingPiece, text: []byte(thought)})
	}
	if c.Block != nil {
		if e.thought = false; e.open == thinkingPiece && len(e.waiting) == 0 {
			dst = e.close(dst)
		}
	}
	return dst
}

// say takes a step of the text, with its sources and probabilities. Most steps are more of a text that is open.
func (e *encoder) say(dst []byte, c *wire.Chunk) []byte {
	text, probabilities := c.Text+c.Refusal, logprobsOf(c.Logprobs)
	switch {
	case len(probabilities) > 0 || len(c.Annotations) > 0:
	case text == "":
		return dst
	case e.open == textPiece && len(e.waiting) == 0:
		e.text = append(e.text, text...)
		return e.delta(dst, `{"text":`, text, nil)
	}
	return e.take(dst, &piece{kind: textPiece, text: []byte(text), sources: c.Annotations, logprobs: probabilities})
}

// call takes a step of a call.
func (e *encoder) call(dst []byte, t *wire.ToolDelta) []byte {
	if e.open == toolPiece && e.tool == t.Index {
		return e.drain(e.arguments(dst, t.Arguments), false)
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

// take writes a piece, or lets it wait until the open call may end.
func (e *encoder) take(dst []byte, p *piece) []byte {
	if len(e.waiting) == 0 && e.mayEnd() {
		return e.write(dst, p)
	}
	e.waiting = append(e.waiting, *p)
	return dst
}

// drain writes the pieces that wait, until one begins while a call may not end; all of them if nothing more comes.
func (e *encoder) drain(dst []byte, all bool) []byte {
	for len(e.waiting) > 0 && (all || e.mayEnd()) {
		p := e.waiting[0]
		e.waiting = e.waiting[1:]
		dst = e.write(dst, &p)
	}
	return dst
}

// mayEnd reports whether what is open may end: the arguments of a call must be complete.
func (e *encoder) mayEnd() bool { return e.open != toolPiece || e.input.Complete() }

// write writes a piece, and begins its part or call.
func (e *encoder) write(dst []byte, p *piece) []byte {
	switch p.kind {
	case textPiece:
		if len(p.text) > 0 || len(p.logprobs) > 0 {
			dst = e.said(dst, p)
		}
		return e.cite(dst, p.sources)
	case thinkingPiece:
		if e.open != thinkingPiece {
			dst = e.begin(dst, thinkingPiece, answerContent{Type: "thinking", Thinking: new(string)})
		}
		return e.delta(dst, `{"thinking":`, string(p.text), nil)
	case toolPiece:
		dst = e.close(dst)
		e.open, e.tool, e.input, e.empty, e.calls = toolPiece, p.tool.Index, dialect.Arguments{}, true, append(e.calls, p.tool.Index)
		one := answerCall{p.tool.ID, "function", answerFunction{p.tool.Name, ""}}
		dst = event(dst, "tool-call-start", &callStart{Type: "tool-call-start", Index: len(e.calls) - 1, Delta: deltaOf(callMessage{one})})
		return e.arguments(dst, string(p.text))
	case noPiece:
	}
	return dst
}

// said writes more of the text, with the probabilities of its tokens.
func (e *encoder) said(dst []byte, p *piece) []byte {
	if e.open != textPiece {
		dst = e.begin(dst, textPiece, answerContent{Type: "text", Text: new(string)})
	}
	e.text = append(e.text, p.text...)
	if len(p.logprobs) <= 1 {
		return e.delta(dst, `{"text":`, string(p.text), p.logprobs)
	}
	// An event has the probabilities of one piece of text.
	rest := string(p.text)
	for i := range p.logprobs {
		text := rest[:min(len(p.logprobs[i].Text), len(rest))]
		if i == len(p.logprobs)-1 {
			text = rest
		}
		rest = rest[len(text):]
		dst = e.delta(dst, `{"text":`, text, p.logprobs[i:i+1])
	}
	return dst
}

// cite writes the sources of the text so far.
func (e *encoder) cite(dst []byte, sources []wire.Annotation) []byte {
	for i := range sources {
		one, ok := citationOf(string(e.text), &sources[i])
		if !ok {
			continue
		}
		if one.Content = e.last; one.Start >= e.runes {
			one.Start, one.End = one.Start-e.runes, one.End-e.runes
		}
		dst = event(dst, "citation-start", &citationStart{Type: "citation-start", Index: e.sources, Delta: deltaOf(citationMessage{one})})
		dst = event(dst, "citation-end", &ended{Type: "citation-end", Index: e.sources})
		e.sources++
	}
	return dst
}

// arguments writes more of the open call's arguments.
func (e *encoder) arguments(dst []byte, text string) []byte {
	if text = e.blank + text; strings.TrimSpace(text) == "" && e.empty {
		e.blank = text // it may be all
		return dst
	}
	if e.blank = ""; text == "" {
		return dst
	}
	e.input.Read(text)
	e.empty = false
	dst = append(dst, "event: tool-call-delta\ndata: {\"type\":\"tool-call-delta\",\"index\":"...)
	dst = strconv.AppendInt(dst, int64(len(e.calls)-1), 10)
	dst = append(dst, `,"delta":{"message":{"tool_calls":{"function":{"arguments":`...)
	return append(quote(dst, text), "}}}}}\n\n"...)
}

// begin ends what is open, and begins a part of the content.
func (e *encoder) begin(dst []byte, kind pieceKind, first answerContent) []byte {
	dst = e.close(dst)
	if kind == textPiece {
		e.runes, e.last = utf8.RuneCount(e.text), e.contents
	}
	e.open = kind
	e.contents++
	return event(dst, "content-start", &contentStart{Type: "content-start", Index: e.contents - 1, Delta: deltaOf(contentMessage{first})})
}

// delta writes more of the open part of the content, of which begin is the beginning.
func (e *encoder) delta(dst []byte, begin, text string, probabilities []answerLogprob) []byte {
	dst = append(dst, "event: content-delta\ndata: {\"type\":\"content-delta\",\"index\":"...)
	dst = strconv.AppendInt(dst, int64(e.contents-1), 10)
	dst = append(append(dst, `,"delta":{"message":{"content":`...), begin...)
	dst = append(quote(dst, text), "}}}"...)
	if len(probabilities) > 0 {
		dst = appendJSON(append(dst, `,"logprobs":`...), &probabilities[0])
	}
	return append(dst, "}\n\n"...)
}

// quote appends a text as a JSON string. Bytes that are not UTF-8 are replaced.
func quote(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // the error only says that bytes were replaced
	return dst
}

// close ends what is open. A call without arguments has an empty object.
func (e *encoder) close(dst []byte) []byte {
	switch kind := e.open; kind {
	case noPiece:
	case toolPiece:
		if e.empty {
			e.blank = ""
			dst = e.arguments(dst, "{}")
		}
		dst = event(dst, "tool-call-end", &ended{Type: "tool-call-end", Index: len(e.calls) - 1})
	case textPiece, thinkingPiece:
		dst = event(dst, "content-end", &ended{Type: "content-end", Index: e.contents - 1})
	}
	e.open = noPiece
	return dst
}

// start writes message-start, once.
func (e *encoder) start(dst []byte) []byte {
	if e.begun {
		return dst
	}
	e.begun = true
	return event(dst, "message-start", &messageStart{ID: e.meta.ID, Type: "message-start", Delta: deltaOf(startMessage{Role: "assistant"})})
}

// End writes the reason for the end and the usage.
func (e *encoder) End(dst []byte, u *wire.Usage) []byte {
	dst = e.drain(e.start(dst), true)
	if e.contents == 0 && len(e.calls) == 0 { // as in a whole response
		dst = e.begin(dst, textPiece, answerContent{Type: "text", Text: new(string)})
	}
	dst = e.close(dst)
	e.stop.tools = len(e.calls) > 0
	last := &messageEnd{Type: "message-end", ID: e.meta.ID}
	last.Delta.Finish, last.Delta.Usage = finishOf(&e.stop), usageOf(u)
	if e.stop.finish == wire.FinishFilter {
		last.Delta.Error = "A filter of the provider has ended the response."
	}
	return event(dst, "message-end", last)
}

// Fail writes the error, as Cohere does: in the last event.
func (e *encoder) Fail(dst []byte, err *fault.Error) []byte {
	last := &messageEnd{Type: "message-end", ID: e.meta.ID}
	last.Delta.Error, last.Delta.Finish = err.Message(), "ERROR"
	return event(dst, "message-end", last)
}
