package coherecaller

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// callerRequest is the body of a caller's request.
type callerRequest struct {
	Model            string          `json:"model"`
	Messages         callerMessages  `json:"messages"`
	Stream           bool            `json:"stream"`
	Tools            []callerTool    `json:"tools"`
	StrictTools      bool            `json:"strict_tools"`
	ToolChoice       string          `json:"tool_choice"`
	Documents        []document      `json:"documents"`
	ResponseFormat   *callerFormat   `json:"response_format"`
	SafetyMode       string          `json:"safety_mode"`
	MaxTokens        *dialect.Whole  `json:"max_tokens"`
	Stop             []string        `json:"stop_sequences"`
	Temperature      *float64        `json:"temperature"`
	Seed             *uint64         `json:"seed"`
	FrequencyPenalty *float64        `json:"frequency_penalty"`
	PresencePenalty  *float64        `json:"presence_penalty"`
	K                *dialect.Whole  `json:"k"`
	P                *float64        `json:"p"`
	Logprobs         *bool           `json:"logprobs"`
	Thinking         *callerThinking `json:"thinking"`
	CitationOptions  jsontext.Value  `json:"citation_options"` // a hint
	Priority         jsontext.Value  `json:"priority"`         // a hint
	Extra            jsontext.Value  `json:",embed"`
}

type callerFormat struct {
	Type   string         `json:"type"`
	Schema jsontext.Value `json:"json_schema"`
	Older  jsontext.Value `json:"schema"` // its name before json_schema
}

type callerThinking struct {
	Type   string         `json:"type"`
	Budget *dialect.Whole `json:"token_budget"`
}

// canonical converts the body to the canonical form.
func (c *callerRequest) canonical() (*wire.Request, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	a := &wire.Request{
		Caller: wire.Cohere, Model: c.Model, Stream: c.Stream, IncludeUsage: true, MaxTokens: (*int64)(c.MaxTokens), Stop: c.Stop,
		Sampling: wire.Sampling{
			Temperature: c.Temperature, TopP: c.P, FrequencyPenalty: c.FrequencyPenalty, PresencePenalty: c.PresencePenalty, Logprobs: c.Logprobs,
		},
	}
	if c.Seed != nil {
		seed := int64(*c.Seed &^ (1 << 63)) // those of other providers are shorter
		a.Sampling.Seed = &seed
	}
	for _, step := range []func(*wire.Request) error{c.messages, c.documents, c.tools, c.choice, c.format, c.reasoning, c.extra} {
		if err := step(a); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// check rejects what no provider accepts.
func (c *callerRequest) check() error {
	if err := dialect.CheckModel(c.Model); err != nil {
		return err
	}
	if len(c.Messages) == 0 {
		return fault.Field("messages", dialect.CodeMissing, "messages is missing; send at least one message.")
	}
	for _, err := range []error{
		dialect.In(c.MaxTokens, 1, usage.Limit, "max_tokens"),
		dialect.In(c.Temperature, 0, 2, "temperature"),
		dialect.In(c.P, 0, 1, "p"),
		dialect.In(c.K, 0, 500, "k"),
		dialect.In(c.FrequencyPenalty, 0, 1, "frequency_penalty"),
		dialect.In(c.PresencePenalty, 0, 1, "presence_penalty"),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// format reads response_format.
func (c *callerRequest) format(a *wire.Request) error {
	f := c.ResponseFormat
	if f == nil {
		return nil
	}
	schema, name := dialect.Present(f.Schema), "response_format.json_schema"
	if schema == nil {
		schema, name = dialect.Present(f.Older), "response_format.schema"
	}
	switch {
	case f.Type == "text":
	case f.Type == "":
		return fault.Field("response_format.type", dialect.CodeMissing, "response_format.type is missing; send text or json_object.")
	case f.Type != "json_object":
		return fault.Field("response_format.type", dialect.CodeValue, "response_format.type must be text or json_object.")
	case schema == nil:
		a.Format = wire.Format{Kind: wire.FormatObject}
	case schema.Kind() != '{':
		return fault.Field(name, dialect.CodeType, "%s must be an object.", name)
	default:
		a.Format = wire.Format{Kind: wire.FormatSchema, Schema: schema}
	}
	return nil
}

// reasoning reads thinking. A budget becomes an effort, which every provider has a meaning for.
func (c *callerRequest) reasoning(a *wire.Request) error {
	t := c.Thinking
	if t == nil {
		return nil
	}
	if err := dialect.In(t.Budget, 1, usage.Limit, "thinking.token_budget"); err != nil {
		return err
	}
	switch {
	case t.Type == "":
		return fault.Field("thinking.type", dialect.CodeMissing, "thinking.type is missing; send enabled or disabled.")
	case t.Type == "disabled":
		a.Reasoning.Effort = "none"
	case t.Type != "enabled":
		return fault.Field("thinking.type", dialect.CodeValue, "thinking.type must be enabled or disabled.")
	case t.Budget != nil:
		a.Reasoning = wire.Reasoning{Effort: wire.EffortOf(int64(*t.Budget)), Summary: "auto"}
	default: // the model decides
		a.Reasoning = wire.Reasoning{Effort: "medium", Summary: "auto"}
	}
	return nil
}

// extra keeps the members that have no canonical form.
func (c *callerRequest) extra(a *wire.Request) error {
	if c.K != nil && *c.K > 0 { // 0 switches it off
		a.Extra = append(a.Extra, wire.Field{Name: "top_k", Value: jsontext.Value(strconv.FormatInt(int64(*c.K), 10))})
	}
	switch c.SafetyMode {
	case "", "CONTEXTUAL", "OFF", "NONE": // CONTEXTUAL is how Cohere's models behave anyway, as others do
	case "STRICT":
		a.Extra = append(a.Extra, wire.Field{Name: "safety_mode", Value: jsontext.Value(`"STRICT"`)})
	default:
		return fault.Field("safety_mode", dialect.CodeValue, "safety_mode must be CONTEXTUAL, STRICT or OFF.")
	}
	more, err := dialect.Extra(c.Extra, decisive)
	for _, f := range more {
		switch {
		case dialect.Present(f.Value) == nil:
		case f.Name == "top_k", f.Name == "service_tier": // drivers read these names as what other languages mean by them
			return fault.Field(f.Name, dialect.CodeValue, "%s is no member of Cohere's chats; leave it out.", f.Name)
		default:
			a.Extra = append(a.Extra, f)
		}
	}
	return err
}

// decisive reports whether the gateway acts on a member.
func decisive(name string) bool {
	switch name {
	case "model", "messages", "stream", "tools", "strict_tools", "tool_choice", "documents", "response_format", "safety_mode", "max_tokens", "thinking":
		return true
	}
	return false
}
