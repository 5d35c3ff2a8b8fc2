package openai

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Encode writes a chat request. Streams always request the usage, whether or
// not the caller did: the caller is billed by it.
func (d Driver) Encode(r *wire.Request, t driver.Target) ([]byte, error) {
	if err := d.Variation.Rejects(r, t, vendor); err != nil {
		return nil, err
	}
	if len(d.Variation.Lacks) > 0 {
		kept := d.Variation.Without(*r)
		r = &kept
	}
	messages, err := d.messages(r)
	if err != nil {
		return nil, err
	}
	stop, err := d.bounded(r, t)
	if err != nil {
		return nil, err
	}
	tools, err := toolsOf(r, t)
	if err != nil {
		return nil, err
	}
	search, err := searchOf(r, t)
	if err != nil {
		return nil, err
	}
	extra, err := extraOf(r, t)
	if err != nil {
		return nil, err
	}
	s := r.Sampling
	if t.Features.NoSampling {
		s = wire.Sampling{N: s.N, Seed: s.Seed}
	}
	effort := r.Reasoning.Word()
	if t.Features.NoReasoning {
		effort = ""
	}
	out := &chatRequest{
		Model: t.Model, Messages: messages, Tools: tools, ResponseFormat: formatOf(&r.Format), ReasoningEffort: effort,
		Temperature: s.Temperature, TopP: s.TopP, FrequencyPenalty: s.FrequencyPenalty, PresencePenalty: s.PresencePenalty,
		N: (*dialect.Whole)(s.N), Seed: s.Seed, Logprobs: s.Logprobs, TopLogprobs: (*dialect.Whole)(s.TopLogprobs), LogitBias: s.LogitBias,
		Stop: stop, User: userOf(r.User), Metadata: r.Metadata, Audio: r.Audio, Modalities: r.Modalities, Stream: r.Stream, WebSearchOptions: search,
	}
	if !driver.Given(r.ExtraNamed("store")) {
		out.Metadata = nil // labels of what is stored: OpenAI rejects them without store
	}
	if len(out.Tools) > 0 {
		out.ParallelToolCalls = r.ParallelTools
	}
	if limit := limitOf(r, t); d.NewLimit {
		out.MaxCompletionTokens = limit
	} else {
		out.MaxTokens = limit
	}
	if r.Stream && !d.Variation.NoUsageOption {
		out.StreamOptions = &chatStreamOptions{IncludeUsage: true}
	}
	if out.ToolChoice, err = choiceOf(r, t); err != nil {
		return nil, fault.From(err)
	}
	if out.Extra, err = driver.Object(extra); err != nil {
		return nil, fault.From(err)
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fault.From(err)
	}
	return body, nil
}

// limitOf returns the output to request at most. A request for more than the
// model can write is a request for all that it can.
func limitOf(r *wire.Request, t driver.Target) *dialect.Whole {
	if r.MaxTokens == nil {
		return nil
	}
	limit := *r.MaxTokens
	if t.MaxOutputTokens > 0 {
		limit = min(limit, t.MaxOutputTokens)
	}
	return (*dialect.Whole)(&limit)
}

// toolsOf lists the tools. If only some are allowed, it lists those: every
// compatible provider understands a shorter list.
func toolsOf(r *wire.Request, target driver.Target) ([]chatTool, error) {
	var out []chatTool
	for i := range r.Tools {
		t := &r.Tools[i]
		switch {
		case t.Type != "" && !r.Caller.IsOpenAIs():
			if !target.DropParams {
				return nil, fault.Field(fmt.Sprintf("tools[%d].type", i), driver.CodeUnsupported,
					"tools[%d].type: the tool %s is not supported by %s; leave it out, or set drop_params on the deployment.", i, fault.Quote(t.Type), vendor)
			}
		case t.Type != "":
			out = append(out, chatTool{raw: t.Raw})
		case r.ToolChoice.Allows(t.Name):
			out = append(out, chatTool{chatToolBody: chatToolBody{Type: "function", Function: chatFunction{
				Name: t.Name, Description: t.Description, Parameters: t.Schema, Strict: driver.Strict(r.Caller, t),
			}}})
		}
	}
	return out, nil
}

