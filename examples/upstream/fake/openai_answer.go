package fake

import (
	"encoding/json"
	"fmt"
	"strings"
)

// chatAnswer writes an answer as OpenAI's chat completions.
type chatAnswer struct {
	answer
	plan  plan
	model string
	id    string
	// includeUsage is what the caller of a stream asked for.
	includeUsage bool
}

type chatDocument struct {
	ID                string       `json:"id"`
	Object            string       `json:"object"`
	Created           int64        `json:"created"`
	Model             string       `json:"model"`
	Choices           []chatChoice `json:"choices"`
	Usage             any          `json:"usage,omitempty"`
	ServiceTier       string       `json:"service_tier"`
	SystemFingerprint string       `json:"system_fingerprint"`
}

type chatChoice struct {
	Index    int          `json:"index"`
	Message  *chatContent `json:"message,omitempty"`
	Delta    *chatContent `json:"delta,omitempty"`
	Logprobs any          `json:"logprobs"`
	Finish   *string      `json:"finish_reason"`
}

type chatContent struct {
	Role      string     `json:"role,omitempty"`
	Content   any        `json:"content,omitempty"` // a string, or JSON's null
	Refusal   any        `json:"refusal,omitempty"` // JSON's null, in a whole answer
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	Index    *int         `json:"index,omitempty"` // in a stream only
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

func (c *chatAnswer) head(object string) chatDocument {
	return chatDocument{
		ID: c.id, Object: object, Created: created(), Model: c.model, Choices: []chatChoice{},
		ServiceTier: "default", SystemFingerprint: "fp_fake",
	}
}

func (c *chatAnswer) callID(choice, i int) string {
	return fmt.Sprintf("call_%s_%d_%d", strings.TrimPrefix(c.id, "chatcmpl-"), choice, i)
}

// null is JSON's null as a value that omitempty keeps.
func null() json.RawMessage { return json.RawMessage("null") }

func (c *chatAnswer) document() chatDocument {
	doc := c.head("chat.completion")
	doc.Usage = c.usage()
	for i, ch := range c.choices {
		m := &chatContent{Role: "assistant", Content: strings.Join(ch.pieces, ""), Refusal: null(), Reasoning: strings.Join(c.thinking, "")}
		if len(ch.calls) > 0 {
			m.Content = null()
		}
		for k, call := range ch.calls {
			m.ToolCalls = append(m.ToolCalls, chatCall{
				ID: c.callID(i, k), Type: "function", Function: chatFunction{call.name, call.arguments},
			})
		}
		doc.Choices = append(doc.Choices, chatChoice{Index: i, Message: m, Finish: &ch.finish})
	}
	return doc
}

// events is the streamed answer. Where the usage is asked for, each chunk but
// the last says null for it, as OpenAI's do.
func (c *chatAnswer) events() []event {
	var out []event
	emit := func(i int, delta *chatContent, finish *string) {
		doc := c.head("chat.completion.chunk")
		doc.Choices = []chatChoice{{Index: i, Delta: delta, Finish: finish}}
		if c.includeUsage {
			doc.Usage = null()
		}
		out = append(out, jsonEvent("", doc))
	}
	for i, ch := range c.choices {
		first := &chatContent{Role: "assistant", Content: ""}
		if len(ch.calls) > 0 {
			first.Content = null()
		}
		emit(i, first, nil)
		for _, piece := range c.thinking {
			emit(i, &chatContent{Reasoning: piece}, nil)
		}
		for _, piece := range ch.pieces {
			emit(i, &chatContent{Content: piece}, nil)
		}
		for k, call := range ch.calls {
			emit(i, &chatContent{ToolCalls: []chatCall{{
				Index: &k, ID: c.callID(i, k), Type: "function", Function: chatFunction{Name: call.name},
			}}}, nil)
			for _, piece := range fragments(call.arguments) {
				emit(i, &chatContent{ToolCalls: []chatCall{{Index: &k, Function: chatFunction{Arguments: piece}}}}, nil)
			}
		}
		emit(i, &chatContent{}, &ch.finish)
	}
	if usage := c.usage(); c.includeUsage && usage != nil {
		doc := c.head("chat.completion.chunk")
		doc.Usage = usage
		out = append(out, jsonEvent("", doc))
	}
	return append(out, event{data: "[DONE]", last: true})
}

// fragments cuts a tool's arguments as providers do: anywhere.
func fragments(s string) []string {
	const size = 9
	var out []string
	for len(s) > size {
		out = append(out, s[:size])
		s = s[size:]
	}
	return append(out, s)
}

type chatUsage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
		Audio  int `json:"audio_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
		Audio     int `json:"audio_tokens"`
	} `json:"completion_tokens_details"`
}

// usage is nil where it is to be left out.
func (c *chatAnswer) usage() any {
	if bad := spoilt(c.plan.usage); bad != nil {
		return map[string]any{"prompt_tokens": bad, "completion_tokens": bad, "total_tokens": bad}
	}
	switch c.plan.usage {
	case "none":
		return nil
	case "null":
		return null()
	}
	u := chatUsage{Prompt: c.prompt, Completion: c.completion, Total: c.prompt + c.completion}
	u.PromptDetails.Cached = c.cached
	u.CompletionDetails.Reasoning = c.reasoning
	return u
}

// spoilt is a count no one should believe, nil where the usage is not spoilt so.
func spoilt(how string) any {
	switch how {
	case "negative":
		return -7
	case "string":
		return "12"
	case "fraction":
		return 1.5
	case "huge":
		return json.Number("9223372036854775807")
	}
	return nil
}
