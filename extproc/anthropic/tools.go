package anthropic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type toolDefinition struct {
	Type         string         `json:"type,omitzero"` // of tools that run at the provider
	Name         string         `json:"name"`
	Description  string         `json:"description,omitzero"`
	InputSchema  jsontext.Value `json:"input_schema,omitzero"`
	Strict       *bool          `json:"strict,omitzero"`
	MaxUses      int64          `json:"max_uses,omitzero"`
	Allowed      []string       `json:"allowed_domains,omitzero"`
	Blocked      []string       `json:"blocked_domains,omitzero"`
	UserLocation jsontext.Value `json:"user_location,omitzero"`
	Cache        jsontext.Value `json:"cache_control,omitzero"`
	Extra        jsontext.Value `json:",embed"`
}

// searchVersion is the type of the web search for callers that name none.
const searchVersion = "web_search_20250305"

type toolChoice struct {
	Type            string `json:"type"`
	Name            string `json:"name,omitzero"`
	DisableParallel bool   `json:"disable_parallel_tool_use,omitzero"`
}

// longestName is the most characters of a tool's name.
const longestName = 128

// tools writes tools and tool_choice.
func (b *builder) tools() error {
	if err := driver.FunctionNames(b.in, longestName, vendor); err != nil {
		return err
	}
	for i := range b.in.Tools {
		t := &b.in.Tools[i]
		switch {
		case t.Type != "" && b.in.Caller != wire.Anthropic && (!b.in.Caller.IsOpenAIs() || !serverTool(t.Type)):
			if !b.target.DropParams {
				return driver.Unsupported(fmt.Sprintf("tools[%d].type", i), vendor)
			}
		case t.Type != "":
			b.out.Tools = append(b.out.Tools, t.Raw)
		case t.Name == responseTool:
			return fault.Field(fmt.Sprintf("tools[%d].function.name", i), "invalid_value", "The tool name %s is reserved; choose another.", responseTool)
		case b.in.ToolChoice.Allows(t.Name):
			b.out.Tools = append(b.out.Tools, b.tool(t))
		}
	}
	if w := b.in.WebSearch; w != nil {
		tool, err := searchTool(w)
		if err != nil {
			return err
		}
		b.out.Tools = append(b.out.Tools, tool)
	}
	if len(b.out.Tools) == 0 {
		b.pastTools()
		return nil
	}
	b.choose()
	return nil
}

// serverTool reports whether a tool is Anthropic's own, by the name before its date.
func serverTool(kind string) bool {
	return slices.ContainsFunc([]string{
		"web_search_", "web_fetch_", "code_execution_", "bash_", "text_editor_", "computer_", "memory_", "tool_search_",
	}, func(prefix string) bool { return strings.HasPrefix(kind, prefix) })
}

// tool writes a function.
func (b *builder) tool(t *wire.Tool) toolDefinition {
	out := toolDefinition{Name: t.Name, Description: t.Description, InputSchema: ObjectSchema(t.Schema), Cache: t.Cache}
	if b.in.Caller == wire.Anthropic {
		out.Extra = t.Extra
	}
	if b.target.Features.JSONSchema && t.Strict != nil && *t.Strict {
		out.Strict = t.Strict
		out.InputSchema = StrictSchema(out.InputSchema)
	}
	return out
}

// ObjectSchema adds the type object to a schema without a type: the API requires one.
func ObjectSchema(schema jsontext.Value) jsontext.Value {
	if schema == nil {
		return jsontext.Value(`{"type":"object","properties":{}}`)
	}
	var have struct {
		Type jsontext.Value `json:"type"`
	}
	if json.Unmarshal(schema, &have) != nil || len(have.Type) > 0 {
		return schema
	}
	inner := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(schema)), "{"))
	if inner == "}" {
		return jsontext.Value(`{"type":"object"}`)
	}
	return jsontext.Value(`{"type":"object",` + inner)
}

