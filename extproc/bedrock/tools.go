package bedrock

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// responseTool is the reserved name of the tool whose arguments are the response, for models without a
// native JSON schema.
const responseTool = "gateway_structured_answer"

// toolName returns the name under which a tool is sent: one that the API takes is sent as it is.
func toolName(name string) string {
	if name != "" && len(name) <= longest && !strings.ContainsFunc(name, notInNames) {
		return name
	}
	safe := strings.Map(func(r rune) rune {
		if notInNames(r) {
			return '_'
		}
		return r
	}, name)
	sum := hash(name)
	return safe[:min(len(safe), longest-len(sum)-1)] + "_" + sum
}

// ToolName returns the caller's name of a tool that was sent under another one.
func (Codec) ToolName(in *wire.Request, sent string) string {
	for i := range in.Tools {
		if name := in.Tools[i].Name; toolName(name) == sent {
			return name
		}
	}
	return sent
}

// tools writes toolConfig.
func (b *builder) tools() error {
	if (len(b.in.Tools) > 0 || len(b.calls) > 0) && b.family.noTools {
		if !b.target.DropParams || len(b.calls) > 0 {
			return fault.Field("tools", driver.CodeUnsupported, "tools: the model has no tools at %s; leave them out, or choose another model.", vendor)
		}
		return nil
	}
	var list []tool
	for i := range b.in.Tools {
		t := &b.in.Tools[i]
		switch {
		case t.Type != "" && !b.target.DropParams:
			param := fmt.Sprintf("tools[%d].type", i)
			return fault.Field(param, driver.CodeUnsupported, "%s: the tool %s is not supported by %s; leave it out, or set drop_params on the deployment.", param, fault.Quote(t.Type), vendor)
		case t.Type != "", !b.in.ToolChoice.Allows(t.Name):
			continue
		case t.Name == responseTool:
			return fault.Field(fmt.Sprintf("tools[%d].function.name", i), "invalid_value", "The tool name %s is reserved; choose another.", responseTool)
		}
		list = append(list, b.function(t))
		point, err := b.cachePoint(t.Cache, fmt.Sprintf("tools[%d].cache_control", i))
		if err != nil {
			return err
		}
		if point != nil {
			list = append(list, tool{CachePoint: point})
		}
	}
	if err := b.search(&list); err != nil {
		return err
	}
	callable := len(list) > 0 && b.in.ToolChoice.Mode != wire.ChoiceNone
	switch {
	case callable:
		b.out.Tools = &toolConfig{Tools: list}
		return b.choose()
	case len(b.calls) > 0: // the API rejects a history with calls without their tools
		b.out.Tools = &toolConfig{Tools: b.pastTools(list)}
		b.out.System = append(b.out.System, textBlock(withoutCalls))
	}
	return nil
}

// function writes a tool. A description must not be blank, and the schema must be that of an object.
func (b *builder) function(t *wire.Tool) tool {
	out := &toolSpec{Name: toolName(t.Name), Schema: inputSchema{anthropic.ObjectSchema(t.Schema)}}
	if strings.TrimSpace(t.Description) != "" {
		out.Description = t.Description
	}
	if s := driver.Strict(b.in.Caller, t); s != nil && *s && b.target.Features.JSONSchema {
		out.Strict, out.Schema.JSON = s, anthropic.StrictSchema(out.Schema.JSON)
	}
	return tool{Spec: out}
}

// pastTools adds to a list the tools that the history calls, and that the caller does not send.
func (b *builder) pastTools(list []tool) []tool {
	sent := map[string]bool{}
	for _, t := range list {
		if t.Spec != nil {
			sent[t.Spec.Name] = true
		}
	}
	for _, name := range b.calls {
		if !sent[name] {
			list = append(list, tool{Spec: &toolSpec{Name: name, Schema: inputSchema{anthropic.ObjectSchema(nil)}}})
		}
	}
	return list
}

// search adds the tool with which Nova searches the web. It has no options.
func (b *builder) search(list *[]tool) error {
	w := b.in.WebSearch
	switch {
	case w == nil, !b.family.grounds && b.target.DropParams:
		return nil
	case !b.family.grounds, (w.Allowed != nil || w.Blocked != nil || w.Location != nil) && !b.target.DropParams:
		return driver.Unsupported(b.searchParam(), vendor)
	}
	*list = append(*list, tool{System: &systemTool{"nova_grounding"}})
	return nil
}

// searchParam is the name of a search of the web in the caller's language.
func (b *builder) searchParam() string {
	if b.in.Caller == wire.Anthropic || b.in.Caller == wire.Responses {
		return "tools"
	}
	return "web_search_options"
}

// serial reports whether the model may call one tool at a time only.
func (b *builder) serial() bool { return b.in.ParallelTools != nil && !*b.in.ParallelTools }

