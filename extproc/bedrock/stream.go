package bedrock

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Stream returns a decoder of the events of ConverseStream.
func (Codec) Stream() driver.Stream { return &stream{} }

// looseEvent is an event of any type. Its name says which.
type looseEvent struct {
	Index int `json:"contentBlockIndex"`
	Start struct {
		ToolUse *looseUse `json:"toolUse"`
	} `json:"start"`
	Delta looseDelta     `json:"delta"`
	Stop  string         `json:"stopReason"`
	Usage jsontext.Value `json:"usage"`
}

type looseDelta struct {
	Text    string `json:"text"`
	ToolUse *struct {
		Input string `json:"input"`
	} `json:"toolUse"`
	Reasoning *struct {
		Text      string `json:"text"`
		Signature string `json:"signature"`
		Redacted  []byte `json:"redactedContent"`
	} `json:"reasoningContent"`
	Citation *looseCitation `json:"citation"`
}

// stream decodes the events of one response. Blocks come one after the other, so it keeps one open block.
type stream struct {
	usage    looseUsage
	finished bool // messageStop was seen
	ended    bool // metadata was seen, which is last
	runes    int  // of text so far
	calls    int  // tool calls so far, without the reserved one
	answered bool // the reserved tool was called
	open     openBlock
}

// openBlock is the block that deltas belong to now.
type openBlock struct {
	index     int
	begun     bool
	kind      blockKind
	start     int // runes of text before it
	fed       bool
	thinking  []byte
	signature string
	redacted  []byte
	sources   []looseCitation
}

// blockKind is the kind of an open block.
type blockKind uint8

const (
	blockText blockKind = iota
	blockThinking
	blockCall
	blockAnswer // a call of the reserved tool
	blockRun    // a tool that Bedrock itself runs, or another call that is not passed on
)

// Event reads one event. Its name is that of the frame's type; events of unknown types mean nothing.
func (s *stream) Event(dst []wire.Chunk, name string, data []byte) ([]wire.Chunk, error) {
	if s.ended {
		return dst, nil
	}
	if strings.HasSuffix(name, "Exception") {
		return dst, failureIn(name, data)
	}
	if name == "contentBlockDelta" {
		if index, text, ok := plainText(data); ok && s.open.begun && s.open.index == index && s.open.kind == blockText {
			return s.text(dst, text), nil
		}
	}
	switch name {
	case "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata":
	default:
		return dst, nil
	}
	var e looseEvent
	if f := driver.ReadResponse(bytes.TrimSpace(data), &e); f != nil {
		return dst, f
	}
	switch name {
	case "messageStart":
		dst = append(dst, wire.Chunk{})
	case "contentBlockStart":
		dst = s.begin(s.end(dst), &e)
	case "contentBlockDelta":
		dst = s.more(dst, &e)
	case "contentBlockStop":
		dst = s.end(dst)
	case "messageStop":
		dst = s.stop(s.end(dst), e.Stop)
	case "metadata":
		s.usage.add(e.Usage)
		s.ended = s.finished
	}
	return dst, nil
}

// plainText reads a delta with a text that has no escapes, as AWS writes it; not ok for any other. Most events are such,
// and reading one into looseEvent costs ten times as much.
func plainText(data []byte) (index int, text string, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(`{"contentBlockIndex":`))
	digits := 0
	for digits < len(rest) && digits < 4 && rest[digits] >= '0' && rest[digits] <= '9' {
		index = 10*index + int(rest[digits]-'0')
		digits++
	}
	if !ok || digits == 0 || digits > 1 && rest[0] == '0' {
		return 0, "", false
	}
	rest, ok = bytes.CutPrefix(rest[digits:], []byte(`,"delta":{"text":"`))
	value, rest, closed := cutPlain(rest)
	if !ok || !closed || len(value) == 0 || !utf8.Valid(value) {
		return 0, "", false
	}
	if padded, ok := bytes.CutPrefix(rest, []byte(`},"p":"`)); ok {
		_, rest, closed = cutPlain(padded)
		return index, string(value), closed && string(rest) == "}"
	}
	return index, string(value), string(rest) == "}}"
}

