package main

import (
	"regexp"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// givenExample returns the example in a rule, or nil.
func givenExample(r *validate.FieldRules) any {
	switch {
	case len(r.GetString().GetExample()) > 0:
		return r.GetString().GetExample()[0]
	case len(r.GetDouble().GetExample()) > 0:
		return r.GetDouble().GetExample()[0]
	case len(r.GetInt32().GetExample()) > 0:
		return int64(r.GetInt32().GetExample()[0])
	case len(r.GetUint32().GetExample()) > 0:
		return int64(r.GetUint32().GetExample()[0])
	case len(r.GetBool().GetExample()) > 0:
		return r.GetBool().GetExample()[0]
	}
	return nil
}

// examples generates complete examples of schemas.
type examples struct {
	defs   *object // components
	fields *object // hand-written examples, by field or by component.field
	rules  *object // examples in the rules of fields with that name in any message
	seen   []string
}

// newExamples also uses the examples of requests for responses.
func newExamples(defs, fields *object, calls []call) *examples {
	x := &examples{defs: defs, fields: fields, rules: obj()}
	done := map[protoreflect.FullName]bool{}
	for _, c := range calls {
		x.learn(c.method.Input(), done)
	}
	return x
}

// learn collects the examples of a message's fields. The first one for a name counts.
func (x *examples) learn(m protoreflect.MessageDescriptor, done map[protoreflect.FullName]bool) {
	if done[m.FullName()] {
		return
	}
	done[m.FullName()] = true
	for i := range m.Fields().Len() {
		f, name := m.Fields().Get(i), string(m.Fields().Get(i).Name())
		r := rulesOf(f)
		v := givenExample(r)
		if one := givenExample(notNil(r.GetRepeated().GetItems())); one != nil {
			v = []any{one}
		}
		if one := givenExample(notNil(r.GetMap().GetValues())); one != nil {
			key := mapKey
			if in := r.GetMap().GetKeys().GetString().GetIn(); len(in) > 0 {
				key = in[0]
			}
			v = obj(key, one)
		}
		if v != nil && x.rules.get(name) == nil {
			x.rules.set(name, v)
		}
		if inner := f.Message(); inner != nil {
			x.learn(inner, done)
		}
	}
}

// mapKey is the key in the example of a map: most maps are by model.
const mapKey = "gpt-4o"

// of generates an example. That of a response has all members; that of a request has the
// required members and those with an example.
func (x *examples) of(schema *object, name string, way side) any {
	if ref, ok := schema.get("$ref").(string); ok {
		return x.component(strings.TrimPrefix(ref, "#/components/schemas/"), way)
	}
	if given := x.given(name, schema); given != nil {
		return given
	}
	if some, ok := schema.get("anyOf").([]any); ok {
		if first, ok := some[0].(*object); ok {
			return x.of(first.copyOf().set("type", firstOf(first, schema)), name, way)
		}
	}
	switch kindOf(schema) {
	case "object":
		return x.object(schema, name, way)
	case "array":
		items, _ := schema.get("items").(*object)
		if items == nil || len(items.names) == 0 {
			return []any{}
		}
		return []any{x.of(items, name, way)}
	case "boolean":
		return fitting(schema, []any{false})
	case "number", "integer":
		return fitting(schema, []any{1.0, 0.0, 10.0, 100.0, 60.0, schema.get("minimum"), schema.get("maximum")})
	case "string":
		return fitting(schema, []any{
			"example", "30d", "2026-06-29", "2026-06-29T10:00:00Z", "ada@example.com", "https://example.com", "1", "a",
			"0a1b2c3d4e5f60718293a4b5c6d7e8f9", "f81d4fae-7dec-41d0-8765-00a0c91e6bf6",
		})
	case "":
		return "example"
	}
	return nil
}

// firstOf returns a reference without a type next to it.
func firstOf(first, schema *object) any {
	if t := first.get("type"); t != nil {
		return t
	}
	return schema.get("type")
}

func (x *examples) component(name string, way side) any {
	def, _ := x.defs.get(name).(*object)
	if def == nil || slices.Contains(x.seen, name) { // recursive
		return nil
	}
	x.seen = append(x.seen, name)
	defer func() { x.seen = x.seen[:len(x.seen)-1] }()
	return x.of(def, name, way)
}

func (x *examples) object(schema *object, name string, way side) any {
	out := obj()
	properties, _ := schema.get("properties").(*object)
	if properties == nil {
		if values, ok := schema.get("additionalProperties").(*object); ok && len(values.names) > 0 {
			key := mapKey
			if names, ok := schema.get("propertyNames").(*object); ok {
				key, _ = fitting(names, []any{mapKey}).(string)
			}
			return out.set(key, x.of(values, "", way))
		}
		return out
	}
	required, _ := schema.get("required").([]string)
	for _, field := range properties.names {
		one, _ := properties.get(field).(*object)
		if way == request && (field == fieldClear || field == fieldExpected || !slices.Contains(required, field) && !x.thought(field, name, one)) {
			continue
		}
		v := x.named(name, field, one, way)
		if v != nil || way == response {
			out.set(field, v)
		}
	}
	return out
}

// named returns the example of a component's field.
func (x *examples) named(component, field string, one *object, way side) any {
	if v := x.fields.get(component + "." + field); v != nil {
		return v
	}
	return x.of(one, field, way)
}

// thought reports whether there is an example for a field.
func (x *examples) thought(field, component string, one *object) bool {
	if x.fields.get(component+"."+field) != nil || one.get("examples") != nil {
		return true
	}
	items, _ := one.get("items").(*object)
	return items != nil && items.get("examples") != nil
}

// given returns a hand-written example or one from the field's rules, if it is valid.
func (x *examples) given(name string, schema *object) any {
	if list, ok := schema.get("examples").([]any); ok {
		return list[0]
	}
	v := x.fields.get(name)
	if v == nil {
		v = x.rules.get(name)
	}
	switch kind := kindOf(schema); v.(type) {
	case nil:
		return nil
	case string:
		if kind != "string" || !fits(schema, v) {
			return nil
		}
	case uint64, int64, int, float64:
		if kind != "number" && kind != "integer" {
			return nil
		}
	case bool:
		if kind != "boolean" {
			return nil
		}
	case []any:
		items, _ := schema.get("items").(*object)
		if kind != "array" || items == nil || items.get("$ref") != nil {
			return nil
		}
	case *object:
		values, _ := schema.get("additionalProperties").(*object)
		if kind != "object" || schema.get("properties") != nil || values != nil && values.get("$ref") != nil {
			return nil
		}
	}
	return v
}

// kindOf returns the type of a schema, apart from null.
func kindOf(schema *object) string {
	switch t := schema.get("type").(type) {
	case string:
		return t
	case []any:
		name, _ := t[0].(string)
		return name
	}
	return ""
}

// fitting returns the first candidate that is valid for a schema.
func fitting(schema *object, candidates []any) any {
	if c := schema.get("const"); c != nil {
		return c
	}
	if enum, ok := schema.get("enum").([]any); ok {
		return enum[0]
	}
	for _, c := range candidates {
		if c != nil && fits(schema, c) {
			return c
		}
	}
	return candidates[0]
}

// fits reports whether a scalar is valid for a schema without references.
func fits(schema *object, v any) bool {
	switch v := v.(type) {
	case string:
		return fitsString(schema, v)
	case float64:
		for name, ok := range map[string]func(bound float64) bool{
			"minimum":          func(b float64) bool { return v >= b },
			"maximum":          func(b float64) bool { return v <= b },
			"exclusiveMinimum": func(b float64) bool { return v > b },
			"exclusiveMaximum": func(b float64) bool { return v < b },
		} {
			if b, given := schema.get(name).(float64); given && !ok(b) {
				return false
			}
		}
	}
	return true
}

// fitsFormat has a pattern for each format that an example may need.
func fitsFormat(format, v string) bool {
	pattern := map[string]string{
		"date-time": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`,
		"email":     `^[^@ ]+@[^@ ]+$`,
		"uri":       `^[a-z]+://`,
		"uuid":      `^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$`,
	}[format]
	return regexp.MustCompile(pattern).MatchString(v)
}

func fitsString(schema *object, v string) bool {
	if enum, ok := schema.get("enum").([]any); ok {
		return slices.Contains(enum, any(v))
	}
	if format, ok := schema.get("format").(string); ok && !fitsFormat(format, v) {
		return false
	}
	if most, ok := schema.get("maxLength").(uint64); ok && uint64(len(v)) > most {
		return false
	}
	plain := schema.copyOf()
	plain.drop("format")
	return !refuses(plain, v)
}
