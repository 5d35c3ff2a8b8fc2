package openai

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type chatResponse struct {
	ID          string               `json:"id"`
	Object      string               `json:"object"`
	Created     int64                `json:"created"`
	Model       string               `json:"model"`
	Choices     []chatResponseChoice `json:"choices"`
	Usage       *chatUsage           `json:"usage,omitzero"`
	ServiceTier string               `json:"service_tier,omitzero"`
	Fingerprint string               `json:"system_fingerprint,omitzero"`
}

type chatResponseChoice struct {
	Index    int                 `json:"index"`
	Message  chatResponseMessage `json:"message"`
	Logprobs jsontext.Value      `json:"logprobs"`
	Finish   string              `json:"finish_reason"`
}

type chatResponseMessage struct {
	Role             string            `json:"role"`
	Content          *string           `json:"content"`
	Refusal          *string           `json:"refusal"`
	ReasoningContent string            `json:"reasoning_content,omitzero"`
	ThinkingBlocks   []chatThinking    `json:"thinking_blocks,omitzero"`
	ToolCalls        []chatCall        `json:"tool_calls,omitzero"`
	FunctionCall     *chatFunctionCall `json:"function_call,omitzero"`
	Annotations      []chatAnnotation  `json:"annotations,omitzero"`
	Audio            jsontext.Value    `json:"audio,omitzero"`
}

type chatAnnotation struct {
	Type        string       `json:"type"`
	URLCitation chatCitation `json:"url_citation"`
}

type chatCitation struct {
	Start int    `json:"start_index"`
	End   int    `json:"end_index"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

type chatUsage struct {
	Prompt     int64                 `json:"prompt_tokens"`
	Completion int64                 `json:"completion_tokens"`
	Total      int64                 `json:"total_tokens"`
	In         chatPromptDetails     `json:"prompt_tokens_details"`
	Out        chatCompletionDetails `json:"completion_tokens_details"`
	Creation   int64                 `json:"cache_creation_input_tokens,omitzero"` // Anthropic's name, for callers that look for it
	Read       int64                 `json:"cache_read_input_tokens,omitzero"`
	Cost       *money.Pico           `json:"cost,omitzero"`
}

type chatPromptDetails struct {
	Cached int64 `json:"cached_tokens"`
	Audio  int64 `json:"audio_tokens"`
	Write  int64 `json:"cache_write_tokens,omitzero"`
}

type chatCompletionDetails struct {
	Reasoning int64 `json:"reasoning_tokens"`
	Audio     int64 `json:"audio_tokens"`
}

// responseOf converts a response to OpenAI's form.
func responseOf(r *wire.Response, m dialect.Meta) *chatResponse {
	out := &chatResponse{
		ID: m.ID, Object: "chat.completion", Created: m.Created, Model: m.Model,
		Choices: make([]chatResponseChoice, 0, len(r.Choices)), Usage: usageOf(&r.Usage),
		ServiceTier: r.ServiceTier, Fingerprint: r.Fingerprint,
	}
	if out.ID == "" {
		out.ID = r.ID
	}
	for i := range r.Choices {
		c := &r.Choices[i]
		out.Choices = append(out.Choices, chatResponseChoice{
			Index: c.Index, Message: responseMessageOf(c, m), Logprobs: c.Logprobs, Finish: finishOf(c.Finish, m),
		})
	}
	return out
}

// responseMessageOf converts one choice to an assistant message. content is null
// only if another member has the content, as SDKs expect.
func responseMessageOf(c *wire.Choice, m dialect.Meta) chatResponseMessage {
	out := chatResponseMessage{Role: "assistant", ThinkingBlocks: blocksOf(c.Thinking), Annotations: annotationsOf(c.Annotations), Audio: c.Audio}
	if c.Text != "" || c.Refusal == "" && len(c.ToolCalls) == 0 && c.Audio == nil {
		out.Content = &c.Text
	}
	if c.Refusal != "" {
		out.Refusal = &c.Refusal
	}
	for _, t := range c.Thinking {
		out.ReasoningContent += t.Text
	}
	for i := range c.ToolCalls {
		t := &c.ToolCalls[i]
		if m.Functions {
			out.FunctionCall = &chatFunctionCall{Name: t.Name, Arguments: t.Arguments}
			break // the older form has room for one call
		}
		call := callOf(t)
		if t.ID == "" {
			call.ID = madeUpID(m, c.Index, i)
		}
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out
}

// madeUpID names a call whose provider gave it no id: callers refer to calls by id.
func madeUpID(m dialect.Meta, choice, call int) string {
	return fmt.Sprintf("call_%s_%d_%d", m.ID, choice, call)
}

// blocksOf lists the blocks that the caller must send back.
func blocksOf(in []wire.Thinking) []chatThinking {
	var out []chatThinking
	for _, t := range in {
		switch {
		case t.Redacted != "":
			out = append(out, chatThinking{Type: "redacted_thinking", Data: t.Redacted})
		case t.Signature != "":
			out = append(out, chatThinking{Type: "thinking", Thinking: t.Text, Signature: t.Signature})
		}
	}
	return out
}

// annotationsOf converts annotations to OpenAI's form, which has only sources on the web.
func annotationsOf(in []wire.Annotation) []chatAnnotation {
	var out []chatAnnotation
	for _, a := range in {
		if a.URL == "" {
			continue
		}
		out = append(out, chatAnnotation{Type: "url_citation", URLCitation: chatCitation{Start: a.Start, End: a.End, Title: a.Title, URL: a.URL}})
	}
	return out
}

// finishOf names the reason in the words that the caller uses: for tools, or for the older functions.
func finishOf(f wire.Finish, m dialect.Meta) string {
	switch {
	case f == wire.FinishToolCalls && m.Functions:
		return "function_call"
	case f == "":
		return string(wire.FinishStop)
	}
	return string(f)
}

// usageOf converts usage to OpenAI's form; nil if it is not known.
func usageOf(u *wire.Usage) *chatUsage {
	if u == nil || !u.Known() {
		return nil
	}
	t := u.Tokens
	written := t.CacheWrite + t.CacheWrite1h
	return &chatUsage{
		Prompt: t.Input, Completion: t.Output, Total: t.Input + t.Output,
		In:       chatPromptDetails{Cached: t.CacheRead, Audio: t.InputAudio, Write: written},
		Out:      chatCompletionDetails{Reasoning: t.Reasoning, Audio: t.OutputAudio},
		Creation: written, Read: t.CacheRead, Cost: u.Cost,
	}
}

// appendJSON appends v. If v cannot be written, it appends an error body: half an
// object must not reach a caller. Only invalid raw JSON, against the guarantee of
// package wire, can cause this.
func appendJSON(dst []byte, v any) []byte {
	out, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		out = fault.From(err).OpenAI()
	}
	return append(dst, out...)
}
