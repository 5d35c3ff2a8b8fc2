package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// completionRequest is what is read of a request for a completion.
type completionRequest struct {
	Model         string          `json:"model"`
	Prompt        json.RawMessage `json:"prompt"`
	MaxTokens     *int            `json:"max_tokens"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// complete serves POST …/completions, for one prompt or several.
func (s *Server) complete(x *exchange) {
	var q completionRequest
	err := json.Unmarshal(x.body, &q)
	prompts, ok := inputsOf(q.Prompt)
	if err != nil || q.Model == "" || !ok {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, param: "prompt", message: "model and prompt are required"})
		return
	}
	p := planOf(q.Model)
	if !s.meet(x, p) {
		return
	}
	out := chatAnswer{plan: p, model: q.Model, id: fmt.Sprintf("cmpl-fake-%d", x.seq), includeUsage: q.StreamOptions.IncludeUsage}
	for _, prompt := range prompts {
		a := ask{text: prompt.text, fromUser: true, prompt: prompt.tokens}
		if q.MaxTokens != nil {
			a.maxOut = *q.MaxTokens
		}
		one := compose(a, p)
		out.choices = append(out.choices, one.choices...)
		out.prompt += one.prompt
		out.completion += one.completion
	}
	if q.Stream {
		s.stream(x, p, out.completionEvents())
		return
	}
	s.whole(x, p, out.completionDocument())
}

func (c *chatAnswer) completionHead(choices ...any) map[string]any {
	if choices == nil {
		choices = []any{}
	}
	return map[string]any{"id": c.id, "object": "text_completion", "created": created(), "model": c.model, "choices": choices, "system_fingerprint": "fp_fake"}
}

func completionChoice(index int, text string, finish any) map[string]any {
	return map[string]any{"index": index, "text": text, "logprobs": nil, "finish_reason": finish}
}

func (c *chatAnswer) completionDocument() map[string]any {
	var choices []any
	for i, ch := range c.choices {
		choices = append(choices, completionChoice(i, strings.Join(ch.pieces, ""), ch.finish))
	}
	doc := c.completionHead(choices...)
	if usage := c.usage(); usage != nil {
		doc["usage"] = usage
	}
	return doc
}

func (c *chatAnswer) completionEvents() []event {
	var out []event
	for i, ch := range c.choices {
		for _, piece := range ch.pieces {
			out = append(out, jsonEvent("", c.completionHead(completionChoice(i, piece, nil))))
		}
		out = append(out, jsonEvent("", c.completionHead(completionChoice(i, "", ch.finish))))
	}
	if usage := c.usage(); c.includeUsage && usage != nil {
		doc := c.completionHead()
		doc["usage"] = usage
		out = append(out, jsonEvent("", doc))
	}
	return append(out, event{data: "[DONE]", last: true})
}
