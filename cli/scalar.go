package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// one reads one value of a kind.
func (v *value) one(text string, f protoreflect.FieldDescriptor) (any, error) {
	text, err := v.read(text)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", v.field.flag, err)
	}
	switch f.Kind() { //nolint:exhaustive // all others are numbers
	case protoreflect.StringKind:
		return text, nil
	case protoreflect.MessageKind:
		return v.document(text, f)
	case protoreflect.BoolKind:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("--%s is true or false, not %q", v.field.flag, text)
		}
		return b, nil
	}
	n := jsontext.Value(text)
	if !n.IsValid() || n.Kind() != '0' {
		return nil, fmt.Errorf("--%s is a number, not %q", v.field.flag, text)
	}
	return n, nil // the digits as they are: money is exact
}

// document reads JSON. What may be any value may also be a text without quotes.
func (v *value) document(text string, f protoreflect.FieldDescriptor) (any, error) {
	var out any
	err := json.Unmarshal([]byte(text), &out)
	switch {
	case err == nil:
		if list, ok := out.([]any); ok && !anyJSON(f) {
			return list, nil
		}
		return jsontext.Value(text), nil
	case anyJSON(f):
		return text, nil
	}
	return nil, fmt.Errorf("--%s takes JSON, or @file with it: %w", v.field.flag, errors.Unwrap(err))
}
