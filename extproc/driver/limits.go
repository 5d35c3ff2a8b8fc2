package driver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// FunctionNames rejects names of functions that a provider does not take: longer than most
// characters, or with others than letters, digits, - and _. A name is not shortened: prompts and
// results name tools, and the model must find them there.
func FunctionNames(r *wire.Request, most int, provider string) error {
	fits := func(name string) bool { return len(name) <= most && !strings.ContainsFunc(name, notInNames) }
	return ToolNames(r, fits, fmt.Sprintf("of at most %d letters, digits, - and _", most), provider)
}

// ToolNames is FunctionNames for providers with a rule of their own, which ends the error's sentence
// "takes names".
func ToolNames(r *wire.Request, fits func(name string) bool, rule, provider string) error {
	for i := range r.Tools {
		t := &r.Tools[i]
		if t.Type != "" || fits(t.Name) {
			continue
		}
		param := fmt.Sprintf("tools[%d].name", i)
		switch {
		case r.Functions:
			param = fmt.Sprintf("functions[%d].name", i)
		case r.Caller == "" || r.Caller == wire.OpenAI:
			param = fmt.Sprintf("tools[%d].function.name", i)
		}
		return fault.Field(param, CodeUnsupported, "%s: %s takes names %s.", param, provider, rule)
	}
	return nil
}

// Strict returns whether a tool is sent as strict to a provider of OpenAI's. Strict schemas require all
// properties there, and allow no others. Anthropic's and Cohere's need not, and a provider of OpenAI's rejects
// those. For a caller of their languages strict is then dropped, as other hints are.
func Strict(caller wire.Dialect, t *wire.Tool) *bool {
	if (caller == wire.Anthropic || caller == wire.Cohere) && t.Strict != nil && *t.Strict && !isClosed(t.Schema) {
		return nil
	}
	return t.Strict
}

// isClosed reports whether each object that a schema describes has all of its properties, and no
// others.
func isClosed(schema jsontext.Value) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && allClosed(v)
}

func allClosed(v any) bool {
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(one any) bool { return !allClosed(one) })
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			required, _ := v["required"].([]any)
			if v["additionalProperties"] != false || len(required) < len(properties) {
				return false
			}
		}
		for _, one := range v {
			if !allClosed(one) {
				return false
			}
		}
	}
	return true
}

func notInNames(c rune) bool {
	return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
}
