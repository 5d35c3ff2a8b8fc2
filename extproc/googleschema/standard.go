package googleschema

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/contents"
)

// Standard returns a schema in Google's form, a subset of OpenAPI's with types in capitals, as a JSON
// schema. It is the other direction of Reduced.
func Standard(schema jsontext.Value) jsontext.Value {
	if schema == nil {
		return nil
	}
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return schema
	}
	out, err := json.Marshal(standard(root), json.Deterministic(true))
	if err != nil {
		return schema
	}
	return out
}

// standard converts one schema.
func standard(v any) any {
	in, ok := v.(object)
	if !ok {
		return v
	}
	out, nullable := object{}, false
	for name, value := range in {
		switch name = contents.Camel(name); name {
		case "type":
			if text, ok := value.(string); ok {
				if text = strings.ToLower(text); text != "type_unspecified" {
					out["type"] = text
				}
				continue
			}
			out["type"] = value
		case "nullable":
			nullable, _ = value.(bool)
		case "properties", "defs":
			out[map[string]string{"properties": "properties", "defs": "$defs"}[name]] = eachStandard(value)
		case "items", "additionalProperties":
			out[name] = standard(value)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			list, _ := value.([]any)
			all := make([]any, 0, len(list))
			for _, one := range list {
				all = append(all, standard(one))
			}
			out[name] = all
		case "ref":
			out["$ref"] = value
		case "propertyOrdering", "example":
		case "format":
			if value != "enum" {
				out[name] = value
			}
		case "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties":
			out[name] = numberOf(value)
		default:
			out[name] = value
		}
	}
	if nullable {
		allowNull(out)
	}
	return out
}

// eachStandard converts the schemas of properties.
func eachStandard(v any) any {
	in, ok := v.(object)
	if !ok {
		return v
	}
	out := object{}
	for name, one := range in {
		out[name] = standard(one)
	}
	return out
}

// numberOf returns a number: Google writes those of 64 bits as texts.
func numberOf(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	if n := jsontext.Value(text); n.IsValid() && n.Kind() == '0' {
		return n
	}
	return v
}

// allowNull lets a schema take null too.
func allowNull(schema object) {
	if kind, ok := schema["type"].(string); ok {
		schema["type"] = []any{kind, "null"}
	}
	if list, ok := schema["enum"].([]any); ok {
		schema["enum"] = append(list, nil)
	}
	if list, ok := schema["anyOf"].([]any); ok {
		schema["anyOf"] = append(list, object{"type": "null"})
	}
}