// mayCallSerially reports whether the model can be told so: in the words of Anthropic's API, from version 4.5 on.
func (b *builder) mayCallSerially() bool { return b.target.Features.LongCache }

func (b *builder) serialParam() string {
	return b.word("parallel_tool_calls", "tool_choice.disable_parallel_tool_use")
}

// choose writes toolChoice.
func (b *builder) choose() error {
	c, kind := &b.in.ToolChoice, "auto"
	switch c.Mode {
	case wire.ChoiceAuto:
		b.out.Tools.Choice = &toolChoice{Auto: &struct{}{}}
	case wire.ChoiceRequired:
		kind = "any"
	case wire.ChoiceNamed:
		kind = "tool"
	case wire.ChoiceUnset, wire.ChoiceNone:
	}
	if kind != "auto" {
		if err := b.force(c.Mode, c.Name); err != nil {
			return err
		}
	}
	if b.serial() && b.mayCallSerially() {
		value := `{"type":"` + kind + `","disable_parallel_tool_use":true`
		if kind == "tool" {
			value += `,"name":"` + toolName(c.Name) + `"`
		}
		b.set("tool_choice", jsontext.Value(value+"}"))
	}
	return nil
}

// force makes the model call a tool: a certain one with ChoiceNamed. A model that can be made to call any tool
// gets the certain one alone.
func (b *builder) force(mode wire.ChoiceMode, name string) error {
	switch {
	case b.family.choices == choosesAuto && b.target.DropParams:
		return nil
	case b.family.choices == choosesAuto:
		return fault.Field("tool_choice", driver.CodeUnsupported, "tool_choice: the model cannot be made to call a tool at %s; leave it out, or set drop_params on the deployment.", vendor)
	case mode == wire.ChoiceRequired:
		b.out.Tools.Choice = &toolChoice{Any: &struct{}{}}
	case b.family.choices == choosesTool:
		b.out.Tools.Choice = &toolChoice{Tool: &systemTool{toolName(name)}}
	default:
		b.out.Tools.Choice = &toolChoice{Any: &struct{}{}}
		b.out.Tools.Tools = only(b.out.Tools.Tools, toolName(name))
	}
	b.forced = true
	return nil
}

// only returns the tool of a name; all of them if it is not there.
func only(list []tool, name string) []tool {
	for i := range list {
		if list[i].Spec != nil && list[i].Spec.Name == name {
			return list[i : i+1]
		}
	}
	return list
}

// format gives the response's text a form: natively if the model can, otherwise with a tool whose arguments are the
// response. A plain JSON object has no native form, because the API requires a schema.
func (b *builder) format() error {
	f := &b.in.Format
	if f.Kind == wire.FormatText {
		return nil
	}
	if f.Kind == wire.FormatSchema && b.target.Features.JSONSchema {
		out := &textFormat{Type: "json_schema"}
		out.Structure.Schema = jsonSchema{Schema: string(anthropic.StrictSchema(f.Schema)), Name: toolName(f.Name), Description: f.Description}
		if f.Name == "" {
			out.Structure.Schema.Name = ""
		}
		b.out.Output = &outputConfig{Text: out}
		return nil
	}
	if b.family.noTools {
		if b.target.DropParams {
			return nil
		}
		return driver.Unsupported(b.formatParam(), vendor)
	}
	schema := jsontext.Value(`{"type":"object","additionalProperties":true}`)
	if f.Kind == wire.FormatSchema {
		schema = anthropic.ObjectSchema(f.Schema)
	}
	description := "Gives the final answer. Call it once, with the whole answer as its arguments."
	if f.Description != "" {
		description += " The answer: " + f.Description
	}
	others := b.out.Tools != nil && b.in.ToolChoice.Mode != wire.ChoiceNone
	if b.out.Tools == nil {
		b.out.Tools = &toolConfig{}
	}
	b.out.Tools.Tools = append(b.out.Tools.Tools, tool{Spec: &toolSpec{Name: responseTool, Description: description, Schema: inputSchema{schema}}})
	switch {
	case b.family.choices == choosesAuto, b.in.Reasoning.Mode == "enabled" || b.in.Reasoning.Mode == "adaptive":
		return nil // the description has to do: explicit thinking excludes a forced tool
	case b.in.ToolChoice.Mode == wire.ChoiceNamed && others:
		return nil // the caller wants that tool first; the response comes in a later turn
	case others:
		return b.force(wire.ChoiceRequired, "")
	}
	return b.force(wire.ChoiceNamed, responseTool)
}

// formatParam is the name of the response's form in the caller's language.
func (b *builder) formatParam() string {
	if b.in.Caller == wire.Responses {
		return "text.format"
	}
	return b.word("response_format", "output_config.format")
}
