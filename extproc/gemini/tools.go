package gemini

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/googleschema"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// tool is a set of functions, or a tool that runs at the provider.
type tool struct {
	Functions    []functionDeclaration `json:"functionDeclarations,omitzero"`
	GoogleSearch *struct{}             `json:"googleSearch,omitzero"`
}

type functionDeclaration struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters,omitzero"`
	JSONSchema  jsontext.Value `json:"parametersJsonSchema,omitzero"`
}

type toolConfig struct {
	Calling functionCalling `json:"functionCallingConfig,omitzero"`
	Shows   bool            `json:"includeServerSideToolInvocations,omitzero"` // the API requires it of tools of both kinds
}

type functionCalling struct {
	Mode    string   `json:"mode,omitzero"`
	Allowed []string `json:"allowedFunctionNames,omitzero"`
}

// tools writes tools and toolConfig.
func (b *builder) tools() error {
	var functions []functionDeclaration
	if err := driver.ToolNames(b.in, isName, "that begin with a letter or _ and have at most 128 letters, digits, -, _, dots and colons", vendor); err != nil {
		return err
	}
	for i := range b.in.Tools {
		t := &b.in.Tools[i]
		switch {
		case t.Type != "":
			if !b.target.DropParams {
				param := fmt.Sprintf("tools[%d].type", i)
				return fault.Field(param, driver.CodeUnsupported, "%s: the tool %s is not supported by %s; leave it out, or set drop_params on the deployment.", param, fault.Quote(t.Type), vendor)
			}
		case b.in.ToolChoice.Allows(t.Name):
			functions = append(functions, b.function(t))
		}
	}
	if len(functions) > 0 {
		b.out.Tools = []tool{{Functions: functions}}
		b.choose()
	}
	return b.search()
}

// isName reports whether a function may have a name.
func isName(name string) bool {
	letter := func(c rune) bool { return c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }
	return len(name) <= 128 && name != "" && letter(rune(name[0])) && !strings.ContainsFunc(name, func(c rune) bool {
		return !letter(c) && (c < '0' || c > '9') && c != '-' && c != '.' && c != ':'
	})
}

// function writes a function. A schema without properties says nothing, and older models reject it.
func (b *builder) function(t *wire.Tool) functionDeclaration {
	out := functionDeclaration{Name: t.Name, Description: t.Description}
	switch {
	case t.Schema == nil:
	case b.target.Features.JSONSchema:
		out.JSONSchema = t.Schema
	default:
		if schema := googleschema.Reduced(t.Schema); googleschema.HasProperties(schema) {
			out.Parameters = schema
		}
	}
	return out
}

// choose writes how free the model is. If only some tools are allowed, only those are listed.
func (b *builder) choose() {
	c := &b.in.ToolChoice
	var out functionCalling
	switch c.Mode {
	case wire.ChoiceUnset:
		return
	case wire.ChoiceAuto:
		out.Mode = "AUTO"
	case wire.ChoiceNone:
		out.Mode = "NONE"
	case wire.ChoiceRequired:
		out.Mode = "ANY"
	case wire.ChoiceNamed:
		out.Mode, out.Allowed = "ANY", []string{c.Name}
	}
	b.out.ToolConfig = &toolConfig{Calling: out}
}

// search lets the model search the web. Older models do not search in requests with functions. A list of domains and a place are limits that callers rely on,
// so they are not dropped in silence.
func (b *builder) search() error {
	w := b.in.WebSearch
	if w == nil {
		return nil
	}
	param, domains := "web_search_options", "tools"
	if b.in.Caller == wire.Anthropic || b.in.Caller == wire.Responses {
		param = domains
	}
	drop, functions := b.target.DropParams, len(b.out.Tools) > 0
	switch {
	case functions && !b.target.Features.SignedCalls && drop:
		return nil
	case functions && !b.target.Features.SignedCalls:
		return fault.Field(param, driver.CodeUnsupported, "%s: this model of %s does not search the web in a request with functions; leave one of them out, or set drop_params on the deployment.", param, vendor)
	case w.Allowed != nil && !drop:
		return driver.Unsupported(domains+".allowed_domains", vendor)
	case w.Blocked != nil && !drop:
		return driver.Unsupported(domains+".blocked_domains", vendor)
	case w.Location != nil && !drop:
		return driver.Unsupported(param+".user_location", vendor)
	}
	b.out.Tools = append([]tool{{GoogleSearch: &struct{}{}}}, b.out.Tools...)
	if !functions || b.vertex {
		return nil
	}
	if b.out.ToolConfig == nil {
		b.out.ToolConfig = &toolConfig{}
	}
	b.out.ToolConfig.Shows = true
	return nil
}

// format gives the response's text a form. Older models have it only in requests without tools.
func (b *builder) format() error {
	f, g := &b.in.Format, &b.out.Generation
	if f.Kind == wire.FormatText {
		return nil
	}
	if len(b.out.Tools) > 0 && !b.target.Features.SignedCalls {
		if b.target.DropParams {
			return nil
		}
		param := formatParam(b.in.Caller)
		return fault.Field(param, driver.CodeUnsupported, "%s: this model of %s has it only in requests without tools; leave one of them out, or set drop_params on the deployment.", param, vendor)
	}
	g.MimeType = "application/json"
	switch {
	case f.Kind != wire.FormatSchema:
	case b.target.Features.JSONSchema:
		g.JSONSchema = f.Schema
	default:
		g.Schema = googleschema.Reduced(f.Schema)
	}
	return nil
}

// formatParam is the name of the response's form in the caller's language.
func formatParam(caller wire.Dialect) string {
	if caller == wire.Anthropic {
		return "output_config.format"
	}
	if caller == wire.Responses {
		return "text.format"
	}
	return "response_format"
}
