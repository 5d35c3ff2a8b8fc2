package openai

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type looseResponse struct {
	ID          string         `json:"id"`
	Model       string         `json:"model"`
	Created     driver.Count   `json:"created"`
	Choices     []looseChoice  `json:"choices"`
	Usage       jsontext.Value `json:"usage"`
	XGroq       looseGroq      `json:"x_groq"`
	Error       jsontext.Value `json:"error"`
	ServiceTier string         `json:"service_tier"`
	Fingerprint string         `json:"system_fingerprint"`
	Sources     []looseSource  `json:"search_results"`
	Base        looseBase      `json:"base_resp"`
}

// looseSource is a source of Perplexity's, for the text as a whole.
type looseSource struct {
	URL   string `json:"url"`
	Title string `json:"title"`
}

// looseBase is where MiniMax reports failures.
type looseBase struct {
	Status int `json:"status_code"`
}

// looseGroq is where Groq reports the usage of a stream.
type looseGroq struct {
	Usage jsontext.Value `json:"usage"`
}

// looseChoice is a choice. A whole response has a message, and a step of a stream a delta.
type looseChoice struct {
	Index    int            `json:"index"`
	Message  looseMessage   `json:"message"`
	Delta    looseMessage   `json:"delta"`
	Logprobs jsontext.Value `json:"logprobs"`
	Finish   string         `json:"finish_reason"`
}

type looseMessage struct {
	Content          looseContent      `json:"content"`
	Refusal          string            `json:"refusal"`
	ReasoningContent looseText         `json:"reasoning_content"`
	Reasoning        looseText         `json:"reasoning"`
	ToolCalls        []chatCall        `json:"tool_calls"`
	Annotations      []looseAnnotation `json:"annotations"`
	Audio            jsontext.Value    `json:"audio"`
}

type looseAnnotation struct {
	Type     string `json:"type"`
	Citation struct {
		URL   string       `json:"url"`
		Title string       `json:"title"`
		Start driver.Count `json:"start_index"`
		End   driver.Count `json:"end_index"`
	} `json:"url_citation"`
}

// looseContent is a string, or an array of parts. Of these, the text and the reasoning count.
type looseContent struct{ text, thinking string }

// UnmarshalJSONFrom reads any value.
func (c *looseContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		return json.UnmarshalDecode(dec, &c.text)
	}
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() != '[' {
		return err
	}
	var parts []struct {
		Text     string    `json:"text"`
		Thinking looseText `json:"thinking"`
		Summary  looseText `json:"summary"` // Databricks
	}
	if driver.DecodeLoose(raw, &parts) == nil {
		for _, p := range parts {
			c.text += p.Text
			c.thinking += string(p.Thinking + p.Summary)
		}
	}
	return nil
}

// looseText is a string, or the text of an array of parts. Anything else counts as no text.
type looseText string

// UnmarshalJSONFrom reads any value.
func (t *looseText) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		return json.UnmarshalDecode(dec, (*string)(t))
	}
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() != '[' {
		return err
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if driver.DecodeLoose(raw, &parts) == nil {
		for _, p := range parts {
			*t += looseText(p.Text)
		}
	}
	return nil
}

// thinking returns the reasoning, which has one of two names, or is a part of the content.
func (s *looseMessage) thinking() string {
	if s.ReasoningContent != "" {
		return string(s.ReasoningContent)
	}
	if s.Reasoning != "" {
		return string(s.Reasoning)
	}
	return s.Content.thinking
}

// Decode reads a chat.completion object.
func (d Driver) Decode(body []byte) (*wire.Response, error) {
	var in looseResponse
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, f
	}
	if driver.Given(in.Error) {
		return nil, driver.FailureIn(body)
	}
	if len(in.Choices) == 0 && in.Base.Status != 0 {
		return nil, driver.FailureIn(body)
	}
	if len(in.Choices) == 0 {
		return nil, driver.InvalidResponse("has no choices")
	}
	out := &wire.Response{
		ID: in.ID, Model: in.Model, Created: in.Created.N, Usage: readUsage(in.Usage),
		ServiceTier: in.ServiceTier, Fingerprint: in.Fingerprint,
	}
	for i := range in.Choices {
		c := &in.Choices[i]
		choice := wire.Choice{
			Index: c.Index, Text: c.Message.Content.text, Refusal: c.Message.Refusal,
			Annotations: annotations(c.Message.Annotations), Audio: givenOrNil(c.Message.Audio), Logprobs: givenOrNil(c.Logprobs),
			Finish: readFinish(c.Finish),
		}
		t := c.Message.thinking()
		if t == "" && d.ThinksInText {
			t, choice.Text = untag(choice.Text)
		}
		if t != "" {
			choice.Thinking = []wire.Thinking{{Text: t}}
		}
		if choice.Annotations == nil {
			choice.Annotations = in.sources()
		}
		for _, call := range c.Message.ToolCalls {
			name, arguments, custom := call.parts()
			choice.ToolCalls = append(choice.ToolCalls, wire.ToolCall{ID: call.ID, Name: name, Arguments: arguments, Custom: custom})
		}
		out.Choices = append(out.Choices, choice)
	}
	return out, nil
}

