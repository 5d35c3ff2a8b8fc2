package rest

import (
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// sameText reports whether a member of a body has the value of a path or a query.
func sameText(v jsontext.Value, text string) bool {
	if v.Kind() != '"' {
		return string(v) == text
	}
	var s string
	return json.Unmarshal(v, &s) == nil && s == text
}

// sameQuery rejects a query next to a body: it would be ignored. A parameter that repeats
// the body's value is accepted.
func sameQuery(raw string, members map[string]jsontext.Value) error {
	values, err := ParseQuery(raw)
	if err != nil {
		return err
	}
	for _, name := range field.SortedNames(values) {
		param := field.ShortName(name)
		v, given := members[name]
		switch {
		case !given:
			return fault.Field(param, "unknown_parameter", "This operation has its parameters in the body. Send %s there.", param)
		case len(values[name]) != 1 || !sameText(v, values[name][0]):
			return fault.Field(param, "invalid_value", "%s is in the body, too, with another value. Leave it out of the query.", param)
		}
	}
	return nil
}

// ParseQuery reads a query.
func ParseQuery(raw string) (url.Values, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Malformed, Code: "invalid_parameter", Detail: "The query cannot be read. Percent-encode its names and values.", Err: err}
	}
	return values, nil
}

// ReadQuery reads a query whose parameters are those of a message.
func ReadQuery(raw string, in proto.Message) error {
	if err := CheckQuery(raw, in.ProtoReflect().Descriptor().Fields(), nil); err != nil {
		return err
	}
	values, err := ParseQuery(raw)
	if err != nil {
		return err
	}
	return unreadable(runtime.PopulateQueryParameters(in, values, utilities.NewDoubleArray(nil)))
}

// CheckQuery checks a query against a message. A parameter that the message does not have
// is rejected: without an unknown filter the response would show too much.
func CheckQuery(raw string, fields protoreflect.FieldDescriptors, path map[string]string) error {
	values, err := ParseQuery(raw)
	if err != nil {
		return err
	}
	for _, name := range field.SortedNames(values) {
		param, given := field.ShortName(name), values[name]
		f := fields.ByName(protoreflect.Name(name))
		switch in, inPath := path[name]; {
		case f == nil:
			return fault.Field(param, "unknown_parameter", "There is no parameter %s here. Remove it, or correct its name.", param)
		case inPath && (len(given) != 1 || given[0] != in):
			return fault.Field(param, "invalid_value", "%s is in the path, too, with another value. Leave it out of the query.", param)
		case len(given) > 1 && !f.IsList():
			return fault.Field(param, "invalid_value", "The parameter %s is given more than once.", param)
		}
		for _, text := range given {
			if err := conformText(param, text, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// conformText checks one value of a query.
func conformText(param, text string, f protoreflect.FieldDescriptor) error {
	var err error
	want := ""
	switch kind := f.Kind(); {
	case kind == protoreflect.StringKind:
		return nil
	case kind == protoreflect.EnumKind:
		return conformEnum(param, text, f.Enum())
	case kind == protoreflect.BoolKind:
		_, err = strconv.ParseBool(text)
		want = "true or false"
	case kind == protoreflect.Int32Kind:
		_, err = strconv.ParseInt(text, 10, 32)
		want = "a whole number of at most 2147483647"
	case kind == protoreflect.Uint32Kind:
		_, err = strconv.ParseUint(text, 10, 32)
		want = "a whole number from 0 to 4294967295"
	case kind == protoreflect.DoubleKind:
		if n, bad := strconv.ParseFloat(text, 64); bad != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			err = strconv.ErrSyntax
		}
		want = "a number"
	case f.Message() != nil && f.Message().FullName() == "google.protobuf.Timestamp":
		_, err = time.Parse(time.RFC3339Nano, text)
		want = "an instant in RFC 3339, such as 2026-06-29T10:00:00Z"
	default:
		return fault.Field(param, "unknown_parameter", "%s cannot be given in a query.", param)
	}
	if err != nil {
		return field.WrongType(param, want)
	}
	return nil
}
