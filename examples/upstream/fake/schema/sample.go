// Package schema makes values that JSON schemas accept, as far as the fake provider's callers use schemas.
package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Sample makes a value that a JSON schema accepts, in the few keywords that
// tools and response formats commonly use.
func Sample(schema json.RawMessage) any {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	return sampler{root: root}.of(root, 0)
}

type sampler struct{ root map[string]any }

// maxDepth ends schemas that refer to themselves.
const maxDepth = 12

func (s sampler) of(schema map[string]any, depth int) any {
	if depth > maxDepth {
		return nil
	}
	if ref, ok := schema["$ref"].(string); ok {
		return s.of(s.resolve(ref), depth+1)
	}
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	if value, ok := schema["const"]; ok {
		return value
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := schema[key].([]any); ok && len(list) > 0 {
			first, _ := list[0].(map[string]any)
			return s.of(first, depth+1)
		}
	}
	switch kind(schema) {
	case "object":
		out := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			property, _ := properties[name].(map[string]any)
			out[name] = s.of(property, depth+1)
		}
		return out
	case "array":
		items, _ := schema["items"].(map[string]any)
		return []any{s.of(items, depth+1)}
	case "integer", "number":
		if least, ok := schema["minimum"].(float64); ok {
			return least
		}
		return 1
	case "boolean":
		return true
	case "null":
		return nil
	}
	return "fake"
}

// kind is the schema's type, the first where it lists several.
func kind(schema map[string]any) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			name, _ := t[0].(string)
			return name
		}
	}
	if schema["properties"] != nil {
		return "object"
	}
	return ""
}

// resolve finds what a local reference such as #/$defs/City names.
func (s sampler) resolve(ref string) map[string]any {
	at := s.root
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at, _ = at[name].(map[string]any)
	}
	return at
}
