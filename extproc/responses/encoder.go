package responses

import (
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Stream returns an encoder of response events.
func (Dialect) Stream(m dialect.Meta) dialect.Encoder {
	return &encoder{meta: m, base: baseOf(m.ID), response: newResponse(m)}
}

// encoder writes one stream. Reasoning and messages come one after the other: one ends when
// anything else begins. Calls end with the response, because a provider may write several at once.
type encoder struct {
	writer

	meta     dialect.Meta
	base     string
	response *response
	begun    bool
	finish   wire.Finish
	reported *wire.Usage // what the provider reported at the beginning; nil if nothing

	runes int     // characters of text so far
	open  *opened // reasoning or a message; nil if neither is open
	calls []openCall
}

// opened is an item that more may come for.
type opened struct {
	item  *outItem
	place int // in output
	part  int // index of the open part
	kind  partKind
	start int // characters of text before the open part
	text  []byte
}

// openCall is an open call.
type openCall struct {
	opened

	index int // of the call in the canonical form
}

// partKind is the kind of a part of an item.
type partKind uint8

// The kinds of parts. Only the decoder has the last three.
const (
	noPart partKind = iota
	textKind
	refusalKind
	summaryKind // of reasoning, to read
	thoughtKind // the reasoning itself
	callKind    // the arguments of a call
	blockKind   // the end of reasoning
)

// Chunk writes one step.
func (e *encoder) Chunk(dst []byte, c *wire.Chunk) []byte {
	dst = e.begin(dst)
	if c.Usage != nil {
		e.reported = c.Usage
	}
	if c.Index != 0 {
		return dst // a response has one choice
	}
	if c.Thinking != "" {
		dst = e.think(dst, c.Thinking)
	}
	if c.Block != nil {
		dst = e.block(dst, c.Block)
	}
	if c.Text != "" || c.Logprobs != nil && e.kind() == textKind {
		dst = e.text(dst, c.Text, logprobsOf(c.Logprobs))
	}
	if c.Annotations != nil && e.kind() == textKind {
		dst = e.annotate(dst, c.Annotations)
	}
	if c.Refusal != "" {
		dst = e.message(dst, refusalKind)
		e.open.text = append(e.open.text, c.Refusal...)
		dst = e.end(text(e.inPart(dst, eventRefusalDelta), "delta", c.Refusal))
	}
	if c.Tool != nil {
		dst = e.tool(dst, c.Tool)
	}
	if c.Finish != "" {
		e.finish = c.Finish
	}
	return dst
}

// End writes the end of every open item, and the whole response.
func (e *encoder) End(dst []byte, u *wire.Usage) []byte {
	dst = e.begin(dst)
	if len(e.response.Output) == 0 {
		dst = e.message(dst, textKind)
	}
	e.response.finish(e.finish)
	dst = e.close(dst)
	for i := range e.calls {
		dst = e.closeCall(dst, &e.calls[i])
	}
	e.response.Usage = usageOf(u)
	name := eventCompleted
	if e.response.Incomplete != nil {
		name = eventIncomplete
	}
	return e.whole(dst, name)
}

// Fail writes the error, and the response as far as it is known; of a blocked one nothing. Open items stay without an
// end, so that no caller runs a call that is not complete.
func (e *encoder) Fail(dst []byte, err *fault.Error) []byte {
	dst = e.begin(dst)
	code := err.Code
	if code == "" {
		code = errorCode(err)
	}
	dst = text(text(e.writer.open(dst, eventError), "code", code), "message", err.Message())
	if err.Param == "" {
		dst = e.end(value(dst, "param", nil))
	} else {
		dst = e.end(text(dst, "param", err.Param))
	}
	if e.open != nil {
		e.open.cut()
	}
	for i := range e.calls {
		e.calls[i].cut()
	}
	if err.Kind == fault.Blocked { // what has not left must not leave with the error
		e.response.Output = nil
	}
	e.response.Status, e.response.Error = statusFailed, &responseError{errorCode(err), err.Message()}
	e.response.Usage = usageOf(e.usage())
	return e.whole(dst, eventFailed)
}

// usage returns what is known of the usage of a response that fails; nil if nothing is.
func (e *encoder) usage() *wire.Usage {
	if u := e.meta.Usage; u != nil && (u.Known() || u.Partial) {
		return u
	}
	return e.reported
}

// errorCode returns the code of a failed response, of those that OpenAI's schema has.
func errorCode(err *fault.Error) string {
	switch status := err.HTTPStatus(); {
	case status == 429:
		return "rate_limit_exceeded"
	case status < 500:
		return "invalid_prompt"
	}
	return "server_error"
}

// begin writes what every stream begins with.
func (e *encoder) begin(dst []byte) []byte {
	if e.begun {
		return dst
	}
	e.begun = true
	return e.whole(e.whole(dst, eventCreated), eventInProgress)
}

// whole writes an event with the response.
func (e *encoder) whole(dst []byte, name string) []byte {
	dst = member(e.writer.open(dst, name), "response")
	return e.end(appendResponse(dst, e.response, e.meta.Echo))
}

// kind returns the kind of the open part.
func (e *encoder) kind() partKind {
	if e.open == nil {
		return noPart
	}
	return e.open.kind
}

// add begins an item.
func (e *encoder) add(dst []byte, item *outItem, prefix string) (opened, []byte) {
	o := opened{item: item, place: len(e.response.Output), part: -1}
	item.ID = itemID(prefix, e.base, o.place)
	e.response.Output = append(e.response.Output, item)
	return o, e.item(dst, eventItemAdded, &o)
}

// item writes an event with an item.
func (e *encoder) item(dst []byte, name string, o *opened) []byte {
	return e.end(value(number(e.writer.open(dst, name), "output_index", o.place), "item", o.item))
}

// in begins an event about an item.
func (e *encoder) in(dst []byte, name string, o *opened) []byte {
	return number(text(e.writer.open(dst, name), "item_id", o.item.ID), "output_index", o.place)
}

// inPart begins an event about the open part.
func (e *encoder) inPart(dst []byte, name string) []byte {
	index := "content_index"
	if e.open.kind == summaryKind {
		index = "summary_index"
	}
	return number(e.in(dst, name, e.open), index, e.open.part)
}

// message opens a part of a message, and the message if none is open.
func (e *encoder) message(dst []byte, kind partKind) []byte {
	if e.kind() == kind {
		return dst
	}
	if e.open == nil || e.open.item.Type != typeMessage {
		dst = e.close(dst)
		item := &outItem{Type: typeMessage, Status: statusInProgress, Role: "assistant", Content: []*outPart{}}
		var o opened
		o, dst = e.add(dst, item, prefixMessage)
		e.open = &o
	}
	dst = e.closePart(dst)
	o := e.open
	o.kind, o.part, o.start = kind, o.part+1, e.runes
	p := textPart("")
	if kind == refusalKind {
		p = &outPart{Type: "refusal", Refusal: new(string)}
	}
	dst = e.end(value(e.inPart(dst, eventPartAdded), "part", p))
	o.item.Content = append(o.item.Content, p)
	return dst
}

// text adds to the text.
func (e *encoder) text(dst []byte, more string, probs []logprob) []byte {
	dst = e.message(dst, textKind)
	o := e.open
	o.text = append(o.text, more...)
	e.runes += utf8.RuneCountInString(more)
	p := o.item.Content[o.part]
	p.Logprobs = append(p.Logprobs, probs...)
	dst = text(e.inPart(dst, eventTextDelta), "delta", more)
	return e.end(appendSteps(dst, probs))
}

// annotate adds sources to the open text.
func (e *encoder) annotate(dst []byte, in []wire.Annotation) []byte {
	p := e.open.item.Content[e.open.part]
	for _, a := range annotationsOf(in, e.open.start) {
		dst = number(e.inPart(dst, eventAnnotation), "annotation_index", len(p.Annotations))
		dst = e.end(value(dst, "annotation", &a))
		p.Annotations = append(p.Annotations, a)
	}
	return dst
}

// think adds to the reasoning.
func (e *encoder) think(dst []byte, more string) []byte {
	dst = e.reason(dst)
	o := e.open
	if o.kind == noPart {
		o.kind, o.part = summaryKind, 0
		dst = e.end(value(e.inPart(dst, eventSummaryAdded), "part", textItem{Type: "summary_text"}))
	}
	o.text = append(o.text, more...)
	return e.end(text(e.inPart(dst, eventSummaryDelta), "delta", more))
}

// reason opens a reasoning item if none is open.
func (e *encoder) reason(dst []byte) []byte {
	if e.open != nil && e.open.item.Type == typeReasoning {
		return dst
	}
	dst = e.close(dst)
	var o opened
	o, dst = e.add(dst, &outItem{Type: typeReasoning, Summary: []textItem{}}, prefixReasoning)
	e.open = &o
	return dst
}

// block ends a block of reasoning, whose text may have come before. A redacted one has none.
func (e *encoder) block(dst []byte, t *wire.Thinking) []byte {
	if t.Redacted != "" {
		dst = e.close(dst)
	}
	dst = e.reason(dst)
	if rest := restOf(len(e.open.text), t.Text); rest != "" {
		dst = e.think(dst, rest)
	}
	e.open.item.Encrypted = seal(t, e.open.item.ID)
	return e.close(dst)
}

// restOf returns what a whole text has beyond the bytes that came before.
func restOf(before int, all string) string { return all[min(before, len(all)):] }

// tool adds to a call, and begins it if it is not known. A provider may repeat id and name.
func (e *encoder) tool(dst []byte, t *wire.ToolDelta) []byte {
	var c *openCall
	for i := range e.calls {
		if e.calls[i].index == t.Index {
			c = &e.calls[i]
		}
	}
	if c == nil {
		dst = e.close(dst)
		begun := wire.ToolCall{ID: t.ID, Name: t.Name, Custom: t.Custom}
		if begun.ID == "" {
			begun.ID = callID(e.base, t.Index)
		}
		item := callItem(&begun, e.meta.Echo)
		if item.Status != "" {
			item.Status = statusInProgress
		}
		var o opened
		o, dst = e.add(dst, item, prefixOf(&begun))
		e.calls = append(e.calls, openCall{opened: o, index: t.Index})
		c = &e.calls[len(e.calls)-1]
	}
	if t.Arguments == "" {
		return dst
	}
	c.text = append(c.text, t.Arguments...)
	name := eventArguments
	if c.item.Input != nil {
		name = eventInput
	}
	return e.end(text(e.in(dst, name, &c.opened), "delta", t.Arguments))
}
