package anthropic

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// looseEvent is an event of any type.
type looseEvent struct {
	Type         string         `json:"type"`
	Index        int            `json:"index"`
	Message      looseResponse  `json:"message"`
	ContentBlock looseBlock     `json:"content_block"`
	Delta        looseDelta     `json:"delta"`
	Usage        jsontext.Value `json:"usage"`
	Error        jsontext.Value `json:"error"`
}

type looseDelta struct {
	Type      string    `json:"type"`
	Text      string    `json:"text"`
	Partial   string    `json:"partial_json"`
	Thinking  string    `json:"thinking"`
	Signature string    `json:"signature"`
	Citation  *citation `json:"citation"`

	looseStop
}

// stream decodes message events. Blocks come one after the other, so it keeps one
// open block.
type stream struct {
	usage    looseUsage
	model    string
	stopped  bool // message_stop was seen
	finished bool // a stop_reason was seen
	runes    int  // of text so far
	calls    int  // tool calls so far, without the reserved one
	answered bool // the reserved tool was called
	open     openBlock
}

// openBlock is the block that deltas belong to now.
type openBlock struct {
	kind      string
	name      string
	start     int // runes of text before it
	call      int // index of the tool call
	fed       bool
	thinking  []byte
	signature string
	citations []citation
}

// Event reads one event. It uses the type inside the data, not the event's name,
// which some proxies lose.
func (s *stream) Event(dst []wire.Chunk, _ string, data []byte) ([]wire.Chunk, error) {
	data = bytes.TrimSpace(data)
	if s.stopped || len(data) == 0 {
		return dst, nil
	}
	var e looseEvent
	if f := driver.ReadResponse(data, &e); f != nil {
		return dst, f
	}
	switch e.Type {
	case "message_start":
		s.usage.add(e.Message.Usage)
		s.model = e.Message.Model
		s.usage.final = false // its output_tokens are those of the first token
		begun := s.usage.report()
		dst = append(dst, wire.Chunk{Usage: &begun})
	case "content_block_start":
		dst = s.begin(dst, &e.ContentBlock)
	case "content_block_delta":
		dst = s.more(dst, &e.Delta)
	case "content_block_stop":
		dst = s.end(dst)
	case "message_delta":
		s.usage.add(e.Usage)
		if reason := s.finish(e.Delta.StopReason); reason != "" {
			s.finished = true
			dst = append(dst, wire.Chunk{Finish: reason, Ending: e.Delta.ending()})
		}
	case "message_stop":
		s.stopped = true
	case "error":
		return dst, driver.FailureIn(data)
	default: // ping, and events of later versions of the API
		if driver.Given(e.Error) {
			return dst, driver.FailureIn(data)
		}
	}
	return dst, nil
}

// begin opens a block.
func (s *stream) begin(dst []wire.Chunk, b *looseBlock) []wire.Chunk {
	s.open = openBlock{kind: b.Type, name: b.Name, start: s.runes, citations: b.Citations}
	switch b.Type {
	case "text":
		if b.Text != "" {
			dst = s.text(dst, b.Text)
		}
	case "thinking":
		s.open.signature = b.Signature
		if b.Thinking != "" {
			dst = s.think(dst, b.Thinking)
		}
	case "redacted_thinking":
		dst = append(dst, wire.Chunk{Block: &wire.Thinking{Redacted: b.Data}})
	case "tool_use":
		if b.Name == responseTool {
			s.answered = true
		} else {
			s.open.call = s.calls
			s.calls++
			dst = append(dst, wire.Chunk{Tool: &wire.ToolDelta{Index: s.open.call, ID: b.ID, Name: b.Name}})
		}
		if all := argumentsOf(b.Input); all != "{}" {
			dst = s.arguments(dst, all)
		}
	}
	return dst
}

// more reads a delta of the open block.
func (s *stream) more(dst []wire.Chunk, d *looseDelta) []wire.Chunk {
	switch d.Type {
	case "text_delta":
		if d.Text != "" {
			dst = s.text(dst, d.Text)
		}
	case "thinking_delta":
		if d.Thinking != "" {
			dst = s.think(dst, d.Thinking)
		}
	case "signature_delta":
		s.open.signature += d.Signature
	case "citations_delta":
		if d.Citation != nil {
			s.open.citations = append(s.open.citations, *d.Citation)
		}
	case "input_json_delta":
		if d.Partial != "" && s.open.kind == "tool_use" {
			dst = s.arguments(dst, d.Partial)
		}
	}
	return dst
}

// end closes the open block, and writes what is known only then.
func (s *stream) end(dst []wire.Chunk) []wire.Chunk {
	switch b := &s.open; {
	case b.kind == "thinking" && b.signature != "":
		dst = append(dst, wire.Chunk{Block: &wire.Thinking{Text: string(b.thinking), Signature: b.signature}})
	case b.kind == "tool_use" && !b.fed:
		dst = s.arguments(dst, "{}")
	case b.kind == "text":
		if a := sources(b.citations, b.start, s.runes); a != nil {
			dst = append(dst, wire.Chunk{Annotations: a})
		}
	}
	s.open = openBlock{}
	return dst
}

// text adds to the response.
func (s *stream) text(dst []wire.Chunk, text string) []wire.Chunk {
	s.runes += utf8.RuneCountInString(text)
	return append(dst, wire.Chunk{Text: text})
}

// think adds to the reasoning.
func (s *stream) think(dst []wire.Chunk, text string) []wire.Chunk {
	s.open.thinking = append(s.open.thinking, text...)
	return append(dst, wire.Chunk{Thinking: text})
}

// arguments adds to the open tool call; those of the reserved tool are the response.
func (s *stream) arguments(dst []wire.Chunk, text string) []wire.Chunk {
	s.open.fed = true
	if s.open.name == responseTool {
		return s.text(dst, text)
	}
	return append(dst, wire.Chunk{Tool: &wire.ToolDelta{Index: s.open.call, Arguments: text}})
}

// finish reads the reason for the end.
func (s *stream) finish(word string) wire.Finish {
	reason := readFinish(word)
	if s.answered && s.calls == 0 && reason == wire.FinishToolCalls {
		return wire.FinishStop
	}
	return reason
}

// Complete reports whether the response is complete.
func (s *stream) Complete() bool { return s.stopped || s.finished }

// Ended reports whether the event with the reason for the end has come, which has the usage too.
func (s *stream) Ended() bool { return s.Complete() }

// Usage returns what was reported so far.
func (s *stream) Usage() wire.Usage { return s.usage.report() }

// Model returns the model that message_start named.
func (s *stream) Model() string { return s.model }
