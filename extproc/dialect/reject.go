package dialect

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Codes of rejected requests.
const (
	CodeJSON    = "invalid_json"
	CodeType    = "invalid_type"
	CodeValue   = "invalid_value"
	CodeMissing = "missing_required_parameter"
	CodeTwice   = "duplicate_parameter"
	CodeMany    = "too_many_fields"
)

// longestParam bounds how much of a caller's own member names an error repeats.
const longestParam = 200

// Reject converts an error of the JSON package to one for the caller. prefix is
// the path of the value that was being read, empty for the whole body.
func Reject(err error, prefix string) *fault.Error {
	if own, ok := errors.AsType[*fault.Error](err); ok {
		return own
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		param := join(prefix, Path(semantic.JSONPointer))
		if param == "" {
			return fault.New(fault.Malformed, CodeJSON, "The body must be a JSON object.")
		}
		return fault.Field(param, CodeType, "%s must be %s.", param, expected(semantic.GoType))
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			param := join(prefix, Path(syntactic.JSONPointer))
			return fault.Field(param, CodeTwice, "%s appears more than once; send it once.", param)
		}
		return fault.New(fault.Malformed, CodeJSON, "The body is not valid JSON at byte %d.", syntactic.ByteOffset)
	}
	return fault.New(fault.Malformed, CodeJSON, "The body is not valid JSON.")
}

// Path writes a JSON pointer the way that OpenAI names fields: messages[2].content.
func Path(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if token != "" && strings.Trim(token, "0123456789") == "" {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
		if b.Len() > longestParam {
			return strings.ToValidUTF8(b.String()[:longestParam], "") + "…"
		}
	}
	return b.String()
}

// join puts two paths together.
func join(outer, inner string) string {
	switch {
	case outer == "" || inner == "" || strings.HasPrefix(inner, "["):
		return outer + inner
	}
	return outer + "." + inner
}

// expected names in JSON's words what a Go type is read from.
func expected(t reflect.Type) string {
	if t == nil {
		return "of another type"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() { //nolint:exhaustive // only the kinds that requests are read into
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "of another type"
	}
}

// Present returns a raw member, nil if it is absent or null.
func Present(v jsontext.Value) jsontext.Value {
	if len(v) == 0 || v.Kind() == 'n' {
		return nil
	}
	return v
}
