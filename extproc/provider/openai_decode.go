package provider

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type oaReply struct {
	ID          string         `json:"id"`
	Model       string         `json:"model"`
	Created     count          `json:"created"`
	Choices     []oaChoiceSaid `json:"choices"`
	Usage       jsontext.Value `json:"usage"`
	XGroq       oaGroq         `json:"x_groq"`
	Error       jsontext.Value `json:"error"`
	ServiceTier string         `json:"service_tier"`
	Fingerprint string         `json:"system_fingerprint"`
}

// oaGroq is where Groq reports the usage of a stream.
type oaGroq struct {
	Usage jsontext.Value `json:"usage"`
}

// oaChoiceSaid is a choice: whole answers have a message, steps of streams a delta.
type oaChoiceSaid struct {
	Index    int            `json:"index"`
	Message  oaSaid         `json:"message"`
	Delta    oaSaid         `json:"delta"`
	Logprobs jsontext.Value `json:"logprobs"`
	Finish   string         `json:"finish_reason"`
}

type oaSaid struct {
	Content          looseText      `json:"content"`
	Refusal          string         `json:"refusal"`
	ReasoningContent looseText      `json:"reasoning_content"`
	Reasoning        looseText      `json:"reasoning"`
	ToolCalls        []oaCall       `json:"tool_calls"`
	Annotations      []oaAnnotation `json:"annotations"`
	Audio            jsontext.Value `json:"audio"`
}

type oaAnnotation struct {
	Type     string `json:"type"`
	Citation struct {
		URL   string `json:"url"`
		Title string `json:"title"`
		Start count  `json:"start_index"`
		End   count  `json:"end_index"`
	} `json:"url_citation"`
}

// looseText is a string, or the text of an array of parts, or anything else,
// which counts as no text.
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
	if decodeLoose(raw, &parts) == nil {
		for _, p := range parts {
			*t += looseText(p.Text)
		}
	}
	return nil
}

// thinking is the reasoning, under whichever of its two names.
func (s *oaSaid) thinking() string {
	if s.ReasoningContent != "" {
		return string(s.ReasoningContent)
	}
	return string(s.Reasoning)
}

// Decode reads a chat.completion object.
func (openAI) Decode(body []byte) (*wire.Reply, error) {
	var in oaReply
	if f := readAnswer(body, &in); f != nil {
		return nil, f
	}
	if given(in.Error) {
		return nil, insideGood(readError(body))
	}
	if len(in.Choices) == 0 {
		return nil, noAnswer("has no choices")
	}
	out := &wire.Reply{
		ID: in.ID, Model: in.Model, Created: in.Created.n, Usage: oaUsageOf(in.Usage),
		ServiceTier: in.ServiceTier, Fingerprint: in.Fingerprint,
	}
	for i := range in.Choices {
		c := &in.Choices[i]
		choice := wire.Choice{
			Index: c.Index, Text: string(c.Message.Content), Refusal: c.Message.Refusal,
			Annotations: annotations(c.Message.Annotations), Audio: whole(c.Message.Audio), Logprobs: whole(c.Logprobs),
			Finish: oaFinish(c.Finish),
		}
		if t := c.Message.thinking(); t != "" {
			choice.Thinking = []wire.Thinking{{Text: t}}
		}
		for _, call := range c.Message.ToolCalls {
			name, arguments, custom := call.parts()
			choice.ToolCalls = append(choice.ToolCalls, wire.ToolCall{ID: call.ID, Name: name, Arguments: arguments, Custom: custom})
		}
		out.Choices = append(out.Choices, choice)
	}
	return out, nil
}

// parts returns what a call says, of either type.
func (c *oaCall) parts() (name, arguments string, custom bool) {
	switch {
	case c.Custom != nil:
		return c.Custom.Name, c.Custom.Input, true
	case c.Function != nil:
		return c.Function.Name, c.Function.Arguments, false
	}
	return "", "", false
}

// given reports whether a raw member is there and says something.
func given(v jsontext.Value) bool {
	return len(v) > 0 && v.Kind() != 'n' && v.Kind() != 'f'
}

// whole returns a raw member, nil if it is absent or null.
func whole(v jsontext.Value) jsontext.Value {
	if !given(v) {
		return nil
	}
	return v
}

// annotations reads sources on the web; other annotations have no canonical form.
func annotations(in []oaAnnotation) []wire.Annotation {
	var out []wire.Annotation
	for _, a := range in {
		if c := a.Citation; c.URL != "" {
			out = append(out, wire.Annotation{URL: c.URL, Title: c.Title, Start: int(c.Start.n), End: int(c.End.n)})
		}
	}
	return out
}

// oaFinish reads finish_reason. Words that only one copy of the API has become
// the nearest of OpenAI's.
func oaFinish(word string) wire.Finish {
	switch strings.ToLower(word) {
	case "":
		return ""
	case "length", "model_length", "max_tokens":
		return wire.FinishLength
	case "tool_calls", "function_call", "tool_use":
		return wire.FinishToolCalls
	case "content_filter", "safety":
		return wire.FinishFilter
	}
	return wire.FinishStop
}

type oaUsage struct {
	Prompt     count    `json:"prompt_tokens"`
	Completion count    `json:"completion_tokens"`
	Total      count    `json:"total_tokens"`
	CacheHit   count    `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached     count    `json:"cached_tokens"`           // Moonshot and others, at the top
	Creation   count    `json:"cache_creation_input_tokens"`
	Searches   count    `json:"num_search_queries"` // Perplexity
	In         oaInPart `json:"prompt_tokens_details"`
	Out        oaOutPat `json:"completion_tokens_details"`
}

type oaInPart struct {
	Cached count `json:"cached_tokens"`
	Audio  count `json:"audio_tokens"`
	Image  count `json:"image_tokens"`
	Write  count `json:"cache_write_tokens"`
}

type oaOutPat struct {
	Reasoning count `json:"reasoning_tokens"`
	Audio     count `json:"audio_tokens"`
}

// oaUsageOf reads a report. Its whole must be there; its parts may be missing.
func oaUsageOf(raw jsontext.Value) wire.Usage {
	if !given(raw) {
		return wire.Usage{}
	}
	var u oaUsage
	if decodeLoose(raw, &u) != nil {
		return wire.Usage{Bad: true}
	}
	if (counts{u.Prompt, u.Completion, u.CacheHit, u.Cached, u.Creation, u.Searches, u.In.Cached, u.In.Audio, u.In.Image, u.In.Write, u.Out.Reasoning, u.Out.Audio}).bad() {
		return wire.Usage{Bad: true}
	}
	if !u.Prompt.given || !u.Completion.given {
		return wire.Usage{}
	}
	t := usage.Tokens{
		Input: u.Prompt.n, CacheRead: max(u.In.Cached.n, u.CacheHit.n, u.Cached.n), CacheWrite: max(u.In.Write.n, u.Creation.n),
		InputAudio: u.In.Audio.n, InputImage: u.In.Image.n,
		Output: u.Completion.n, Reasoning: u.Out.Reasoning.n, OutputAudio: u.Out.Audio.n, SearchQueries: u.Searches.n,
	}
	if t.Reasoning > 0 && u.Total.n == t.Input+t.Output+t.Reasoning {
		t.Output += t.Reasoning // xAI counts reasoning beside the completion, not in it
	}
	return reported(t)
}
