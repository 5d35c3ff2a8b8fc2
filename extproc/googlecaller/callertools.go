package googlecaller

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/googleschema"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// callerTool is what is understood of a tool, which may be several at once.
type callerTool struct {
	Functions []callerFunction `json:"functionDeclarations"`
	Search    *callerSearch    `json:"googleSearch"`
	Retrieval jsontext.Value   `json:"googleSearchRetrieval"` // the search's name for older models
	Extra     jsontext.Value   `json:",embed"`
}

type callerFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
	JSONSchema  jsontext.Value `json:"parametersJsonSchema"`
}

type callerSearch struct {
	Excluded []string `json:"excludeDomains"`
}

type callerToolConfig struct {
	Calling struct {
		Mode    string   `json:"mode"`
		Allowed []string `json:"allowedFunctionNames"`
	} `json:"functionCallingConfig"`
}

// tools reads tools.
func (c *callerRequest) tools(a *wire.Request) error {
	names := dialect.Names{}
	for i, raw := range c.Tools {
		param := fmt.Sprintf("tools[%d]", i)
		var t callerTool
		if err := json.Unmarshal(raw, &t); err != nil {
			return dialect.Reject(err, param)
		}
		for j := range t.Functions {
			if err := t.Functions[j].add(a, fmt.Sprintf("%s.functionDeclarations[%d]", param, j), names); err != nil {
				return err
			}
		}
		if t.Search != nil || dialect.Present(t.Retrieval) != nil {
			a.WebSearch = &wire.WebSearch{}
			if t.Search != nil && len(t.Search.Excluded) > 0 {
				a.WebSearch.Blocked = t.Search.Excluded
			}
		}
		others, err := dialect.Extra(t.Extra, func(string) bool { return false })
		if err != nil {
			return err
		}
		for _, f := range others {
			if dialect.Present(f.Value) != nil {
				a.Tools = append(a.Tools, wire.Tool{Type: f.Name, Raw: raw})
			}
		}
	}
	return nil
}

// add reads a function.
func (f *callerFunction) add(a *wire.Request, param string, names dialect.Names) error {
	if f.Name == "" {
		return fault.Field(param+".name", dialect.CodeMissing, "%s.name is missing; name the function.", param)
	}
	if err := names.Add(f.Name, param+".name"); err != nil {
		return err
	}
	schema, member := dialect.Present(f.JSONSchema), "parametersJsonSchema"
	own := dialect.Present(f.Parameters)
	if schema == nil && own != nil {
		schema, member = own, "parameters"
	}
	if schema != nil && schema.Kind() != '{' {
		return fault.Field(param+"."+member, dialect.CodeType, "%s.%s must be an object.", param, member)
	}
	if member == "parameters" {
		schema = googleschema.Standard(schema)
	}
	a.Tools = append(a.Tools, wire.Tool{Name: f.Name, Description: f.Description, Schema: schema})
	return nil
}

// choice reads toolConfig.
func (c *callerRequest) choice(a *wire.Request) error {
	if c.ToolConfig == nil {
		return nil
	}
	const at = "toolConfig.functionCallingConfig."
	in := &c.ToolConfig.Calling
	for i, name := range in.Allowed {
		if !slices.ContainsFunc(a.Tools, func(t wire.Tool) bool { return t.Type == "" && t.Name == name }) {
			param := fmt.Sprintf("%sallowedFunctionNames[%d]", at, i)
			return fault.Field(param, dialect.CodeValue, "%s must be the name of one of the functions.", param)
		}
	}
	switch in.Mode {
	case "", "MODE_UNSPECIFIED":
		return nil
	case "AUTO", "VALIDATED":
		a.ToolChoice = wire.ToolChoice{Mode: wire.ChoiceAuto, Allowed: in.Allowed}
	case "NONE":
		a.ToolChoice.Mode = wire.ChoiceNone
	case "ANY":
		if len(in.Allowed) == 1 {
			a.ToolChoice = wire.ToolChoice{Mode: wire.ChoiceNamed, Name: in.Allowed[0]}
			return nil
		}
		a.ToolChoice = wire.ToolChoice{Mode: wire.ChoiceRequired, Allowed: in.Allowed}
	default:
		return fault.Field(at+"mode", dialect.CodeValue, "%smode must be AUTO, ANY, NONE or VALIDATED.", at)
	}
	return nil
}
