package main

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// scalar returns the schema of a kind.
func scalar(f protoreflect.FieldDescriptor) (*object, error) {
	if f.Enum() != nil {
		var names []any
		for i := range f.Enum().Values().Len() {
			names = append(names, string(f.Enum().Values().Get(i).Name()))
		}
		return obj("type", "string", "enum", names), nil
	}
	one := map[protoreflect.Kind]*object{
		protoreflect.StringKind: obj("type", "string"),
		protoreflect.BoolKind:   obj("type", "boolean"),
		protoreflect.DoubleKind: obj("type", "number"),
		protoreflect.FloatKind:  obj("type", "number"),
		protoreflect.Int32Kind:  obj("type", "integer", "minimum", -2147483648.0, "maximum", 2147483647.0),
		protoreflect.Uint32Kind: obj("type", "integer", "minimum", 0.0, "maximum", 4294967295.0),
		protoreflect.BytesKind:  obj("type", "string", "contentEncoding", "base64"),
	}[f.Kind()]
	if one == nil {
		return nil, fmt.Errorf("JSON has no %s that every client can read; use double", f.Kind())
	}
	return one, nil
}

// short returns the field that a bare value in place of a message stands for; nil if the
// message has no such short form.
func short(m protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	if m.FullName() == "gateway.v1.ModelBudget" {
		return m.Fields().ByName("max_budget")
	}
	return nil
}

// wellKnown returns the schema of a message with a special JSON form, or nil.
func wellKnown(name protoreflect.FullName) *object {
	switch name {
	case "google.protobuf.Timestamp":
		return obj("type", "string", "format", "date-time")
	case "google.protobuf.Struct":
		return obj("type", "object", "additionalProperties", true)
	case "google.protobuf.ListValue":
		return obj("type", "array", "items", obj())
	case "google.protobuf.Value", "gateway.v1.Json":
		return obj()
	case "google.protobuf.StringValue":
		return obj("type", "string")
	case "google.protobuf.BoolValue":
		return obj("type", "boolean")
	case "google.protobuf.DoubleValue":
		return obj("type", "number")
	case "google.protobuf.UInt32Value":
		return obj("type", "integer", "minimum", 0.0, "maximum", 4294967295.0)
	case "google.protobuf.Int32Value":
		return obj("type", "integer", "minimum", -2147483648.0, "maximum", 2147483647.0)
	}
	return nil
}

// nullable returns a schema that also allows null.
func nullable(one *object) *object {
	if len(one.names) == 0 { // anything, including null
		return one
	}
	kind, ok := one.get("type").(string)
	if !ok || one.get("const") != nil {
		return obj("anyOf", []any{one, obj("type", "null")})
	}
	if some, ok := one.get("anyOf").([]any); ok {
		one.set("anyOf", append(some, obj("type", "null")))
	}
	if enum, ok := one.get("enum").([]any); ok {
		one.set("enum", append(slices.Clone(enum), nil))
	}
	return one.set("type", []any{kind, "null"})
}
