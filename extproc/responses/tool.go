package responses

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// tool is a tool of any type. A tool that was read is kept raw as well, for the echo.
type tool struct {
	toolBody

	raw jsontext.Value
}

type toolBody struct {
	Type        string         `json:"type"`
	Name        string         `json:"name,omitzero"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters,omitzero"`
	Strict      *bool          `json:"strict,omitzero"`
	Format      jsontext.Value `json:"format,omitzero"` // of custom tools
	Tools       jsontext.Value `json:"tools,omitzero"`  // of namespaces

	// Of the search on the web.
	ContextSize string         `json:"search_context_size,omitzero"`
	Location    jsontext.Value `json:"user_location,omitzero"`
	Filters     jsontext.Value `json:"filters,omitzero"`
	External    *bool          `json:"external_web_access,omitzero"`
}

// Types of tools.
const (
	toolFunction  = "function"
	toolCustom    = "custom"
	toolWebSearch = "web_search"
)

// UnmarshalJSONFrom reads a tool. Its type is read first: members of tools that are
// rejected may have any form.
func (t *tool) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	path := dialect.Path(dec.StackPointer())
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return dialect.Reject(err, path)
	}
	if head.Type != "" && !translated(head.Type) {
		return fault.Field(path+".type", driver.CodeUnsupported, "%s.type: this model has no tool of that type; use function, custom, namespace or web_search.", path)
	}
	if err := json.Unmarshal(raw, &t.toolBody); err != nil {
		return dialect.Reject(err, path)
	}
	t.raw = raw.Clone()
	return nil
}

// MarshalJSONTo writes a tool.
func (t *tool) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, &t.toolBody)
}

// translated reports whether tools of a type have a canonical form. All others run at OpenAI.
func translated(kind string) bool {
	return kind == toolFunction || kind == toolCustom || kind == toolNamespace || searches(kind)
}

// searches reports whether a type is the search on the web, whose newer versions have a date.
func searches(kind string) bool {
	return kind == toolWebSearch || kind == "web_search_preview" ||
		strings.HasPrefix(kind, "web_search_2") || strings.HasPrefix(kind, "web_search_preview_2")
}

