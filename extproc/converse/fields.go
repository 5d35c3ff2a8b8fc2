package converse

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// atFields is the member with the fields of the model's own API. Those with a canonical form are read: how much to think, in the words
// of each maker, and the few that most models share. The others are kept under a name that says where they are.
const atFields = "additionalModelRequestFields"

// fields reads additionalModelRequestFields.
func (c *callerRequest) fields(a *wire.Request) error {
	raw := dialect.Present(c.Fields)
	if raw == nil {
		return nil
	}
	members, ok := object(raw)
	if !ok {
		return c.field(atFields, dialect.CodeType, "must be an object.")
	}
	for _, f := range members {
		known, err := c.fieldOf(a, f)
		if err != nil {
			return err
		}
		if !known && dialect.Present(f.Value) != nil {
			a.Extra = append(a.Extra, wire.Field{Name: atFields + "." + f.Name, Value: f.Value})
		}
	}
	return nil
}

// fieldOf reads a field, and reports whether it has a canonical form.
func (c *callerRequest) fieldOf(a *wire.Request, f wire.Field) (known bool, err error) {
	at := atFields + "." + f.Name
	switch f.Name {
	case "thinking", "reasoning_config": // Claude's, the second one as its first models with thoughts had it
		return true, c.thinking(a, f.Value, at)
	case "reasoningConfig": // Nova's
		return true, c.novaThinking(a, f.Value, at)
	case "reasoning_effort":
		word, ok := text(f.Value)
		if !ok {
			return true, c.field(at, dialect.CodeType, "must be a text.")
		}
		a.Reasoning.Effort = word
		return true, nil
	case "output_config": // Claude's
		return c.claudeOutput(a, f.Value), nil
	case "top_k", "topK", "k":
		if f.Value.Kind() != '0' {
			return true, c.field(at, dialect.CodeType, "must be a number.")
		}
		a.Extra = append(a.Extra, wire.Field{Name: "top_k", Value: f.Value})
		return true, nil
	case "inferenceConfig": // Nova's
		inner, ok := object(f.Value)
		if !ok || len(inner) != 1 || inner[0].Name != "topK" || inner[0].Value.Kind() != '0' {
			return false, nil
		}
		a.Extra = append(a.Extra, wire.Field{Name: "top_k", Value: inner[0].Value})
		return true, nil
	case "tool_choice": // Claude's, for what toolChoice cannot say
		return c.serial(a, f.Value), nil
	case "anthropic_beta": // Betas reads it
		return true, nil
	}
	return false, nil
}

// thinking reads how much a Claude thinks.
func (c *callerRequest) thinking(a *wire.Request, raw jsontext.Value, at string) error {
	var in struct {
		Type    string         `json:"type"`
		Budget  *dialect.Whole `json:"budget_tokens"`
		Display string         `json:"display"`
	}
	if raw.Kind() != '{' {
		return c.field(at, dialect.CodeType, "must be an object.")
	}
	if err := unmarshal(raw, &in, c.prefix+at); err != nil {
		return err
	}
	switch in.Type {
	case "enabled":
		if in.Budget == nil || *in.Budget < 1 {
			return c.field(at+".budget_tokens", dialect.CodeMissing, "must be a number of tokens, of at least 1.")
		}
		a.Reasoning.Budget = int64(*in.Budget)
	case "adaptive", "disabled", "between_tools":
	default:
		return c.field(at+".type", dialect.CodeValue, "must be enabled, adaptive or disabled.")
	}
	a.Reasoning.Mode, a.Reasoning.Display = in.Type, in.Display
	return nil
}

// novaThinking reads how much a Nova thinks.
func (c *callerRequest) novaThinking(a *wire.Request, raw jsontext.Value, at string) error {
	var in struct {
		Type   string `json:"type"`
		Effort string `json:"maxReasoningEffort"`
	}
	if raw.Kind() != '{' {
		return c.field(at, dialect.CodeType, "must be an object.")
	}
	if err := unmarshal(raw, &in, c.prefix+at); err != nil {
		return err
	}
	switch {
	case in.Type == "disabled":
		a.Reasoning.Effort = "none"
	case in.Type != "enabled":
		return c.field(at+".type", dialect.CodeValue, "must be enabled or disabled.")
	case in.Effort == "":
		a.Reasoning.Effort = "medium"
	default:
		a.Reasoning.Effort = in.Effort
	}
	return nil
}

// claudeOutput reads output_config with an effort alone, and reports whether it is such.
func (c *callerRequest) claudeOutput(a *wire.Request, raw jsontext.Value) bool {
	inner, ok := object(raw)
	if !ok || len(inner) != 1 || inner[0].Name != "effort" {
		return false
	}
	word, ok := text(inner[0].Value)
	if ok {
		a.Reasoning.Effort = word
	}
	return ok
}

// serial reads that a model may call one tool at a time only, and reports whether a value says nothing else that toolChoice
// does not.
func (c *callerRequest) serial(a *wire.Request, raw jsontext.Value) bool {
	var in struct {
		Serial *bool `json:"disable_parallel_tool_use"`
	}
	if raw.Kind() != '{' || json.Unmarshal(raw, &in) != nil || in.Serial == nil {
		return false
	}
	parallel := !*in.Serial
	a.ParallelTools = &parallel
	return true
}