// cutPlain cuts a JSON string without escapes after its quote.
func cutPlain(data []byte) (value, rest []byte, ok bool) {
	for i, c := range data {
		switch {
		case c == '"':
			return data[:i], data[i+1:], true
		case c == '\\', c < ' ':
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// begin opens a block that says what it is: texts and reasoning have no beginning.
func (s *stream) begin(dst []wire.Chunk, e *looseEvent) []wire.Chunk {
	s.open = openBlock{index: e.Index, begun: true, start: s.runes}
	use := e.Start.ToolUse
	switch {
	case use == nil:
	case use.Type != "":
		s.open.kind = blockRun
	case use.Name == responseTool && s.answered: // a second answer would not be JSON next to the first one
		s.open.kind = blockRun
	case use.Name == responseTool:
		s.open.kind, s.answered = blockAnswer, true
	default:
		s.open.kind = blockCall
		dst = append(dst, wire.Chunk{Tool: &wire.ToolDelta{Index: s.calls, ID: use.ID, Name: use.Name}})
		s.calls++
	}
	return dst
}

// more reads a delta of the open block, and opens the block if it has no beginning.
func (s *stream) more(dst []wire.Chunk, e *looseEvent) []wire.Chunk {
	if !s.open.begun || s.open.index != e.Index {
		dst = s.end(dst)
		s.open = openBlock{index: e.Index, begun: true, start: s.runes}
	}
	d, b := &e.Delta, &s.open
	switch {
	case d.ToolUse != nil:
		if d.ToolUse.Input != "" {
			dst = s.arguments(dst, d.ToolUse.Input)
		}
	case d.Reasoning != nil:
		b.kind = blockThinking
		b.signature += d.Reasoning.Signature
		b.redacted = append(b.redacted, d.Reasoning.Redacted...) // each delta has the base64 of its own bytes
		if d.Reasoning.Text != "" {
			b.thinking = append(b.thinking, d.Reasoning.Text...)
			dst = append(dst, wire.Chunk{Thinking: d.Reasoning.Text})
		}
	case d.Citation != nil:
		b.sources = append(b.sources, *d.Citation)
	case d.Text != "" && b.kind == blockText:
		dst = s.text(dst, d.Text)
	}
	return dst
}

// text adds to the response.
func (s *stream) text(dst []wire.Chunk, text string) []wire.Chunk {
	s.runes += utf8.RuneCountInString(text)
	return append(dst, wire.Chunk{Text: text})
}

// arguments adds to the open call; those of the reserved tool are the response.
func (s *stream) arguments(dst []wire.Chunk, text string) []wire.Chunk {
	s.open.fed = true
	switch s.open.kind {
	case blockAnswer:
		return s.text(dst, text)
	case blockCall:
		return append(dst, wire.Chunk{Tool: &wire.ToolDelta{Index: s.calls - 1, Arguments: text}})
	case blockText, blockThinking, blockRun:
	}
	return dst
}

// end closes the open block, and writes what is known only then.
func (s *stream) end(dst []wire.Chunk) []wire.Chunk {
	b := &s.open
	switch {
	case !b.begun:
	case len(b.redacted) > 0:
		dst = append(dst, wire.Chunk{Block: &wire.Thinking{Redacted: wire.Mark(wire.Converse, base64.StdEncoding.EncodeToString(b.redacted))}})
	case b.signature != "":
		dst = append(dst, wire.Chunk{Block: &wire.Thinking{Text: string(b.thinking), Signature: proofOf(b.signature)}})
	case (b.kind == blockCall || b.kind == blockAnswer) && !b.fed:
		dst = s.arguments(dst, "{}")
	}
	var sources []wire.Annotation
	for i := range b.sources {
		if a, ok := b.sources[i].annotation(b.start, s.runes); ok {
			sources = append(sources, a)
		}
	}
	if sources != nil {
		dst = append(dst, wire.Chunk{Annotations: sources})
	}
	s.open = openBlock{}
	return dst
}

// stop reads the reason for the end. The usage follows it.
func (s *stream) stop(dst []wire.Chunk, word string) []wire.Chunk {
	reason := readFinish(word)
	if reason == "" || s.finished {
		return dst
	}
	s.finished = true
	if s.answered && s.calls == 0 && reason == wire.FinishToolCalls {
		reason = wire.FinishStop
	}
	return append(dst, wire.Chunk{Finish: reason, Ending: endingOf(word)})
}

// Complete reports whether the response is complete.
func (s *stream) Complete() bool { return s.finished }

// Ended reports whether the usage has come, which follows the reason for the end.
func (s *stream) Ended() bool { return s.ended }

// Usage returns what was reported so far.
func (s *stream) Usage() wire.Usage { return s.usage.report() }

// Model returns nothing: a response of Converse names no model.
func (s *stream) Model() string { return "" }