// tools reads tools.
func (r *request) tools(a *wire.Request) error {
	r.names = make(dialect.Names, len(r.Tools))
	for i := range r.Tools {
		if err := r.tool(a, &r.Tools[i].toolBody, fmt.Sprintf("tools[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

// tool reads a tool.
func (r *request) tool(a *wire.Request, t *toolBody, path string) error {
	if t.Type != toolNamespace {
		if err := r.names.Add(t.Name, path+".name"); err != nil {
			return err
		}
	}
	switch {
	case t.Type == "":
		return fault.Field(path+".type", dialect.CodeMissing, "%s.type is missing; use function.", path)
	case searches(t.Type):
		search, err := t.search(path)
		if err != nil || search == nil {
			return err
		}
		if a.WebSearch = search; r.MaxToolCalls != nil { // the search is the only tool that a provider runs
			search.MostUses = int64(*r.MaxToolCalls)
		}
	case t.Type == toolNamespace:
		return r.namespace(a, t, path)
	case t.Name == "":
		return fault.Field(path+".name", dialect.CodeMissing, "%s.name is missing; name the tool.", path)
	case t.Type == toolCustom:
		raw, err := t.chatForm(path)
		if err != nil {
			return err
		}
		a.Tools = append(a.Tools, wire.Tool{Type: toolCustom, Raw: raw})
	default:
		schema := dialect.Present(t.Parameters)
		if schema != nil && schema.Kind() != '{' {
			return fault.Field(path+".parameters", dialect.CodeType, "%s.parameters must be an object.", path)
		}
		a.Tools = append(a.Tools, wire.Tool{Name: t.Name, Description: t.Description, Schema: schema, Strict: t.Strict})
	}
	return nil
}

// search reads a search on the web. Restrictions that other providers lack are rejected:
// without them the model would read what the caller excluded. A search without access to the
// web is one of OpenAI's copy of it, which no other provider has: the result is nil, and the
// model goes on without. Codex sends it with each request of a sandbox.
func (t *toolBody) search(path string) (*wire.WebSearch, error) {
	if t.External != nil && !*t.External {
		return nil, nil
	}
	out := &wire.WebSearch{ContextSize: t.ContextSize}
	if raw := dialect.Present(t.Filters); raw != nil {
		var in filters
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, dialect.Reject(err, path+".filters")
		}
		more, err := dialect.Extra(in.Extra, func(string) bool { return false })
		switch {
		case err != nil:
			return nil, err
		case len(more) > 0:
			return nil, driver.Unsupported(path+".filters."+more[0].Name, "this model")
		}
		out.Allowed = in.Allowed
	}
	place := dialect.Present(t.Location)
	if place == nil {
		return out, nil
	}
	var location location
	if err := json.Unmarshal(place, &location); err != nil {
		return nil, dialect.Reject(err, path+".user_location")
	}
	location.Type = ""
	raw, err := json.Marshal(&location)
	out.Location = raw
	return out, err
}

// filters is the domains that a search is limited to.
type filters struct {
	Allowed []string       `json:"allowed_domains,omitzero"`
	Extra   jsontext.Value `json:",embed"`
}

// location is where the user is, about.
type location struct {
	Type     string `json:"type,omitzero"`
	City     string `json:"city,omitzero"`
	Country  string `json:"country,omitzero"`
	Region   string `json:"region,omitzero"`
	Timezone string `json:"timezone,omitzero"`
}

// chatTool is a custom tool in the form of OpenAI's chat, which is its canonical form.
type chatTool struct {
	Type   string     `json:"type"`
	Custom chatCustom `json:"custom"`
}

type chatCustom struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitzero"`
	Format      *chatFormat `json:"format,omitzero"`
}

type chatFormat struct {
	Type    string   `json:"type"`
	Grammar *grammar `json:"grammar,omitzero"`
}

type grammar struct {
	Definition string `json:"definition"`
	Syntax     string `json:"syntax"`
}

// flatFormat is the format of a custom tool in this language.
type flatFormat struct {
	Type       string `json:"type"`
	Definition string `json:"definition,omitzero"`
	Syntax     string `json:"syntax,omitzero"`
}

// chatForm returns a custom tool in its canonical form.
func (t *toolBody) chatForm(path string) (jsontext.Value, error) {
	out := chatTool{Type: toolCustom, Custom: chatCustom{Name: t.Name, Description: t.Description}}
	if raw := dialect.Present(t.Format); raw != nil {
		var in flatFormat
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, dialect.Reject(err, path+".format")
		}
		if in.Type == "" {
			return nil, fault.Field(path+".format.type", dialect.CodeMissing, "%s.format.type is missing.", path)
		}
		out.Custom.Format = &chatFormat{Type: in.Type}
		if in.Type == "grammar" {
			out.Custom.Format.Grammar = &grammar{Definition: in.Definition, Syntax: in.Syntax}
		}
	}
	return json.Marshal(&out)
}

// toolChoice is the object form of tool_choice.
type toolChoice struct {
	Type  string    `json:"type"`
	Name  string    `json:"name,omitzero"`
	Mode  string    `json:"mode,omitzero"`
	Tools []toolRef `json:"tools,omitzero"`
}

type toolRef struct {
	Type string `json:"type"`
	Name string `json:"name,omitzero"`
}

// choice reads tool_choice.
func (r *request) choice(a *wire.Request) error {
	raw := dialect.Present(r.ToolChoice)
	if raw == nil {
		return nil
	}
	if raw.Kind() == '"' {
		var word string
		if err := json.Unmarshal(raw, &word); err != nil {
			return dialect.Reject(err, "tool_choice")
		}
		return setMode(a, "tool_choice", word)
	}
	var in toolChoice
	if err := json.Unmarshal(raw, &in); err != nil {
		return dialect.Reject(err, "tool_choice")
	}
	switch in.Type {
	case toolFunction, toolCustom:
		if in.Name == "" {
			return fault.Field("tool_choice.name", dialect.CodeMissing, "tool_choice.name is missing; name the tool to call.")
		}
		a.ToolChoice = wire.ToolChoice{Mode: wire.ChoiceNamed, Name: in.Name, Custom: in.Type == toolCustom}
		return nil
	case "allowed_tools":
	default:
		return fault.Field("tool_choice.type", driver.CodeUnsupported, "tool_choice.type must be function, custom or allowed_tools for this model.")
	}
	if err := setMode(a, "tool_choice.mode", in.Mode); err != nil {
		return err
	}
	a.ToolChoice.Allowed = []string{}
	for i, t := range in.Tools {
		if t.Name == "" {
			param := fmt.Sprintf("tool_choice.tools[%d]", i)
			return fault.Field(param, dialect.CodeMissing, "%s must name a function or a custom tool.", param)
		}
		a.ToolChoice.Allowed = append(a.ToolChoice.Allowed, t.Name)
	}
	return nil
}

// setMode reads tool_choice if it is one word.
func setMode(a *wire.Request, param, word string) error {
	modes := []string{"auto", "none", "required"}
	if !slices.Contains(modes, word) {
		return fault.Field(param, dialect.CodeValue, "%s must be auto, none, required or an object that names a tool.", param)
	}
	a.ToolChoice.Mode = []wire.ChoiceMode{wire.ChoiceAuto, wire.ChoiceNone, wire.ChoiceRequired}[slices.Index(modes, word)]
	return nil
}
