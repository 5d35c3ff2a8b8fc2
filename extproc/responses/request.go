package responses

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// request is the body of a request for a response. Providers receive its members in this order.
type request struct {
	Model             string         `json:"model"`
	Instructions      string         `json:"instructions,omitzero"`
	Input             input          `json:"input"`
	Tools             []tool         `json:"tools,omitzero"`
	ToolChoice        jsontext.Value `json:"tool_choice,omitzero"`
	ParallelToolCalls *bool          `json:"parallel_tool_calls,omitzero"`
	Text              *textConfig    `json:"text,omitzero"`
	Reasoning         *reasoning     `json:"reasoning,omitzero"`
	MaxOutputTokens   *dialect.Whole `json:"max_output_tokens,omitzero"`
	Temperature       *float64       `json:"temperature,omitzero"`
	TopP              *float64       `json:"top_p,omitzero"`
	TopLogprobs       *dialect.Whole `json:"top_logprobs,omitzero"`
	MaxToolCalls      *dialect.Whole `json:"max_tool_calls,omitzero"` // of tools that the provider runs
	Metadata          jsontext.Value `json:"metadata,omitzero"`
	User              string         `json:"user,omitzero"`
	Include           []string       `json:"include,omitzero"`
	Store             *bool          `json:"store,omitzero"`
	Stream            bool           `json:"stream,omitzero"`

	stored
	hints

	Extra jsontext.Value `json:",embed"`

	names dialect.Names // of the tools that were read
}

// stored is the members that need something that the provider has stored, or will store.
type stored struct {
	Previous     jsontext.Value `json:"previous_response_id,omitzero"`
	Conversation jsontext.Value `json:"conversation,omitzero"`
	Prompt       jsontext.Value `json:"prompt,omitzero"`
	Background   *bool          `json:"background,omitzero"`
}

// hints is the members that are dropped: a response is as good without them.
type hints struct {
	StreamOptions jsontext.Value `json:"stream_options,omitzero"`
	Truncation    string         `json:"truncation,omitzero"`
	Compaction    jsontext.Value `json:"context_management,omitzero"`
	Client        jsontext.Value `json:"client_metadata,omitzero"` // what Codex says of itself
}

type textConfig struct {
	Format    *textFormat `json:"format,omitzero"`
	Verbosity string      `json:"verbosity,omitzero"`
}

type textFormat struct {
	Type        string         `json:"type"`
	Name        string         `json:"name,omitzero"`
	Description string         `json:"description,omitzero"`
	Schema      jsontext.Value `json:"schema,omitzero"`
	Strict      *bool          `json:"strict,omitzero"`
}

type reasoning struct {
	Effort  string `json:"effort,omitzero"`
	Summary string `json:"summary,omitzero"`
	Older   string `json:"generate_summary,omitzero"` // the older name of Summary
}

// Values of include.
const (
	includeReasoning = "reasoning.encrypted_content"
	includeLogprobs  = "message.output_text.logprobs"
)

