package openai

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type oaAsk struct {
	Model            string         `json:"model"`
	Messages         []oaMessage    `json:"messages"`
	Tools            []any          `json:"tools,omitzero"`
	ToolChoice       any            `json:"tool_choice,omitzero"`
	ParallelTools    *bool          `json:"parallel_tool_calls,omitzero"`
	Format           *oaFormat      `json:"response_format,omitzero"`
	Effort           string         `json:"reasoning_effort,omitzero"`
	Temperature      *float64       `json:"temperature,omitzero"`
	TopP             *float64       `json:"top_p,omitzero"`
	FrequencyPenalty *float64       `json:"frequency_penalty,omitzero"`
	PresencePenalty  *float64       `json:"presence_penalty,omitzero"`
	N                *int64         `json:"n,omitzero"`
	Seed             *int64         `json:"seed,omitzero"`
	Logprobs         *bool          `json:"logprobs,omitzero"`
	TopLogprobs      *int64         `json:"top_logprobs,omitzero"`
	LogitBias        jsontext.Value `json:"logit_bias,omitzero"`
	MaxTokens        *int64         `json:"max_tokens,omitzero"`
	MaxCompletion    *int64         `json:"max_completion_tokens,omitzero"`
	Stop             []string       `json:"stop,omitzero"`
	User             string         `json:"user,omitzero"`
	Metadata         jsontext.Value `json:"metadata,omitzero"`
	Audio            jsontext.Value `json:"audio,omitzero"`
	Modalities       []string       `json:"modalities,omitzero"`
	WebSearch        *oaSearch      `json:"web_search_options,omitzero"`
	Stream           bool           `json:"stream,omitzero"`
	StreamOptions    *oaOptions     `json:"stream_options,omitzero"`
	Extra            jsontext.Value `json:",embed"`
}

type oaOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type oaFormat struct {
	Type   string    `json:"type"`
	Schema *oaSchema `json:"json_schema,omitzero"`
}

type oaSchema struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Schema      jsontext.Value `json:"schema"`
	Strict      *bool          `json:"strict,omitzero"`
}

type oaSearch struct {
	ContextSize string      `json:"search_context_size,omitzero"`
	Location    *oaLocation `json:"user_location,omitzero"`
}

type oaLocation struct {
	Type        string         `json:"type"`
	Approximate jsontext.Value `json:"approximate"`
}

type oaTool struct {
	Type     string     `json:"type"`
	Function oaFunction `json:"function"`
}

type oaFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters,omitzero"`
	Strict      *bool          `json:"strict,omitzero"`
}

type oaNamed struct {
	Type     string  `json:"type"`
	Function *oaName `json:"function,omitzero"`
	Custom   *oaName `json:"custom,omitzero"`
}

type oaName struct {
	Name string `json:"name"`
}

// Encode writes a chat request. Streams always ask for the usage, whether or
// not the caller did: it is what the caller is billed by.
func (d Driver) Encode(ask *wire.Ask, t driver.Target) ([]byte, error) {
	messages, err := d.messages(ask)
	if err != nil {
		return nil, err
	}
	s := ask.Sampling
	if t.Features.NoSampling {
		s = wire.Sampling{N: s.N, Seed: s.Seed}
	}
	out := &oaAsk{
		Model: t.Model, Messages: messages, Tools: oaTools(ask), ToolChoice: oaChoice(ask),
		Format: oaFormatOf(&ask.Format), Effort: oaEffort(&ask.Reasoning),
		Temperature: s.Temperature, TopP: s.TopP, FrequencyPenalty: s.FrequencyPenalty, PresencePenalty: s.PresencePenalty,
		N: s.N, Seed: s.Seed, Logprobs: s.Logprobs, TopLogprobs: s.TopLogprobs, LogitBias: s.LogitBias,
		Stop: ask.Stop, User: ask.User, Metadata: ask.Metadata, Audio: ask.Audio, Modalities: ask.Modalities, Stream: ask.Stream,
	}
	if len(out.Tools) > 0 {
		out.ParallelTools = ask.ParallelTools
	}
	if limit := limitOf(ask, t); d.NewLimit {
		out.MaxCompletion = limit
	} else {
		out.MaxTokens = limit
	}
	if ask.Stream {
		out.StreamOptions = &oaOptions{IncludeUsage: true}
	}
	if w := ask.WebSearch; w != nil {
		out.WebSearch = &oaSearch{ContextSize: w.ContextSize}
		if w.Location != nil {
			out.WebSearch.Location = &oaLocation{Type: "approximate", Approximate: w.Location}
		}
	}
	if out.Extra, err = driver.Object(ask.Extra); err != nil {
		return nil, fault.From(err)
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fault.From(err)
	}
	return body, nil
}

// limitOf is the most output to ask for. Asking for more than the model can
// write is the same wish as asking for all that it can.
func limitOf(ask *wire.Ask, t driver.Target) *int64 {
	if ask.MaxTokens == nil {
		return nil
	}
	limit := *ask.MaxTokens
	if t.MaxOutputTokens > 0 {
		limit = min(limit, t.MaxOutputTokens)
	}
	return &limit
}

// oaTools lists the tools. Choosing among some is choosing from a shorter list,
// which every copy of the API understands.
func oaTools(ask *wire.Ask) []any {
	var out []any
	for i := range ask.Tools {
		t := &ask.Tools[i]
		switch {
		case t.Type != "":
			out = append(out, t.Raw)
		case ask.ToolChoice.Allows(t.Name):
			out = append(out, oaTool{Type: "function", Function: oaFunction{
				Name: t.Name, Description: t.Description, Parameters: t.Schema, Strict: t.Strict,
			}})
		}
	}
	return out
}

// oaChoice writes tool_choice; nil if there is nothing to say.
func oaChoice(ask *wire.Ask) any {
	c := ask.ToolChoice
	switch c.Mode {
	case wire.ChoiceAuto:
		return "auto"
	case wire.ChoiceNone:
		return "none"
	case wire.ChoiceRequired:
		return "required"
	case wire.ChoiceNamed:
		if c.Custom {
			return oaNamed{Type: "custom", Custom: &oaName{c.Name}}
		}
		return oaNamed{Type: "function", Function: &oaName{c.Name}}
	case wire.ChoiceUnset:
	}
	return nil
}

// oaFormatOf writes response_format.
func oaFormatOf(f *wire.Format) *oaFormat {
	switch f.Kind {
	case wire.FormatObject:
		return &oaFormat{Type: "json_object"}
	case wire.FormatSchema:
		name := f.Name
		if name == "" {
			name = "answer" // OpenAI demands one
		}
		return &oaFormat{Type: "json_schema", Schema: &oaSchema{Name: name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}}
	case wire.FormatText:
	}
	return nil
}

// oaEffort says in OpenAI's words how much to think. Budgets become efforts by
// the table that turns efforts into budgets.
func oaEffort(r *wire.Reasoning) string {
	switch {
	case r.Effort != "" || r.Mode != "enabled":
		return r.Effort
	case r.Budget <= wire.BudgetOf("low"):
		return "low"
	case r.Budget <= wire.BudgetOf("medium"):
		return "medium"
	}
	return "high"
}
