package responses

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Stream returns a decoder of response events.
func (Codec) Stream() driver.Stream { return &stream{} }

// looseEvent is an event of any type.
type looseEvent struct {
	Type       string          `json:"type"`
	Output     int             `json:"output_index"`
	Content    int             `json:"content_index"`
	Summary    int             `json:"summary_index"`
	Delta      string          `json:"delta"`
	Text       string          `json:"text"`
	Refusal    string          `json:"refusal"`
	Arguments  string          `json:"arguments"`
	Input      string          `json:"input"`
	Logprobs   []logprob       `json:"logprobs"`
	Annotation looseAnnotation `json:"annotation"`
	Item       jsontext.Value  `json:"item"`
	Response   jsontext.Value  `json:"response"`
	Error      jsontext.Value  `json:"error"`
}

// stream decodes response events. What an event gives that ends a part, an item or the
// response counts only as far as no delta gave it before: not every provider sends deltas.
type stream struct {
	usage wire.Usage
	model string
	ended bool
	runes int // characters of text so far
	calls int
	parts []progress
}

// progress is what has come of a part of an item. A call is one part.
type progress struct {
	item, part  int
	kind        partKind
	bytes       int
	start       int // characters of text before it
	call        int // index of the call
	annotations int
	logprobs    int
	ended       bool // the block of reasoning has been given
}

// Event reads one event. It uses the type inside the data, not the event's name,
// which some proxies lose.
func (s *stream) Event(dst []wire.Chunk, _ string, data []byte) ([]wire.Chunk, error) {
	data = bytes.TrimSpace(data)
	if s.ended || len(data) == 0 || string(data) == "[DONE]" {
		return dst, nil
	}
	var e looseEvent
	if f := driver.ReadResponse(data, &e); f != nil {
		if ignored(data) {
			return dst, nil
		}
		return dst, f
	}
	switch e.Type {
	case eventCreated:
		return s.begin(dst, e.Response)
	case eventItemAdded, eventItemDone:
		return s.item(dst, &e)
	case eventCompleted, eventIncomplete, eventFailed:
		return s.end(dst, e.Response)
	case eventError:
		return dst, driver.FailureIn(data)
	}
	if !read(e.Type) && driver.Given(e.Error) {
		return dst, driver.FailureIn(data)
	}
	return s.step(dst, &e), nil
}

// read reports whether events of a type are read.
func read(kind string) bool {
	switch kind {
	case eventCreated, eventItemAdded, eventItemDone, eventCompleted, eventIncomplete, eventFailed, eventError, eventTextDelta, eventTextDone,
		eventAnnotation, eventRefusalDelta, eventRefusalDone, eventArguments, eventArgumentsDone, eventInput, eventInputDone,
		eventSummaryDelta, eventSummaryEnd, eventReasoningDelta, eventReasoningDone:
		return true
	}
	return false
}

// ignored reports whether an event that cannot be read is of a type that is not read.
func ignored(data []byte) bool {
	var head struct {
		Type string `json:"type"`
	}
	return driver.DecodeLoose(data, &head) == nil && head.Type != "" && !read(head.Type)
}

