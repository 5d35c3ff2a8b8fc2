package anthropic

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// callerTool is one tool. It is kept raw as well: only functions and the search of the web are
// understood.
type callerTool struct {
	callerToolBody

	raw jsontext.Value
}

type callerToolBody struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"input_schema"`
	Strict      *bool          `json:"strict"`
	MaxUses     *dialect.Whole `json:"max_uses"`
	Allowed     []string       `json:"allowed_domains"`
	Blocked     []string       `json:"blocked_domains"`
	Location    *userLocation  `json:"user_location"`
	Cache       jsontext.Value `json:"cache_control"`
	Extra       jsontext.Value `json:",embed"`
}

// userLocation is where a search of the web takes place.
type userLocation struct {
	City     string `json:"city,omitzero"`
	Country  string `json:"country,omitzero"`
	Region   string `json:"region,omitzero"`
	Timezone string `json:"timezone,omitzero"`
}

// UnmarshalJSONFrom reads a tool.
func (t *callerTool) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &t.callerToolBody); err != nil {
		return dialect.Reject(err, dialect.Path(dec.StackPointer()))
	}
	t.raw = raw.Clone()
	return nil
}

// tools reads tools.
func (c *callerRequest) tools(a *wire.Request) error {
	names := make(dialect.Names, len(c.Tools))
	for i := range c.Tools {
		t := &c.Tools[i]
		param := fmt.Sprintf("tools[%d]", i)
		if err := names.Add(t.Name, param+".name"); err != nil {
			return err
		}
		if cache := dialect.Present(t.Cache); cache != nil && cache.Kind() != '{' {
			return fault.Field(param+".cache_control", dialect.CodeType, "%s.cache_control must be an object.", param)
		}
		var err error
		switch {
		case t.Type == "", t.Type == "custom":
			err = t.function(a, param)
		case strings.HasPrefix(t.Type, "web_search_"):
			err = t.search(a, param)
		default:
			a.Tools = append(a.Tools, wire.Tool{Name: t.Name, Type: t.Type, Raw: t.raw})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// function reads a tool that the caller runs.
func (t *callerTool) function(a *wire.Request, param string) error {
	schema := dialect.Present(t.InputSchema)
	switch {
	case t.Name == "":
		return fault.Field(param+".name", dialect.CodeMissing, "%s.name is missing; name the tool.", param)
	case schema == nil:
		return fault.Field(param+".input_schema", dialect.CodeMissing, "%s.input_schema is missing.", param)
	case schema.Kind() != '{':
		return fault.Field(param+".input_schema", dialect.CodeType, "%s.input_schema must be an object.", param)
	}
	a.Tools = append(a.Tools, wire.Tool{
		Name: t.Name, Description: t.Description, Schema: schema, Strict: t.Strict, Cache: dialect.Present(t.Cache), Extra: t.Extra,
	})
	return nil
}

// search reads the search of the web by the provider.
func (t *callerTool) search(a *wire.Request, param string) error {
	if a.WebSearch != nil {
		return fault.Field(param+".type", dialect.CodeTwice, "%s.type: the web search appears more than once; send it once.", param)
	}
	if err := dialect.In(t.MaxUses, 1, usage.Limit, param+".max_uses"); err != nil {
		return err
	}
	a.WebSearch = &wire.WebSearch{Version: t.Type, Allowed: t.Allowed, Blocked: t.Blocked, Cache: dialect.Present(t.Cache)}
	if t.MaxUses != nil {
		a.WebSearch.MostUses = int64(*t.MaxUses)
	}
	if t.Location == nil {
		return nil
	}
	var err error
	a.WebSearch.Location, err = json.Marshal(t.Location)
	return err
}

type callerChoice struct {
	Type            string `json:"type"`
	Name            string `json:"name"`
	DisableParallel *bool  `json:"disable_parallel_tool_use"`
}

// choice reads tool_choice.
func (c *callerRequest) choice(a *wire.Request) error {
	in := c.ToolChoice
	if in == nil {
		return nil
	}
	switch in.Type {
	case "auto":
		a.ToolChoice.Mode = wire.ChoiceAuto
	case "any":
		a.ToolChoice.Mode = wire.ChoiceRequired
	case "none":
		a.ToolChoice.Mode = wire.ChoiceNone
	case "tool":
		if in.Name == "" {
			return fault.Field("tool_choice.name", dialect.CodeMissing, "tool_choice.name is missing; name the tool to call.")
		}
		a.ToolChoice = wire.ToolChoice{Mode: wire.ChoiceNamed, Name: in.Name}
	default:
		return fault.Field("tool_choice.type", dialect.CodeValue, "tool_choice.type must be auto, any, tool or none.")
	}
	if in.DisableParallel != nil {
		parallel := !*in.DisableParallel
		a.ParallelTools = &parallel
	}
	return nil
}
