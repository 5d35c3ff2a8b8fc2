package googleschema

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object.
type object = map[string]any

// mostNodes bounds what a schema whose references repeat each other may grow to.
const mostNodes = 10_000

// Reduced reduces a JSON schema to the subset of OpenAPI's that older models take: it puts definitions in
// the place of references, and removes keywords that they reject. The response then fits the shape,
// and what was removed is not guaranteed.
func Reduced(schema jsontext.Value) jsontext.Value {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return schema
	}
	r := reducer{root: root}
	out, err := json.Marshal(r.schema(root, nil), json.Deterministic(true))
	if err != nil {
		return schema
	}
	return out
}

// HasProperties reports whether a schema describes any property.
func HasProperties(schema jsontext.Value) bool {
	var s struct {
		Properties object `json:"properties"`
	}
	return json.Unmarshal(schema, &s) == nil && len(s.Properties) > 0
}

type reducer struct {
	root  any
	nodes int
}

// schema reduces one schema. within lists the references that are open, because a schema may
// contain itself.
func (r *reducer) schema(v any, within []string) any {
	in, ok := v.(object)
	if r.nodes++; !ok || r.nodes > mostNodes {
		return object{"type": "OBJECT"}
	}
	if ref, ok := in["$ref"].(string); ok {
		if slices.Contains(within, ref) {
			return object{"type": "OBJECT"}
		}
		return r.schema(r.definition(ref), append(slices.Clip(within), ref))
	}
	out := object{}
	for name, value := range in {
		switch name {
		case "title", "description", "nullable", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "required":
			out[name] = value
		case "type":
			kindOf(value, out)
		case "format":
			if value == "date-time" || value == "enum" {
				out[name] = value
			}
		case "enum":
			textsOf(value, out)
		case "const":
			textsOf([]any{value}, out)
		case "items":
			out[name] = r.schema(value, within)
		case "properties":
			out[name] = r.properties(value, within)
		case "anyOf", "oneOf":
			r.anyOf(value, within, out)
		case "allOf":
			r.allOf(value, within, out)
		}
	}
	return out
}

// definition finds what a reference within the schema names.
func (r *reducer) definition(ref string) any {
	at := r.root
	for _, name := range strings.Split(strings.TrimPrefix(ref, "#"), "/")[1:] {
		in, ok := at.(object)
		if !ok {
			return nil
		}
		at = in[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return at
}

func (r *reducer) properties(v any, within []string) object {
	out := object{}
	in, _ := v.(object)
	for name, one := range in {
		out[name] = r.schema(one, within)
	}
	return out
}

// anyOf reduces alternatives. One of null makes the others nullable.
func (r *reducer) anyOf(v any, within []string, out object) {
	list, _ := v.([]any)
	var some []any
	for _, one := range list {
		if in, ok := one.(object); ok && in["type"] == "null" {
			out["nullable"] = true
			continue
		}
		some = append(some, r.schema(one, within))
	}
	if len(some) > 0 {
		out["anyOf"] = some
	}
}

// allOf joins schemas that all hold. Of two that say the same, the last one counts.
func (r *reducer) allOf(v any, within []string, out object) {
	list, _ := v.([]any)
	for _, one := range list {
		in, _ := r.schema(one, within).(object)
		for name, value := range in {
			more, ok := value.(object)
			have, both := out[name].(object)
			if !ok || !both {
				out[name] = value
				continue
			}
			maps.Copy(have, more)
		}
	}
}

// kindOf writes a type: one, and whether it may be null.
func kindOf(v any, out object) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var some []any
	for _, one := range list {
		name, _ := one.(string)
		if name == "null" {
			out["nullable"] = true
			continue
		}
		some = append(some, object{"type": strings.ToUpper(name)})
	}
	switch len(some) {
	case 0:
	case 1:
		out["type"] = some[0].(object)["type"]
	default:
		out["anyOf"] = some
	}
}

// textsOf writes an enumeration, which older models have of texts only.
func textsOf(v any, out object) {
	list, _ := v.([]any)
	for _, one := range list {
		if _, ok := one.(string); !ok {
			return
		}
	}
	if len(list) > 0 {
		out["enum"] = list
	}
}