// step reads an event about a part.
func (s *stream) step(dst []wire.Chunk, e *looseEvent) []wire.Chunk {
	switch e.Type {
	case eventTextDelta:
		return s.text(dst, s.at(e.Output, textKind, e.Content), e.Delta, e.Logprobs)
	case eventTextDone:
		return s.restOfText(dst, s.at(e.Output, textKind, e.Content), e.Text, e.Logprobs)
	case eventAnnotation:
		p := s.at(e.Output, textKind, e.Content)
		p.annotations++
		return s.sources(dst, p, []looseAnnotation{e.Annotation})
	case eventRefusalDelta:
		return refuse(dst, s.at(e.Output, refusalKind, e.Content), e.Delta)
	case eventRefusalDone:
		p := s.at(e.Output, refusalKind, e.Content)
		return refuse(dst, p, restOf(p.bytes, e.Refusal))
	case eventSummaryDelta:
		return s.think(dst, s.at(e.Output, summaryKind, e.Summary), e.Delta)
	case eventSummaryEnd:
		p := s.at(e.Output, summaryKind, e.Summary)
		return s.think(dst, p, restOf(p.bytes, e.Text))
	case eventReasoningDelta:
		return s.think(dst, s.at(e.Output, thoughtKind, e.Content), e.Delta)
	case eventReasoningDone:
		p := s.at(e.Output, thoughtKind, e.Content)
		return s.think(dst, p, restOf(p.bytes, e.Text))
	case eventArguments, eventInput:
		if p := s.find(e.Output, callKind, 0); p != nil {
			return call(dst, p, e.Delta)
		}
	case eventArgumentsDone, eventInputDone:
		if p := s.find(e.Output, callKind, 0); p != nil {
			return call(dst, p, restOf(p.bytes, e.Arguments+e.Input))
		}
	}
	return dst
}

// begin reads the model of a response that begins.
func (s *stream) begin(dst []wire.Chunk, raw jsontext.Value) ([]wire.Chunk, error) {
	var in struct {
		Model string `json:"model"`
	}
	_ = driver.DecodeLoose(raw, &in) // the model is only for records
	s.model = in.Model
	return append(dst, wire.Chunk{}), nil
}

// item reads an item that begins or ends.
func (s *stream) item(dst []wire.Chunk, e *looseEvent) ([]wire.Chunk, error) {
	var in looseItem
	if driver.DecodeLoose(e.Item, &in) != nil {
		return dst, driver.InvalidResponse("has an item that cannot be read")
	}
	if e.Type == eventItemDone {
		return s.done(dst, e.Output, &in), nil
	}
	if in.Type == typeCall || in.Type == typeCustomCall {
		dst, _ = s.call(dst, e.Output, &in)
	}
	return dst, nil
}

// end reads the whole response, which is the last event.
func (s *stream) end(dst []wire.Chunk, raw jsontext.Value) ([]wire.Chunk, error) {
	var in looseResponse
	if f := driver.ReadResponse(raw, &in); f != nil {
		return dst, f
	}
	s.usage = in.usage()
	if in.Model != "" {
		s.model = in.Model
	}
	if driver.Given(in.Error) || in.Status == statusFailed {
		return dst, driver.FailureIn(raw)
	}
	for i := range in.Output {
		dst = s.done(dst, i, &in.Output[i])
	}
	s.ended = true
	return append(dst, wire.Chunk{Finish: in.finish(s.calls > 0)}), nil
}

// done reads a whole item, of which most has come before.
func (s *stream) done(dst []wire.Chunk, item int, in *looseItem) []wire.Chunk {
	switch in.Type {
	case typeMessage:
		for i := range in.Content {
			part := &in.Content[i]
			if part.Type == "refusal" {
				p := s.at(item, refusalKind, i)
				dst = refuse(dst, p, restOf(p.bytes, part.Refusal))
				continue
			}
			p := s.at(item, textKind, i)
			dst = s.restOfText(dst, p, part.Text, part.Logprobs)
			rest := part.Annotations[min(p.annotations, len(part.Annotations)):]
			p.annotations += len(rest)
			dst = s.sources(dst, p, rest)
		}
	case typeReasoning:
		parts, kind := in.thoughts()
		for i := range parts {
			p := s.at(item, kind, i)
			dst = s.think(dst, p, restOf(p.bytes, parts[i].Text))
		}
		last := s.at(item, blockKind, 0)
		if block, ok := in.thinking(); ok && in.Encrypted != "" && !last.ended {
			dst = append(dst, wire.Chunk{Block: &block})
		}
		last.ended = true
	case typeCall, typeCustomCall:
		var p *progress
		dst, p = s.call(dst, item, in)
		dst = call(dst, p, restOf(p.bytes, in.toolCall().Arguments))
	}
	return dst
}

