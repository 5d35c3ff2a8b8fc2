package responses

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// longestName is the most characters of a function's name.
const longestName = 128

// tools writes the tools. strict is always written: without it functions are strict here,
// and in the other languages they are not.
func (b *builder) tools() error {
	if err := driver.FunctionNames(b.in, longestName, vendor); err != nil {
		return err
	}
	for i := range b.in.Tools {
		t := &b.in.Tools[i]
		if t.Type == "" {
			strict := false
			if s := driver.Strict(b.in.Caller, t); s != nil {
				strict = *s
			}
			schema := t.Schema
			if schema == nil {
				schema = jsontext.Value("null") // the API requires the member
			}
			b.out.Tools = append(b.out.Tools, tool{toolBody: toolBody{
				Type: toolFunction, Name: t.Name, Description: t.Description, Parameters: schema, Strict: &strict,
			}})
			continue
		}
		if flat, ok := flatForm(t.Raw); ok && t.Type == toolCustom && b.in.Caller.IsOpenAIs() {
			b.out.Tools = append(b.out.Tools, tool{toolBody: flat})
		} else if !b.target.DropParams {
			param := fmt.Sprintf("tools[%d].type", i)
			return fault.Field(param, driver.CodeUnsupported,
				"%s: the tool %s is not supported by %s; leave it out, or set drop_params on the deployment.", param, fault.Quote(t.Type), vendor)
		}
	}
	if err := b.search(); err != nil {
		return err
	}
	if len(b.out.Tools) > 0 {
		b.out.ParallelToolCalls = b.in.ParallelTools
	}
	return nil
}

// search writes the search on the web. A list of domains is a limit that callers rely on, so
// it is not dropped in silence.
func (b *builder) search() error {
	w := b.in.WebSearch
	if w == nil {
		return nil
	}
	if w.Blocked != nil && !b.target.DropParams {
		return driver.Unsupported("tools.blocked_domains", vendor)
	}
	if w.MostUses > 0 {
		b.out.MaxToolCalls = (*dialect.Whole)(&w.MostUses)
	}
	out := toolBody{Type: toolWebSearch, ContextSize: w.ContextSize}
	var err error
	if w.Allowed != nil {
		if out.Filters, err = json.Marshal(&filters{Allowed: w.Allowed}); err != nil {
			return err
		}
	}
	if w.Location != nil {
		var place location
		if err := json.Unmarshal(w.Location, &place); err != nil {
			param := "web_search_options.user_location.approximate"
			return fault.Field(param, "invalid_type", "%s must be an object of texts.", param)
		}
		place.Type = "approximate"
		if out.Location, err = json.Marshal(&place); err != nil {
			return err
		}
	}
	b.out.Tools = append(b.out.Tools, tool{toolBody: out})
	return nil
}

// choice writes tool_choice.
func (b *builder) choice() (err error) {
	c := &b.in.ToolChoice
	word := ""
	switch c.Mode {
	case wire.ChoiceUnset:
		if c.Allowed == nil {
			return nil
		}
		word = "auto"
	case wire.ChoiceAuto:
		word = "auto"
	case wire.ChoiceRequired:
		word = "required"
	case wire.ChoiceNone:
		word = "none"
	case wire.ChoiceNamed:
		kind := toolFunction
		if c.Custom {
			kind = toolCustom
		}
		b.out.ToolChoice, err = json.Marshal(&toolChoice{Type: kind, Name: c.Name})
		return err
	}
	if c.Allowed == nil || c.Mode == wire.ChoiceNone {
		b.out.ToolChoice = jsontext.Value(`"` + word + `"`)
		return nil
	}
	if len(c.Allowed) == 0 {
		b.out.ToolChoice = jsontext.Value(`"none"`)
		return nil
	}
	out := toolChoice{Type: "allowed_tools", Mode: word}
	for _, name := range c.Allowed {
		out.Tools = append(out.Tools, toolRef{Type: b.kindOf(name), Name: name})
	}
	b.out.ToolChoice, err = json.Marshal(&out)
	return err
}

// kindOf returns the type of the tool of a name.
func (b *builder) kindOf(name string) string {
	for i := range b.out.Tools {
		if t := &b.out.Tools[i]; t.Name == name {
			return t.Type
		}
	}
	return toolFunction
}

// flatForm returns a custom tool in the form of this language; not ok if raw is none.
func flatForm(raw jsontext.Value) (out toolBody, ok bool) {
	var in chatTool
	if json.Unmarshal(raw, &in) != nil || in.Custom.Name == "" {
		return out, false
	}
	out = toolBody{Type: toolCustom, Name: in.Custom.Name, Description: in.Custom.Description}
	if f := in.Custom.Format; f != nil {
		flat := flatFormat{Type: f.Type}
		if f.Grammar != nil {
			flat.Definition, flat.Syntax = f.Grammar.Definition, f.Grammar.Syntax
		}
		var err error
		if out.Format, err = json.Marshal(&flat); err != nil {
			return out, false
		}
	}
	return out, true
}
