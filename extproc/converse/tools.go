package converse

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type callerToolConfig struct {
	Tools  []jsontext.Value `json:"tools"`
	Choice *callerChoice    `json:"toolChoice"`
}

// callerTool is a function, a tool of Bedrock's own, or a cache point.
type callerTool struct {
	Spec *struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Input       struct {
			JSON jsontext.Value `json:"json"`
		} `json:"inputSchema"`
		Strict *bool `json:"strict"`
	} `json:"toolSpec"`
	System     *callerNamed `json:"systemTool"`
	CachePoint *callerPoint `json:"cachePoint"`
}

type callerNamed struct {
	Name string `json:"name"`
}

// callerChoice has one of the members.
type callerChoice struct {
	Auto jsontext.Value `json:"auto"`
	Any  jsontext.Value `json:"any"`
	Tool *callerNamed   `json:"tool"`
}

// searchesWeb is the tool with which Bedrock's models search the web.
const searchesWeb = "nova_grounding"

// tools reads toolConfig.tools.
func (c *callerRequest) tools(a *wire.Request) error {
	names := dialect.Names{}
	for i, raw := range c.ToolConfig.Tools {
		param := fmt.Sprintf("%stoolConfig.tools[%d]", c.prefix, i)
		var t callerTool
		if err := unmarshal(raw, &t, param); err != nil {
			return err
		}
		switch n := len(a.Tools); {
		case t.Spec != nil:
			if t.Spec.Name == "" {
				return fault.Field(param+".toolSpec.name", dialect.CodeMissing, "%s.toolSpec.name is missing; name the tool.", param)
			}
			if err := names.Add(t.Spec.Name, param+".toolSpec.name"); err != nil {
				return err
			}
			schema := dialect.Present(t.Spec.Input.JSON)
			if schema != nil && schema.Kind() != '{' {
				return fault.Field(param+".toolSpec.inputSchema.json", dialect.CodeType, "%s.toolSpec.inputSchema.json must be an object.", param)
			}
			a.Tools = append(a.Tools, wire.Tool{Name: t.Spec.Name, Description: t.Spec.Description, Schema: schema, Strict: t.Spec.Strict})
		case t.System != nil && t.System.Name == searchesWeb:
			a.WebSearch = &wire.WebSearch{}
		case t.System != nil:
			a.Tools = append(a.Tools, wire.Tool{Type: t.System.Name, Raw: raw})
		case t.CachePoint != nil && n > 0:
			a.Tools[n-1].Cache = markOf(t.CachePoint)
		case t.CachePoint == nil:
			return fault.Field(param, dialect.CodeValue, "%s must have toolSpec, systemTool or cachePoint.", param)
		}
	}
	return nil
}

// choice reads toolConfig.toolChoice.
func (c *callerRequest) choice(a *wire.Request) error {
	in := c.ToolConfig.Choice
	if in == nil {
		return nil
	}
	const at = "toolConfig.toolChoice"
	switch {
	case in.Tool != nil && in.Tool.Name == "":
		return c.field(at+".tool.name", dialect.CodeMissing, "is missing.")
	case in.Tool != nil:
		for i := range a.Tools {
			if a.Tools[i].Name == in.Tool.Name {
				a.ToolChoice = wire.ToolChoice{Mode: wire.ChoiceNamed, Name: in.Tool.Name}
				return nil
			}
		}
		return c.field(at+".tool.name", dialect.CodeValue, "must be the name of one of the tools.")
	case dialect.Present(in.Any) != nil:
		a.ToolChoice.Mode = wire.ChoiceRequired
	case dialect.Present(in.Auto) != nil:
		a.ToolChoice.Mode = wire.ChoiceAuto
	default:
		return c.field(at, dialect.CodeValue, "must have auto, any or tool.")
	}
	return nil
}