// searchTool writes a web search as Anthropic's. The size of the context becomes
// the number of searches, unless the caller sent that itself.
func searchTool(w *wire.WebSearch) (toolDefinition, error) {
	out := toolDefinition{Type: w.Version, Name: "web_search", MaxUses: w.MostUses, Allowed: w.Allowed, Blocked: w.Blocked, Cache: w.Cache}
	if out.Type == "" {
		out.Type = searchVersion
		if out.MaxUses == 0 {
			out.MaxUses = usesOf(w.ContextSize)
		}
	}
	if w.Location == nil {
		return out, nil
	}
	var place struct {
		Type     string `json:"type"`
		City     string `json:"city,omitzero"`
		Region   string `json:"region,omitzero"`
		Country  string `json:"country,omitzero"`
		Timezone string `json:"timezone,omitzero"`
	}
	param := "web_search_options.user_location.approximate"
	if err := json.Unmarshal(w.Location, &place); err != nil {
		return out, fault.Field(param, "invalid_type", "%s must be an object of texts.", param)
	}
	place.Type = "approximate"
	raw, err := json.Marshal(place)
	out.UserLocation = raw
	return out, err
}

// usesOf returns the number of searches that a size of the context means.
func usesOf(contextSize string) int64 {
	switch contextSize {
	case "low":
		return 1
	case "high":
		return 10
	}
	return 5
}

// pastTools declares the tools that earlier turns used if the caller no longer
// sends any: the API rejects calls of unknown tools.
func (b *builder) pastTools() {
	var names []string
	for _, m := range b.out.Messages {
		for _, block := range m.Content {
			if block.Type == "tool_use" && !slices.Contains(names, block.Name) {
				names = append(names, block.Name)
				b.out.Tools = append(b.out.Tools, toolDefinition{Name: block.Name, InputSchema: ObjectSchema(nil)})
			}
		}
	}
	if names != nil {
		b.out.ToolChoice = &toolChoice{Type: "none"}
	}
}

// choose writes tool_choice.
func (b *builder) choose() {
	c := b.in.ToolChoice
	serial := b.in.ParallelTools != nil && !*b.in.ParallelTools
	switch c.Mode {
	case wire.ChoiceUnset:
		if serial {
			b.out.ToolChoice = &toolChoice{Type: "auto", DisableParallel: true}
		}
	case wire.ChoiceAuto:
		b.out.ToolChoice = &toolChoice{Type: "auto", DisableParallel: serial}
	case wire.ChoiceNone:
		b.out.ToolChoice = &toolChoice{Type: "none"}
	case wire.ChoiceRequired:
		b.out.ToolChoice, b.forced = &toolChoice{Type: "any", DisableParallel: serial}, true
	case wire.ChoiceNamed:
		b.out.ToolChoice, b.forced = &toolChoice{Type: "tool", Name: c.Name, DisableParallel: serial}, true
	}
}

// format gives the response's text a form: natively if the target can, otherwise
// with a tool whose arguments are the response. A plain JSON object has no native
// form, because the API requires a schema.
func (b *builder) format() error {
	f := &b.in.Format
	schema := f.Schema
	switch f.Kind {
	case wire.FormatText:
		return nil
	case wire.FormatSchema:
		if b.target.Features.JSONSchema {
			b.out.Output = &outputConfig{Format: &outputFormat{Type: "json_schema", Schema: StrictSchema(schema)}}
			return nil
		}
		schema = ObjectSchema(schema)
	case wire.FormatObject:
		schema = jsontext.Value(`{"type":"object","additionalProperties":true}`)
	}
	description := "Gives the final answer. Call it once, with the whole answer as its arguments."
	if f.Description != "" {
		description += " The answer: " + f.Description
	}
	others := len(b.out.Tools) > 0 && b.in.ToolChoice.Mode != wire.ChoiceNone && b.callable()
	b.out.Tools = append(b.out.Tools, toolDefinition{Name: responseTool, Description: description, InputSchema: schema})
	switch {
	case b.in.Reasoning.Mode == "enabled" || b.in.Reasoning.Mode == "adaptive":
		b.out.ToolChoice = &toolChoice{Type: "auto"} // explicit thinking excludes a forced tool
	case b.in.ToolChoice.Mode == wire.ChoiceNamed && others:
		// The caller wants that tool first; the response comes in a later turn.
	case others:
		b.out.ToolChoice, b.forced = &toolChoice{Type: "any"}, true
	default:
		b.out.ToolChoice, b.forced = &toolChoice{Type: "tool", Name: responseTool}, true
	}
	return nil
}

// callable reports whether the caller sent tools: those that pastTools declares
// must not be called.
func (b *builder) callable() bool {
	return len(b.in.Tools) > 0 || b.in.WebSearch != nil
}
