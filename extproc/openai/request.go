package openai

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// mostMessages is the most that any provider takes today. It bounds what a hostile body costs.
const mostMessages = 100_000

// chatRequest is the body of a chat request. Providers receive its members in this order.
type chatRequest struct {
	Model               string             `json:"model"`
	Messages            chatMessages       `json:"messages"`
	Tools               []chatTool         `json:"tools,omitzero"`
	ToolChoice          jsontext.Value     `json:"tool_choice,omitzero"`
	ParallelToolCalls   *bool              `json:"parallel_tool_calls,omitzero"`
	Functions           []chatFunction     `json:"functions,omitzero"`
	FunctionCall        jsontext.Value     `json:"function_call,omitzero"`
	ResponseFormat      *chatFormat        `json:"response_format,omitzero"`
	ReasoningEffort     string             `json:"reasoning_effort,omitzero"`
	Thinking            *chatReasoning     `json:"thinking,omitzero"`
	Temperature         *float64           `json:"temperature,omitzero"`
	TopP                *float64           `json:"top_p,omitzero"`
	FrequencyPenalty    *float64           `json:"frequency_penalty,omitzero"`
	PresencePenalty     *float64           `json:"presence_penalty,omitzero"`
	N                   *dialect.Whole     `json:"n,omitzero"`
	Seed                *int64             `json:"seed,omitzero"`
	RandomSeed          *int64             `json:"random_seed,omitzero"` // as Mistral's clients call it; of callers only
	Logprobs            *bool              `json:"logprobs,omitzero"`
	TopLogprobs         *dialect.Whole     `json:"top_logprobs,omitzero"`
	LogitBias           jsontext.Value     `json:"logit_bias,omitzero"`
	MaxTokens           *dialect.Whole     `json:"max_tokens,omitzero"`
	MaxCompletionTokens *dialect.Whole     `json:"max_completion_tokens,omitzero"`
	Stop                chatStop           `json:"stop,omitzero"`
	User                string             `json:"user,omitzero"`
	Metadata            jsontext.Value     `json:"metadata,omitzero"`
	Audio               jsontext.Value     `json:"audio,omitzero"`
	Modalities          []string           `json:"modalities,omitzero"`
	WebSearchOptions    *chatWebSearch     `json:"web_search_options,omitzero"`
	Stream              bool               `json:"stream,omitzero"`
	StreamOptions       *chatStreamOptions `json:"stream_options,omitzero"`
	Extra               jsontext.Value     `json:",embed"`
}

type chatFormat struct {
	Type       string      `json:"type"`
	JSONSchema *chatSchema `json:"json_schema,omitzero"`
}

type chatSchema struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Schema      jsontext.Value `json:"schema"`
	Strict      *bool          `json:"strict,omitzero"`
}

type chatReasoning struct {
	Type   string        `json:"type"`
	Budget dialect.Whole `json:"budget_tokens"`
}

type chatWebSearch struct {
	ContextSize string        `json:"search_context_size,omitzero"`
	Location    *chatLocation `json:"user_location,omitzero"`
}

type chatLocation struct {
	Type        jsontext.Value `json:"type,omitzero"` // not read
	Approximate jsontext.Value `json:"approximate"`
}

type chatStreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// chatStop is one text or several.
type chatStop []string

// UnmarshalJSONFrom reads a string, an array of strings or null.
func (s *chatStop) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		var one string
		if err := json.UnmarshalDecode(dec, &one); err != nil {
			return err
		}
		*s = chatStop{one}
		return nil
	}
	return json.UnmarshalDecode(dec, (*[]string)(s))
}