// searchOf writes web_search_options; nil if the model may not search. A list of domains is
// a limit that callers rely on, so it is not dropped in silence. The number of searches is a hint.
func searchOf(r *wire.Request, t driver.Target) (*chatWebSearch, error) {
	w := r.WebSearch
	switch {
	case w == nil:
		return nil, nil
	case w.Allowed != nil && !t.DropParams:
		return nil, driver.Unsupported("tools.allowed_domains", vendor)
	case w.Blocked != nil && !t.DropParams:
		return nil, driver.Unsupported("tools.blocked_domains", vendor)
	}
	out := &chatWebSearch{ContextSize: w.ContextSize}
	if w.Location != nil {
		out.Location = &chatLocation{Type: jsontext.Value(`"approximate"`), Approximate: w.Location}
	}
	return out, nil
}

// extraOf returns the members to pass on: all of a caller of OpenAI's language. Of the members of
// others, hints are dropped, and those that change the response or where it is made are rejected.
func extraOf(r *wire.Request, t driver.Target) ([]wire.Field, error) {
	if r.Caller.IsOpenAIs() {
		return r.Extra, nil
	}
	members, err := driver.Extra(r, t, vendor)
	if err != nil {
		return nil, err
	}
	var out []wire.Field
	for _, f := range members {
		switch f.Name {
		case "top_k", "cache_control", "context_management", "diagnostics", "speed", "user_profile_id", "workspace_id":
		case "service_tier":
			out = append(out, wire.Field{Name: f.Name, Value: tierFor(r.Caller, f.Value)})
		default:
			if !t.DropParams {
				return nil, driver.Unsupported(f.Name, vendor)
			}
		}
	}
	return out, nil
}

// tierFor converts the service tier that a caller requests.
func tierFor(caller wire.Dialect, tier jsontext.Value) jsontext.Value {
	switch {
	case caller != wire.Anthropic:
		return tier
	case driver.Text(tier) == "standard_only":
		return jsontext.Value(`"default"`)
	}
	return jsontext.Value(`"auto"`)
}

// choiceOf writes tool_choice; nil if it is unset. In other languages it may be about a search of
// the web, which is no tool here: OpenAI rejects a choice without tools, or of an unknown one.
func choiceOf(r *wire.Request, t driver.Target) (jsontext.Value, error) {
	c := &r.ToolChoice
	sent := func(tool wire.Tool) bool {
		return tool.Type == "" && (c.Mode != wire.ChoiceNamed || tool.Name == c.Name)
	}
	if !r.Caller.IsOpenAIs() && !slices.ContainsFunc(r.Tools, sent) {
		if c.Mode == wire.ChoiceNamed && !t.DropParams {
			return nil, driver.Unsupported("tool_choice.name", vendor)
		}
		return nil, nil
	}
	switch c.Mode {
	case wire.ChoiceAuto:
		return jsontext.Value(`"auto"`), nil
	case wire.ChoiceNone:
		return jsontext.Value(`"none"`), nil
	case wire.ChoiceRequired:
		return jsontext.Value(`"required"`), nil
	case wire.ChoiceNamed:
		if c.Custom {
			return json.Marshal(&chatToolChoice{Type: "custom", Custom: chatName{c.Name}})
		}
		return json.Marshal(&chatToolChoice{Type: "function", Function: chatName{c.Name}})
	case wire.ChoiceUnset:
	}
	return nil, nil
}

// formatOf writes response_format.
func formatOf(f *wire.Format) *chatFormat {
	switch f.Kind {
	case wire.FormatObject:
		return &chatFormat{Type: "json_object"}
	case wire.FormatSchema:
		name := f.Name
		if name == "" {
			name = "answer" // OpenAI requires one
		}
		return &chatFormat{Type: "json_schema", JSONSchema: &chatSchema{Name: name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}}
	case wire.FormatText:
	}
	return nil
}