// call begins a call, unless it has begun.
func (s *stream) call(dst []wire.Chunk, item int, in *looseItem) ([]wire.Chunk, *progress) {
	if p := s.find(item, callKind, 0); p != nil {
		return dst, p
	}
	p := s.at(item, callKind, 0)
	p.call = s.calls
	s.calls++
	return append(dst, wire.Chunk{Tool: &wire.ToolDelta{Index: p.call, ID: in.CallID, Name: in.Name, Custom: in.Type == typeCustomCall}}), p
}

// find returns a part; nil if nothing of it has come.
func (s *stream) find(item int, kind partKind, part int) *progress {
	for i := len(s.parts) - 1; i >= 0; i-- {
		if p := &s.parts[i]; p.item == item && p.kind == kind && p.part == part {
			return p
		}
	}
	return nil
}

// at returns a part, which it begins if nothing of it has come. The result is valid until
// the next part begins.
func (s *stream) at(item int, kind partKind, part int) *progress {
	if p := s.find(item, kind, part); p != nil {
		return p
	}
	s.parts = append(s.parts, progress{item: item, kind: kind, part: part, start: s.runes})
	return &s.parts[len(s.parts)-1]
}

// text adds to a text.
func (s *stream) text(dst []wire.Chunk, p *progress, more string, probs []logprob) []wire.Chunk {
	if more == "" && len(probs) == 0 {
		return dst
	}
	p.bytes += len(more)
	p.logprobs += len(probs)
	s.runes += utf8.RuneCountInString(more)
	return append(dst, wire.Chunk{Text: more, Logprobs: chatForm(probs)})
}

// restOfText adds what has not come before of a whole text.
func (s *stream) restOfText(dst []wire.Chunk, p *progress, all string, probs []logprob) []wire.Chunk {
	return s.text(dst, p, restOf(p.bytes, all), probs[min(p.logprobs, len(probs)):])
}

// sources adds sources of a text.
func (*stream) sources(dst []wire.Chunk, p *progress, in []looseAnnotation) []wire.Chunk {
	if found := sources(in, p.start); found != nil {
		dst = append(dst, wire.Chunk{Annotations: found})
	}
	return dst
}

// think adds to a part of the reasoning. Parts are paragraphs. Of an item that has a summary
// and the reasoning itself, whichever comes first counts.
func (s *stream) think(dst []wire.Chunk, p *progress, more string) []wire.Chunk {
	if more == "" {
		return dst
	}
	between := ""
	for i := range s.parts {
		o := &s.parts[i]
		if o.item != p.item || o.bytes == 0 || o.kind != summaryKind && o.kind != thoughtKind {
			continue
		}
		if o.kind != p.kind {
			return dst
		}
		if p.bytes == 0 {
			between = betweenSummaries
		}
	}
	p.bytes += len(more)
	return append(dst, wire.Chunk{Thinking: between + more})
}

// refuse adds to a refusal.
func refuse(dst []wire.Chunk, p *progress, more string) []wire.Chunk {
	if more == "" {
		return dst
	}
	p.bytes += len(more)
	return append(dst, wire.Chunk{Refusal: more})
}

// call adds to the arguments of a call.
func call(dst []wire.Chunk, p *progress, more string) []wire.Chunk {
	if more == "" {
		return dst
	}
	p.bytes += len(more)
	return append(dst, wire.Chunk{Tool: &wire.ToolDelta{Index: p.call, Arguments: more}})
}

// Complete reports whether the response is complete.
func (s *stream) Complete() bool { return s.ended }

// Ended reports whether the event with the whole response has come.
func (s *stream) Ended() bool { return s.ended }

// Usage returns what was reported.
func (s *stream) Usage() wire.Usage { return s.usage }

// Model returns the model that the provider named.
func (s *stream) Model() string { return s.model }