// canonical converts the body to the canonical form.
func (r *request) canonical() (*wire.Request, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	a := &wire.Request{
		Caller:        wire.Responses,
		Model:         r.Model,
		ParallelTools: r.ParallelToolCalls,
		MaxTokens:     (*int64)(r.MaxOutputTokens),
		User:          r.User,
		Metadata:      dialect.Present(r.Metadata),
		Stream:        r.Stream,
		IncludeUsage:  true,
		Sampling:      wire.Sampling{Temperature: r.Temperature, TopP: r.TopP, TopLogprobs: (*int64)(r.TopLogprobs)},
	}
	if slices.Contains(r.Include, includeLogprobs) || r.TopLogprobs != nil && *r.TopLogprobs > 0 {
		yes := true
		a.Sampling.Logprobs = &yes
	}
	if g := r.Reasoning; g != nil {
		a.Reasoning = wire.Reasoning{Effort: g.Effort, Summary: g.summary()}
	}
	for _, step := range []func(*wire.Request) error{r.messages, r.tools, r.choice, r.format, r.extra, r.echo} {
		if err := step(a); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// summary returns how much of the reasoning the caller wants to read.
func (g *reasoning) summary() string {
	if g.Summary != "" {
		return g.Summary
	}
	return g.Older
}

// check rejects what no provider accepts, and what needs a stored response.
func (r *request) check() error {
	if err := dialect.CheckModel(r.Model); err != nil {
		return err
	}
	if err := r.stateless(); err != nil {
		return err
	}
	if g := r.Reasoning; g != nil {
		if err := oneOf("reasoning.effort", g.Effort, "none", "minimal", "low", "medium", "high", "xhigh", "max"); err != nil {
			return err
		}
		if err := oneOf("reasoning.summary", g.summary(), "auto", "concise", "detailed"); err != nil {
			return err
		}
	}
	if r.Text != nil {
		if err := oneOf("text.verbosity", r.Text.Verbosity, "low", "medium", "high"); err != nil {
			return err
		}
	}
	if err := oneOf("truncation", r.Truncation, "auto", "disabled"); err != nil {
		return err
	}
	if v := dialect.Present(r.Metadata); v != nil && v.Kind() != '{' {
		return fault.Field("metadata", dialect.CodeType, "metadata must be an object.")
	}
	for _, err := range []error{
		dialect.In(r.Temperature, 0, 2, "temperature"),
		dialect.In(r.TopP, 0, 1, "top_p"),
		dialect.In(r.TopLogprobs, 0, 20, "top_logprobs"),
		dialect.In(r.MaxOutputTokens, 1, usage.Limit, "max_output_tokens"),
		dialect.In(r.MaxToolCalls, 1, usage.Limit, "max_tool_calls"),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// stateless rejects what needs something that the provider stores.
func (s *stored) stateless() error {
	for _, m := range []struct {
		name  string
		given bool
		hint  string
	}{
		{"previous_response_id", driver.Given(s.Previous), "send the earlier items in input"},
		{"conversation", driver.Given(s.Conversation), "send the earlier items in input"},
		{"prompt", driver.Given(s.Prompt), "send the text of the prompt in instructions or input"},
		{"background", s.Background != nil && *s.Background, "leave it out, and set stream to receive the response as it is made"},
	} {
		if m.given {
			return unstored(m.name, m.hint)
		}
	}
	return nil
}

// unstored rejects a member that needs something that the provider stores.
func unstored(param, hint string) error {
	return fault.Field(param, driver.CodeUnsupported, "%s is not supported for this model, because its responses are not stored; %s.", param, hint)
}

// oneOf rejects a word that is none of those listed. An empty word counts as not specified.
func oneOf(param, word string, words ...string) error {
	if word == "" || slices.Contains(words, word) {
		return nil
	}
	last := len(words) - 1
	list := strings.Join(words[:last], ", ") + " or " + words[last]
	return fault.Field(param, dialect.CodeValue, "%s must be %s.", param, list)
}

// format reads text.
func (r *request) format(a *wire.Request) error {
	if r.Text == nil {
		return nil
	}
	if r.Text.Verbosity != "" {
		a.Extra = append(a.Extra, wire.Field{Name: "verbosity", Value: jsontext.Value(`"` + r.Text.Verbosity + `"`)})
	}
	f := r.Text.Format
	if f == nil {
		return nil
	}
	switch f.Type {
	case "text":
	case "json_object":
		a.Format.Kind = wire.FormatObject
	case "json_schema":
		switch {
		case f.Name == "":
			return fault.Field("text.format.name", dialect.CodeMissing, "text.format.name is missing; name the schema.")
		case dialect.Present(f.Schema) == nil:
			return fault.Field("text.format.schema", dialect.CodeMissing, "text.format.schema is missing.")
		case f.Schema.Kind() != '{':
			return fault.Field("text.format.schema", dialect.CodeType, "text.format.schema must be an object.")
		}
		a.Format = wire.Format{Kind: wire.FormatSchema, Name: f.Name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}
	default:
		return fault.Field("text.format.type", dialect.CodeValue, "text.format.type must be text, json_object or json_schema.")
	}
	return nil
}

// extra keeps the members that request has no field for. Those that mean something in
// another language are rejected: a driver of that language would act on them.
func (r *request) extra(a *wire.Request) error {
	more, err := dialect.Extra(r.Extra, decisive)
	if err != nil {
		return err
	}
	for _, f := range more {
		if instead, ok := misplaced(f.Name); ok {
			return fault.Field(f.Name, "unknown_parameter", "%s is not a parameter of the Responses API; %s.", f.Name, instead)
		}
	}
	a.Extra = append(a.Extra, more...)
	for i, name := range r.Include {
		if name == "" {
			return fault.Field(fmt.Sprintf("include[%d]", i), dialect.CodeValue, "include[%d] is empty; leave it out.", i)
		}
	}
	return nil
}

// decisive reports whether the gateway acts on a member.
func decisive(name string) bool {
	switch name {
	case "model", "input", "instructions", "stream", "max_output_tokens", "tools", "tool_choice", "parallel_tool_calls", "text",
		"max_tool_calls", "reasoning", "temperature", "top_p", "user", "metadata", "store", "include", "previous_response_id", "conversation", "prompt", "background":
		return true
	}
	return false
}

// misplaced returns what to do instead of sending a member of another language.
func misplaced(name string) (instead string, ok bool) {
	switch name {
	case "messages", "system":
		return "send input", true
	case "max_tokens", "max_completion_tokens":
		return "send max_output_tokens", true
	case "response_format", "verbosity":
		return "send text", true
	case "reasoning_effort", "thinking":
		return "send reasoning", true
	case "functions", "function_call", "web_search_options":
		return "send tools and tool_choice", true
	case "logprobs":
		return "send include and top_logprobs", true
	case "n", "stop", "stop_sequences", "seed", "logit_bias", "frequency_penalty", "presence_penalty", "audio", "modalities", "prediction", "top_k":
		return "leave it out", true
	}
	return "", false
}
