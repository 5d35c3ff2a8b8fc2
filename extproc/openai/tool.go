package openai

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// chatTool is one tool. A tool that was read is kept raw as well: only functions
// are understood. A tool that has raw is written as it is.
type chatTool struct {
	chatToolBody

	raw jsontext.Value
}

type chatToolBody struct {
	Type     string         `json:"type"`
	Function chatFunction   `json:"function"`
	Cache    jsontext.Value `json:"cache_control,omitzero"`
}

type chatFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters,omitzero"`
	Strict      *bool          `json:"strict,omitzero"`
	Cache       jsontext.Value `json:"cache_control,omitzero"`
}

// UnmarshalJSONFrom reads a tool.
func (t *chatTool) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &t.chatToolBody); err != nil {
		return dialect.Reject(err, dialect.Path(dec.StackPointer()))
	}
	t.raw = raw.Clone()
	return nil
}

// MarshalJSONTo writes a tool.
func (t *chatTool) MarshalJSONTo(enc *jsontext.Encoder) error {
	if t.raw != nil {
		return enc.WriteValue(t.raw)
	}
	return json.MarshalEncode(enc, &t.chatToolBody)
}

// tools reads tools and the older functions.
func (c *chatRequest) tools(a *wire.Request) error {
	names := make(dialect.Names, len(c.Tools)+len(c.Functions))
	for i := range c.Tools {
		t := &c.Tools[i]
		param := fmt.Sprintf("tools[%d]", i)
		switch t.Type {
		case "function":
			tool, err := t.Function.tool(param + ".function")
			if err == nil {
				err = names.Add(tool.Name, param+".function.name")
			}
			if err != nil {
				return err
			}
			if tool.Cache == nil {
				tool.Cache = dialect.Present(t.Cache)
			}
			a.Tools = append(a.Tools, tool)
		case "":
			return fault.Field(param+".type", dialect.CodeMissing, "%s.type is missing; use function.", param)
		default:
			a.Tools = append(a.Tools, wire.Tool{Type: t.Type, Raw: t.raw})
		}
	}
	for i := range c.Functions {
		param := fmt.Sprintf("functions[%d]", i)
		tool, err := c.Functions[i].tool(param)
		if err == nil {
			err = names.Add(tool.Name, param+".name")
		}
		if err != nil {
			return err
		}
		a.Tools, a.Functions = append(a.Tools, tool), true
	}
	return nil
}

// tool converts a function to the canonical form.
func (f *chatFunction) tool(param string) (wire.Tool, error) {
	t := wire.Tool{Name: f.Name, Description: f.Description, Schema: dialect.Present(f.Parameters), Strict: f.Strict, Cache: dialect.Present(f.Cache)}
	switch {
	case f.Name == "":
		return t, fault.Field(param+".name", dialect.CodeMissing, "%s.name is missing; name the function.", param)
	case t.Schema != nil && t.Schema.Kind() != '{':
		return t, fault.Field(param+".parameters", dialect.CodeType, "%s.parameters must be an object.", param)
	}
	return t, nil
}

// chatToolChoice is the object form of tool_choice and function_call.
type chatToolChoice struct {
	Type     string   `json:"type"`
	Name     string   `json:"name,omitzero"`
	Function chatName `json:"function,omitzero"`
	Custom   chatName `json:"custom,omitzero"`
	Allowed  struct {
		Mode  string `json:"mode"`
		Tools []struct {
			Type     string   `json:"type"`
			Name     string   `json:"name"`
			Function chatName `json:"function"`
			Custom   chatName `json:"custom"`
		} `json:"tools"`
	} `json:"allowed_tools,omitzero"`
}

type chatName struct {
	Name string `json:"name"`
}

// choice reads tool_choice, or the older function_call.
func (c *chatRequest) choice(a *wire.Request) error {
	param, raw := "tool_choice", dialect.Present(c.ToolChoice)
	if raw == nil {
		param, raw = "function_call", dialect.Present(c.FunctionCall)
	}
	if raw == nil {
		return nil
	}
	if raw.Kind() == '"' {
		var word string
		if err := json.Unmarshal(raw, &word); err != nil {
			return dialect.Reject(err, param)
		}
		return setMode(a, param, word)
	}
	var in chatToolChoice
	if err := json.Unmarshal(raw, &in); err != nil {
		return dialect.Reject(err, param)
	}
	if param == "function_call" {
		in.Type, in.Function.Name = "function", in.Name
	}
	switch in.Type {
	case "function":
		a.ToolChoice = wire.ToolChoice{Mode: wire.ChoiceNamed, Name: in.Function.Name}
	case "custom":
		a.ToolChoice = wire.ToolChoice{Mode: wire.ChoiceNamed, Name: in.Custom.Name, Custom: true}
	case "allowed_tools":
		if err := setMode(a, param+".allowed_tools.mode", in.Allowed.Mode); err != nil {
			return err
		}
		a.ToolChoice.Allowed = []string{}
		for _, t := range in.Allowed.Tools {
			a.ToolChoice.Allowed = append(a.ToolChoice.Allowed, t.Name+t.Function.Name+t.Custom.Name)
		}
		return nil
	default:
		return fault.Field(param+".type", dialect.CodeValue, "%s.type must be function, custom or allowed_tools.", param)
	}
	if a.ToolChoice.Name == "" {
		return fault.Field(param, dialect.CodeMissing, "%s must name the tool to call.", param)
	}
	return nil
}

// setMode reads tool_choice if it is one word.
func setMode(a *wire.Request, param, word string) error {
	switch word {
	case "auto":
		a.ToolChoice.Mode = wire.ChoiceAuto
	case "none":
		a.ToolChoice.Mode = wire.ChoiceNone
	case "required", "any": // the other is Mistral's word
		a.ToolChoice.Mode = wire.ChoiceRequired
	default:
		return fault.Field(param, dialect.CodeValue, "%s must be auto, none, required or an object that names a tool.", param)
	}
	return nil
}
