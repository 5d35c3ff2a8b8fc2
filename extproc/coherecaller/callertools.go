package coherecaller

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type callerTool struct {
	Type     string         `json:"type"`
	Function callerFunction `json:"function"`
}

type callerFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
}

// tools reads tools, which are functions.
func (c *callerRequest) tools(a *wire.Request) error {
	names := dialect.Names{}
	for i := range c.Tools {
		t, param := &c.Tools[i], fmt.Sprintf("tools[%d]", i)
		schema := dialect.Present(t.Function.Parameters)
		switch {
		case t.Type != "" && t.Type != "function":
			return fault.Field(param+".type", dialect.CodeValue, "%s.type must be function.", param)
		case t.Function.Name == "":
			return fault.Field(param+".function.name", dialect.CodeMissing, "%s.function.name is missing; name the function.", param)
		case schema != nil && schema.Kind() != '{':
			return fault.Field(param+".function.parameters", dialect.CodeType, "%s.function.parameters must be an object.", param)
		}
		if err := names.Add(t.Function.Name, param+".function.name"); err != nil {
			return err
		}
		one := wire.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: schema}
		if c.StrictTools {
			one.Strict = &c.StrictTools
		}
		a.Tools = append(a.Tools, one)
	}
	return nil
}

// choice reads tool_choice.
func (c *callerRequest) choice(a *wire.Request) error {
	switch c.ToolChoice {
	case "":
	case "REQUIRED":
		if len(a.Tools) == 0 {
			return fault.Field("tools", dialect.CodeMissing, "tools is missing: tool_choice requires that the model calls one of them.")
		}
		a.ToolChoice.Mode = wire.ChoiceRequired
	case "NONE":
		a.ToolChoice.Mode = wire.ChoiceNone
	default:
		return fault.Field("tool_choice", dialect.CodeValue, "tool_choice must be REQUIRED or NONE; leave it out to let the model decide.")
	}
	return nil
}