// sources returns the sources of the whole text.
func (in *looseResponse) sources() []wire.Annotation {
	var out []wire.Annotation
	for _, s := range in.Sources {
		if s.URL != "" {
			out = append(out, wire.Annotation{URL: s.URL, Title: s.Title})
		}
	}
	return out
}

// parts returns the parts of a call of either type.
func (c *chatCall) parts() (name, arguments string, custom bool) {
	switch {
	case c.Custom != nil:
		return c.Custom.Name, c.Custom.Input, true
	case c.Function != nil:
		return c.Function.Name, c.Function.Arguments, false
	}
	return "", "", false
}

// givenOrNil returns a raw member, nil if it is absent, null or false.
func givenOrNil(v jsontext.Value) jsontext.Value {
	if !driver.Given(v) {
		return nil
	}
	return v
}

// annotations reads sources on the web; other annotations have no canonical form.
func annotations(in []looseAnnotation) []wire.Annotation {
	var out []wire.Annotation
	for _, a := range in {
		if c := a.Citation; c.URL != "" {
			out = append(out, wire.Annotation{URL: c.URL, Title: c.Title, Start: int(c.Start.N), End: int(c.End.N)})
		}
	}
	return out
}

// readFinish reads finish_reason. A word that only one compatible provider uses
// becomes the nearest of OpenAI's.
func readFinish(word string) wire.Finish {
	switch strings.ToLower(word) {
	case "":
		return ""
	case "length", "model_length", "max_tokens":
		return wire.FinishLength
	case "tool_calls", "function_call", "tool_use":
		return wire.FinishToolCalls
	case "content_filter", "safety", "sensitive":
		return wire.FinishFilter
	}
	return wire.FinishStop
}

type looseUsage struct {
	Prompt     driver.Count           `json:"prompt_tokens"`
	Completion driver.Count           `json:"completion_tokens"`
	Total      driver.Count           `json:"total_tokens"`
	CacheHit   driver.Count           `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached     driver.Count           `json:"cached_tokens"`           // Moonshot and others, at the top
	Creation   driver.Count           `json:"cache_creation_input_tokens"`
	Searches   driver.Count           `json:"num_search_queries"` // Perplexity
	In         loosePromptDetails     `json:"prompt_tokens_details"`
	Out        looseCompletionDetails `json:"completion_tokens_details"`
}

type loosePromptDetails struct {
	Cached driver.Count `json:"cached_tokens"`
	Audio  driver.Count `json:"audio_tokens"`
	Image  driver.Count `json:"image_tokens"`
	Write  driver.Count `json:"cache_write_tokens"`
}

type looseCompletionDetails struct {
	Reasoning driver.Count `json:"reasoning_tokens"`
	Audio     driver.Count `json:"audio_tokens"`
}

// readUsage reads a report. Its totals are required; their parts are optional.
func readUsage(raw jsontext.Value) wire.Usage {
	if !driver.Given(raw) {
		return wire.Usage{}
	}
	var u looseUsage
	if driver.DecodeLoose(raw, &u) != nil {
		return wire.Usage{Bad: true}
	}
	if (driver.Counts{u.Prompt, u.Completion, u.CacheHit, u.Cached, u.Creation, u.Searches, u.In.Cached, u.In.Audio, u.In.Image, u.In.Write, u.Out.Reasoning, u.Out.Audio}).Bad() {
		return wire.Usage{Bad: true}
	}
	if !u.Prompt.Given || !u.Completion.Given {
		return wire.Usage{}
	}
	t := usage.Tokens{
		Input: u.Prompt.N, CacheRead: max(u.In.Cached.N, u.CacheHit.N, u.Cached.N), CacheWrite: max(u.In.Write.N, u.Creation.N),
		InputAudio: u.In.Audio.N, InputImage: u.In.Image.N,
		Output: u.Completion.N, Reasoning: u.Out.Reasoning.N, OutputAudio: u.Out.Audio.N, SearchQueries: u.Searches.N,
	}
	if t.Reasoning > 0 && u.Total.N == t.Input+t.Output+t.Reasoning {
		t.Output += t.Reasoning // xAI counts reasoning next to the completion, not in it
	}
	return driver.Reported(t)
}
