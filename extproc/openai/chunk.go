package openai

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type chatChunk struct {
	ID      string            `json:"id"`
	Object  string            `json:"object"`
	Created int64             `json:"created"`
	Model   string            `json:"model"`
	Choices []chatChunkChoice `json:"choices"`
	Usage   jsontext.Value    `json:"usage,omitzero"`
}

type chatChunkChoice struct {
	Index    int            `json:"index"`
	Delta    chatDelta      `json:"delta"`
	Logprobs jsontext.Value `json:"logprobs"`
	Finish   *string        `json:"finish_reason"`
}

type chatDelta struct {
	Role             string            `json:"role,omitzero"`
	Content          *string           `json:"content,omitzero"`
	Refusal          string            `json:"refusal,omitzero"`
	ReasoningContent string            `json:"reasoning_content,omitzero"`
	ThinkingBlocks   []chatThinking    `json:"thinking_blocks,omitzero"`
	ToolCalls        []chatCall        `json:"tool_calls,omitzero"`
	FunctionCall     *chatFunctionCall `json:"function_call,omitzero"`
	Annotations      []chatAnnotation  `json:"annotations,omitzero"`
	Audio            jsontext.Value    `json:"audio,omitzero"`
}

// chatEncoder writes one stream. Per choice it remembers whether the role was
// sent, and which calls have begun: their id and name are sent once, even if a
// provider repeats them.
type chatEncoder struct {
	meta   dialect.Meta
	begun  []int
	called []callKey
	blocks []int  // for each block of reasoning that was sent, its choice
	head   []byte // of an event, up to its choices
}

type callKey struct{ choice, call int }

// Chunk writes the role first, then the content, and the finish in an event of
// its own, as OpenAI does.
func (e *chatEncoder) Chunk(dst []byte, c *wire.Chunk) []byte {
	if !slices.Contains(e.begun, c.Index) {
		e.begun = append(e.begun, c.Index)
		dst = e.step(dst, chatChunkChoice{Index: c.Index, Delta: chatDelta{Role: "assistant", Content: new(string)}})
	}
	if isText(c) {
		return e.text(dst, c)
	}
	if c.Content() || c.Annotations != nil || c.Logprobs != nil {
		dst = e.step(dst, chatChunkChoice{Index: c.Index, Delta: e.delta(c), Logprobs: c.Logprobs})
	}
	if c.Finish != "" {
		reason := finishOf(c.Finish, e.meta)
		dst = e.step(dst, chatChunkChoice{Index: c.Index, Finish: &reason})
	}
	return dst
}

// isText reports whether a chunk has a text and nothing else, as most do.
func isText(c *wire.Chunk) bool {
	return c.Text != "" && c.Refusal == "" && c.Thinking == "" && c.Block == nil && c.Tool == nil && c.Audio == nil &&
		c.Annotations == nil && c.Logprobs == nil && c.Finish == ""
}

// text writes an event with a text alone: what step writes, without a value for each of its parts.
func (e *chatEncoder) text(dst []byte, c *wire.Chunk) []byte {
	if e.head == nil {
		whole := e.event(nil, &chatChunk{Choices: []chatChunkChoice{}})
		e.head = bytes.TrimSuffix(whole, []byte("]}\n\n"))
	}
	before := len(dst)
	dst = append(dst, e.head...)
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(c.Index), 10)
	dst = append(dst, `,"delta":{"content":`...)
	dst, err := jsontext.AppendQuote(dst, c.Text)
	if err != nil { // the text is not valid UTF-8
		return e.step(dst[:before], chatChunkChoice{Index: c.Index, Delta: e.delta(c)})
	}
	dst = append(dst, `},"logprobs":null,"finish_reason":null}]`...)
	if e.meta.IncludeUsage {
		dst = append(dst, `,"usage":null`...)
	}
	return append(dst, "}\n\n"...)
}

// delta converts the content of a chunk to OpenAI's form.
func (e *chatEncoder) delta(c *wire.Chunk) chatDelta {
	d := chatDelta{Refusal: c.Refusal, ReasoningContent: c.Thinking, Annotations: annotationsOf(c.Annotations), Audio: c.Audio}
	if c.Text != "" {
		d.Content = &c.Text
	}
	if c.Block != nil {
		d.ThinkingBlocks = e.block(c)
	}
	if t := c.Tool; t != nil {
		d.ToolCalls, d.FunctionCall = e.call(c.Index, t)
	}
	return d
}

// block writes a block of reasoning, with its place among those of its choice.
func (e *chatEncoder) block(c *wire.Chunk) []chatThinking {
	out := blocksOf([]wire.Thinking{*c.Block})
	for i := range out {
		place := 0
		for _, choice := range e.blocks {
			if choice == c.Index {
				place++
			}
		}
		out[i].Index, e.blocks = &place, append(e.blocks, c.Index)
	}
	return out
}

// call writes a step of a tool call, in the form that the caller uses: tools, or the older functions.
func (e *chatEncoder) call(choice int, t *wire.ToolDelta) ([]chatCall, *chatFunctionCall) {
	key := callKey{choice, t.Index}
	first := !slices.Contains(e.called, key)
	call := callOf(&wire.ToolCall{Arguments: t.Arguments, Custom: t.Custom})
	call.Type = ""
	if first {
		e.called = append(e.called, key)
		call = callOf(&wire.ToolCall{ID: t.ID, Name: t.Name, Arguments: t.Arguments, Custom: t.Custom})
		if t.ID == "" {
			call.ID = madeUpID(e.meta, choice, t.Index)
		}
	}
	call.Index = &t.Index
	if !e.meta.Functions {
		return []chatCall{call}, nil
	}
	if t.Index > 0 {
		return nil, nil // the older form has room for one call
	}
	return nil, call.Function
}

// End writes the usage, if the caller requested it, and the terminator.
func (e *chatEncoder) End(dst []byte, u *wire.Usage) []byte {
	if out := usageOf(u); e.meta.IncludeUsage && out != nil {
		dst = e.event(dst, &chatChunk{Choices: []chatChunkChoice{}, Usage: appendJSON(nil, out)})
	}
	return append(dst, "data: [DONE]\n\n"...)
}

// Fail writes the error. There is no terminator after it: SDKs raise on the
// error and must not mistake the stream for a complete one.
func (e *chatEncoder) Fail(dst []byte, err *fault.Error) []byte {
	dst = append(dst, "data: "...)
	dst = append(dst, err.OpenAI()...)
	return append(dst, "\n\n"...)
}

// step writes one event with one choice. Where usage comes at the end, it is
// null until then.
func (e *chatEncoder) step(dst []byte, s chatChunkChoice) []byte {
	c := &chatChunk{Choices: []chatChunkChoice{s}}
	if e.meta.IncludeUsage {
		c.Usage = jsontext.Value("null")
	}
	return e.event(dst, c)
}

// event writes one event.
func (e *chatEncoder) event(dst []byte, c *chatChunk) []byte {
	c.ID, c.Object, c.Created, c.Model = e.meta.ID, "chat.completion.chunk", e.meta.Created, e.meta.Model
	dst = append(dst, "data: "...)
	dst = appendJSON(dst, c)
	return append(dst, "\n\n"...)
}
