package anthropic

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// callerRequest is the body of a caller's request.
type callerRequest struct {
	Model        string          `json:"model"`
	MaxTokens    *dialect.Whole  `json:"max_tokens"`
	System       callerContent   `json:"system"`
	Messages     callerMessages  `json:"messages"`
	Tools        []callerTool    `json:"tools"`
	ToolChoice   *callerChoice   `json:"tool_choice"`
	Stop         []string        `json:"stop_sequences"`
	Temperature  *float64        `json:"temperature"`
	TopP         *float64        `json:"top_p"`
	Thinking     *callerThinking `json:"thinking"`
	Output       *callerOutput   `json:"output_config"`
	OutputFormat *callerFormat   `json:"output_format"` // its name before output_config.format
	Metadata     *callerMetadata `json:"metadata"`
	Stream       bool            `json:"stream"`
	Extra        jsontext.Value  `json:",embed"`
}

type callerThinking struct {
	Type    string         `json:"type"`
	Budget  *dialect.Whole `json:"budget_tokens"`
	Display string         `json:"display"`
}

type callerOutput struct {
	Effort string        `json:"effort"`
	Format *callerFormat `json:"format"`
}

type callerFormat struct {
	Type   string         `json:"type"`
	Schema jsontext.Value `json:"schema"`
}

type callerMetadata struct {
	UserID string `json:"user_id"`
}

// canonical converts the body to the canonical form.
func (c *callerRequest) canonical() (*wire.Request, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	a := &wire.Request{
		Caller:       wire.Anthropic,
		Model:        c.Model,
		MaxTokens:    (*int64)(c.MaxTokens),
		Stop:         c.Stop,
		Stream:       c.Stream,
		IncludeUsage: c.Stream, // Anthropic's streams always report it
		Sampling:     wire.Sampling{Temperature: c.Temperature, TopP: c.TopP},
	}
	if c.Metadata != nil {
		a.User = c.Metadata.UserID
	}
	for _, step := range []func(*wire.Request) error{c.system, c.messages, c.tools, c.choice, c.reasoning, c.format, c.extra} {
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
	switch {
	case len(c.Messages) == 0:
		return fault.Field("messages", dialect.CodeMissing, "messages is missing; send at least one message.")
	case c.MaxTokens == nil:
		return fault.Field("max_tokens", dialect.CodeMissing, "max_tokens is missing; send the most tokens that the response may have.")
	}
	for _, err := range []error{
		dialect.In(c.MaxTokens, 1, usage.Limit, "max_tokens"),
		dialect.In(c.Temperature, 0, 1, "temperature"),
		dialect.In(c.TopP, 0, 1, "top_p"),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// reasoning reads thinking and output_config.effort.
func (c *callerRequest) reasoning(a *wire.Request) error {
	if t := c.Thinking; t != nil {
		if !slices.Contains([]string{"enabled", "adaptive", "disabled", "between_tools"}, t.Type) {
			return fault.Field("thinking.type", dialect.CodeValue, "thinking.type must be enabled, adaptive, between_tools or disabled.")
		}
		if err := dialect.In(t.Budget, 1, usage.Limit, "thinking.budget_tokens"); err != nil {
			return err
		}
		switch t.Display {
		case "", "summarized", "omitted":
		default:
			return fault.Field("thinking.display", dialect.CodeValue, "thinking.display must be summarized or omitted.")
		}
		a.Reasoning.Mode, a.Reasoning.Display = t.Type, t.Display
		switch {
		case t.Type != "enabled":
		case t.Budget == nil:
			return fault.Field("thinking.budget_tokens", dialect.CodeMissing, "thinking.budget_tokens is missing; send the most tokens of thinking.")
		default:
			a.Reasoning.Budget = int64(*t.Budget)
		}
	}
	if c.Output == nil {
		return nil
	}
	switch c.Output.Effort {
	case "", "low", "medium", "high", "xhigh", "max":
		a.Reasoning.Effort = c.Output.Effort
	default:
		return fault.Field("output_config.effort", dialect.CodeValue, "output_config.effort must be low, medium, high, xhigh or max.")
	}
	return nil
}

// format reads output_config.format, or the older output_format.
func (c *callerRequest) format(a *wire.Request) error {
	param, f := "output_format", c.OutputFormat
	if c.Output != nil && c.Output.Format != nil {
		param, f = "output_config.format", c.Output.Format
	}
	switch {
	case f == nil:
		return nil
	case f.Type != "json_schema":
		return fault.Field(param+".type", dialect.CodeValue, "%s.type must be json_schema.", param)
	case dialect.Present(f.Schema) == nil:
		return fault.Field(param+".schema", dialect.CodeMissing, "%s.schema is missing.", param)
	case f.Schema.Kind() != '{':
		return fault.Field(param+".schema", dialect.CodeType, "%s.schema must be an object.", param)
	}
	a.Format = wire.Format{Kind: wire.FormatSchema, Schema: f.Schema}
	return nil
}

// extra keeps the members that callerRequest has no field for.
func (c *callerRequest) extra(a *wire.Request) (err error) {
	a.Extra, err = dialect.Extra(c.Extra, decisive)
	return err
}

// decisive reports whether the gateway acts on a member.
func decisive(name string) bool {
	switch name {
	case "model", "messages", "system", "stream", "max_tokens", "tools", "tool_choice", "stop_sequences", "temperature", "top_p",
		"thinking", "output_config", "output_format", "metadata", "mcp_servers", "service_tier":
		return true
	}
	return false
}