// canonical converts the body to the canonical form.
func (c *chatRequest) canonical() (*wire.Request, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	a := &wire.Request{
		Model:         c.Model,
		ParallelTools: c.ParallelToolCalls,
		MaxTokens:     (*int64)(c.MaxTokens),
		Stop:          c.Stop,
		User:          c.User,
		Metadata:      dialect.Present(c.Metadata),
		Audio:         dialect.Present(c.Audio),
		Modalities:    c.Modalities,
		Stream:        c.Stream,
		IncludeUsage:  c.StreamOptions != nil && c.StreamOptions.IncludeUsage,
		Sampling: wire.Sampling{
			Temperature: c.Temperature, TopP: c.TopP,
			FrequencyPenalty: c.FrequencyPenalty, PresencePenalty: c.PresencePenalty,
			N: (*int64)(c.N), Seed: c.Seed,
			Logprobs: c.Logprobs, TopLogprobs: (*int64)(c.TopLogprobs), LogitBias: dialect.Present(c.LogitBias),
		},
	}
	if a.Sampling.Seed == nil {
		a.Sampling.Seed = c.RandomSeed
	}
	if c.MaxCompletionTokens != nil {
		a.MaxTokens = (*int64)(c.MaxCompletionTokens)
	}
	a.Reasoning.Effort = c.ReasoningEffort
	if c.Thinking != nil {
		a.Reasoning.Mode, a.Reasoning.Budget = c.Thinking.Type, int64(c.Thinking.Budget)
	}
	if s := c.WebSearchOptions; s != nil {
		a.WebSearch = &wire.WebSearch{ContextSize: s.ContextSize}
		if s.Location != nil {
			a.WebSearch.Location = dialect.Present(s.Location.Approximate)
		}
	}
	for _, step := range []func(*wire.Request) error{c.messages, c.tools, c.choice, c.format, c.extra} {
		if err := step(a); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// check rejects what no provider accepts.
func (c *chatRequest) check() error {
	if err := dialect.CheckModel(c.Model); err != nil {
		return err
	}
	if len(c.Messages) == 0 {
		return fault.Field("messages", dialect.CodeMissing, "messages is missing; send at least one message.")
	}
	if t := c.Thinking; t != nil && !slices.Contains([]string{"enabled", "adaptive", "disabled"}, t.Type) {
		return fault.Field("thinking.type", dialect.CodeValue, "thinking.type must be enabled, adaptive or disabled.")
	}
	switch c.ReasoningEffort {
	case "", "none", "minimal", "low", "medium", "high", "xhigh", "max":
	default:
		return fault.Field("reasoning_effort", dialect.CodeValue, "reasoning_effort must be none, minimal, low, medium, high, xhigh or max.")
	}
	for _, o := range []struct {
		name  string
		value jsontext.Value
	}{{"logit_bias", c.LogitBias}, {"metadata", c.Metadata}, {"audio", c.Audio}} {
		if v := dialect.Present(o.value); v != nil && v.Kind() != '{' {
			return fault.Field(o.name, dialect.CodeType, "%s must be an object.", o.name)
		}
	}
	return c.ranges()
}

// ranges rejects numbers that are out of range.
func (c *chatRequest) ranges() error {
	var budget *dialect.Whole
	if c.Thinking != nil && c.Thinking.Budget != 0 {
		budget = &c.Thinking.Budget
	}
	for _, err := range []error{
		dialect.In(c.Temperature, 0, 2, "temperature"),
		dialect.In(c.TopP, 0, 1, "top_p"),
		dialect.In(c.FrequencyPenalty, -2, 2, "frequency_penalty"),
		dialect.In(c.PresencePenalty, -2, 2, "presence_penalty"),
		dialect.In(c.N, 1, 128, "n"),
		dialect.In(c.TopLogprobs, 0, 20, "top_logprobs"),
		dialect.In(c.MaxTokens, 1, usage.Limit, "max_tokens"),
		dialect.In(c.MaxCompletionTokens, 1, usage.Limit, "max_completion_tokens"),
		dialect.In(budget, 1, usage.Limit, "thinking.budget_tokens"),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// format reads response_format.
func (c *chatRequest) format(a *wire.Request) error {
	f := c.ResponseFormat
	if f == nil {
		return nil
	}
	switch f.Type {
	case "text":
	case "json_object":
		a.Format.Kind = wire.FormatObject
	case "json_schema":
		s := f.JSONSchema
		if s == nil || dialect.Present(s.Schema) == nil {
			return fault.Field("response_format.json_schema", dialect.CodeMissing, "response_format.json_schema needs a name and a schema.")
		}
		if s.Schema.Kind() != '{' {
			return fault.Field("response_format.json_schema.schema", dialect.CodeType, "response_format.json_schema.schema must be an object.")
		}
		a.Format = wire.Format{Kind: wire.FormatSchema, Name: s.Name, Description: s.Description, Schema: s.Schema, Strict: s.Strict}
	default:
		return fault.Field("response_format.type", dialect.CodeValue, "response_format.type must be text, json_object or json_schema.")
	}
	return nil
}

// extra keeps the members that chatRequest has no field for.
func (c *chatRequest) extra(a *wire.Request) (err error) {
	a.Extra, err = dialect.Extra(c.Extra, decisive)
	return err
}

// decisive reports whether the gateway acts on a member.
func decisive(name string) bool {
	switch name {
	case "model", "messages", "stream", "stream_options", "n", "max_tokens", "max_completion_tokens",
		"tools", "tool_choice", "functions", "function_call", "response_format", "temperature", "top_p",
		"stop", "user", "metadata", "reasoning_effort", "thinking", "web_search_options", "parallel_tool_calls":
		return true
	}
	return false
}
