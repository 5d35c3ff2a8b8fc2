package converse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// callerRequest is the body of a caller's request.
type callerRequest struct {
	Messages    []callerMessage  `json:"messages"`
	System      []callerBlock    `json:"system"`
	Inference   callerInference  `json:"inferenceConfig"`
	ToolConfig  callerToolConfig `json:"toolConfig"`
	Output      callerOutput     `json:"outputConfig"`
	Fields      jsontext.Value   `json:"additionalModelRequestFields"`
	Tier        callerTier       `json:"serviceTier"`
	Performance struct {
		Latency string `json:"latency"`
	} `json:"performanceConfig"`
	Metadata  jsontext.Value   `json:"requestMetadata"` // for logs of the account; a hint
	Guardrail jsontext.Value   `json:"guardrailConfig"`
	Variables jsontext.Value   `json:"promptVariables"`
	Paths     []jsontext.Value `json:"additionalModelResponseFieldPaths"`
	Extra     jsontext.Value   `json:",embed"`

	prefix string // of the members in the caller's body
	calls  dialect.Calls
}

type callerInference struct {
	MaxTokens   *dialect.Whole `json:"maxTokens"`
	Temperature *float64       `json:"temperature"`
	TopP        *float64       `json:"topP"`
	Stop        []string       `json:"stopSequences"`
}

type callerTier struct {
	Type string `json:"type"`
}

type callerOutput struct {
	Format *callerFormat `json:"textFormat"`
	Effort string        `json:"effort"`
}

type callerFormat struct {
	Type      string `json:"type"`
	Structure struct {
		Schema *struct {
			Schema      string `json:"schema"` // JSON
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"jsonSchema"`
	} `json:"structure"`
}

// mostMessages bounds what a hostile body costs.
const mostMessages = 100_000

// canonical converts the body to the canonical form.
func (c *callerRequest) canonical() (*wire.Request, error) {
	switch {
	case len(c.Messages) == 0:
		return nil, c.field("messages", dialect.CodeMissing, "is missing; send at least one message.")
	case len(c.Messages) > mostMessages:
		return nil, c.field("messages", dialect.CodeMany, "has more than %d entries.", mostMessages)
	}
	a := &wire.Request{Caller: wire.Converse, IncludeUsage: true}
	for _, step := range []func(*wire.Request) error{c.system, c.messages, c.tools, c.choice, c.inference, c.output, c.fields, c.extra} {
		if err := step(a); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// field returns an error about a member. The text follows the name of the member.
func (c *callerRequest) field(name, code, format string, args ...any) error {
	return fault.Field(c.prefix+name, code, "%s", c.prefix+name+" "+fmt.Sprintf(format, args...))
}

// inference reads inferenceConfig.
func (c *callerRequest) inference(a *wire.Request) error {
	in, at := &c.Inference, c.prefix+"inferenceConfig."
	for _, err := range []error{
		dialect.In(in.MaxTokens, 1, usage.Limit, at+"maxTokens"),
		dialect.In(in.Temperature, 0, 1, at+"temperature"),
		dialect.In(in.TopP, 0, 1, at+"topP"),
	} {
		if err != nil {
			return err
		}
	}
	a.MaxTokens, a.Stop = (*int64)(in.MaxTokens), in.Stop
	a.Sampling.Temperature, a.Sampling.TopP = in.Temperature, in.TopP
	return nil
}

// output reads outputConfig.
func (c *callerRequest) output(a *wire.Request) error {
	a.Reasoning.Effort = c.Output.Effort
	f := c.Output.Format
	if f == nil {
		return nil
	}
	const at = "outputConfig.textFormat"
	s := f.Structure.Schema
	switch {
	case f.Type != "json_schema":
		return c.field(at+".type", dialect.CodeValue, "must be json_schema.")
	case s == nil || s.Schema == "":
		return c.field(at+".structure.jsonSchema.schema", dialect.CodeMissing, "is missing; send the JSON schema as a text.")
	}
	schema := jsontext.Value(s.Schema)
	if !schema.IsValid() || schema.Kind() != '{' {
		return c.field(at+".structure.jsonSchema.schema", dialect.CodeValue, "must be a text that is a JSON object.")
	}
	a.Format = wire.Format{Kind: wire.FormatSchema, Name: s.Name, Description: s.Description, Schema: schema}
	return nil
}

// extra keeps the members that have no canonical form.
func (c *callerRequest) extra(a *wire.Request) error {
	if c.Tier.Type != "" {
		tier := "default"
		if c.Tier.Type == "flex" || c.Tier.Type == "priority" {
			tier = c.Tier.Type
		}
		a.Extra = append(a.Extra, wire.Field{Name: "service_tier", Value: jsontext.Value(`"` + tier + `"`)})
	}
	if c.Performance.Latency != "" && c.Performance.Latency != "standard" {
		a.Extra = append(a.Extra, wire.Field{Name: "performanceConfig", Value: jsontext.Value("true")})
	}
	for _, f := range [...]wire.Field{{Name: "guardrailConfig", Value: c.Guardrail}, {Name: "promptVariables", Value: c.Variables}} {
		if dialect.Present(f.Value) != nil && len(f.Value) > len("{}") {
			a.Extra = append(a.Extra, f)
		}
	}
	if len(c.Paths) > 0 {
		a.Extra = append(a.Extra, wire.Field{Name: "additionalModelResponseFieldPaths", Value: jsontext.Value("true")})
	}
	more, err := dialect.Extra(c.Extra, func(string) bool { return false })
	for _, f := range more {
		if name := resembles(f.Name); name != "" {
			return c.field(name, dialect.CodeTwice, "is written in another letter case. Write it as AWS does.")
		}
	}
	a.Extra = append(a.Extra, more...)
	return err
}

// names are those of the members.
func names() [12]string {
	return [...]string{
		"messages", "system", "inferenceConfig", "toolConfig", "outputConfig", "additionalModelRequestFields", "serviceTier", "performanceConfig", "requestMetadata",
		"guardrailConfig", "promptVariables", "additionalModelResponseFieldPaths",
	}
}

// resembles returns the name of a member that a name is, but for the case of its letters; empty if there is none.
func resembles(name string) string {
	known := names()
	if i := slices.IndexFunc(known[:], func(k string) bool { return strings.EqualFold(k, name) && k != name }); i >= 0 {
		return known[i]
	}
	return ""
}

// object returns the members of an object, and false for a value of another type.
func object(raw jsontext.Value) (out []wire.Field, ok bool) {
	if raw.Kind() != '{' {
		return nil, false
	}
	out, err := dialect.Extra(raw, func(string) bool { return false })
	return out, err == nil
}

// unmarshal reads a value of the field param.
func unmarshal(raw jsontext.Value, v any, param string) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return dialect.Reject(err, param)
	}
	return nil
}

// text returns what a JSON text says; not ok for another value.
func text(raw jsontext.Value) (out string, ok bool) {
	return out, raw.Kind() == '"' && json.Unmarshal(raw, &out) == nil
}
