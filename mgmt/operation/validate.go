package operation

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/field"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// maxProblems bounds how many problems of a request one response lists.
const maxProblems = 100

// Validate checks a request by the rules next to its fields.
func (o *Table) Validate(in proto.Message) error {
	if err := checkDepth("", in.ProtoReflect()); err != nil {
		return err
	}
	err := o.Rules.Validate(in)
	var invalid *protovalidate.ValidationError
	switch {
	case errors.As(err, &invalid):
		return broken(invalid.Violations)
	case err != nil:
		return err
	}
	return checkClears("", in.ProtoReflect())
}

// broken returns one error for all broken rules.
func broken(violations []*protovalidate.Violation) error {
	all := make([]error, 0, len(violations))
	for _, v := range violations[:min(len(violations), maxProblems)] {
		param := fieldPath(v.Proto.GetField())
		all = append(all, fault.Field(param, ruleCode(v.Proto.GetRuleId()), "%s: %s.", param, v.Proto.GetMessage()))
	}
	return field.Join(errors.Join(all...))
}

// fieldPath returns a path as errors show it: models[0], aliases.fast.
func fieldPath(p *validate.FieldPath) string {
	var b strings.Builder
	for _, e := range p.GetElements() {
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(e.GetFieldName())
		switch { // of maps there are those by text only
		case e.HasIndex():
			b.WriteString("[" + strconv.FormatUint(e.GetIndex(), 10) + "]")
		case e.HasStringKey():
			b.WriteString("." + field.ShortName(e.GetStringKey()))
		}
	}
	return b.String()
}

// ruleCode returns the code of the error for a broken rule.
func ruleCode(rule string) string {
	switch _, name, _ := strings.Cut(rule, "."); {
	case rule == "required" || strings.HasSuffix(rule, ".required"):
		return "missing_required_parameter"
	case name == "max_len", name == "max_bytes", name == "max_items", name == "max_pairs":
		return "too_long"
	}
	return "invalid_value"
}

// checkClears checks the names of fields to clear, in a message and in the messages in
// it. Such a field must exist, and the request must not set it as well.
func checkClears(at string, m protoreflect.Message) error {
	if f := field.ClearList(m.Descriptor()); f != nil {
		names := m.Get(f).List()
		for i := range names.Len() {
			if err := checkClear(at+field.Clear+"["+strconv.Itoa(i)+"]", names.Get(i).String(), m); err != nil {
				return err
			}
		}
	}
	for path, one := range field.Messages(at, m) {
		if field.IsFree(one.Descriptor()) {
			continue
		}
		if err := checkClears(path+".", one); err != nil {
			return err
		}
	}
	return nil
}

// checkClear checks one name, such as gateway_params.rpm.
func checkClear(param, name string, m protoreflect.Message) error {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		f := m.Descriptor().Fields().ByName(protoreflect.Name(part))
		last := i == len(parts)-1
		switch {
		case f == nil, i == 0 && (part == field.Clear || part == field.IfRevision),
			!last && (f.IsList() || f.IsMap() || f.Message() == nil || field.IsFree(f.Message())):
			return fault.Field(param, "unknown_field", "There is no field %s to clear. Correct its name.", field.ShortName(name))
		case last && m.Has(f):
			return fault.Field(param, "invalid_value", "%s is to be cleared and is given, too. Do one of both.", field.ShortName(name))
		case !last:
			m = m.Get(f).Message() // an empty one, where it is not given
		}
	}
	return nil
}

// maxDepth bounds how deep free JSON nests in a request. Such JSON is kept, and each
// response that shows it needs a stack frame and a buffer per level.
const maxDepth = 32

// checkDepth rejects a request with a field of free JSON that nests deeper than
// maxDepth. No request has such JSON in a map.
func checkDepth(at string, m protoreflect.Message) error {
	for param, one := range field.Messages(at, m) {
		var err error
		switch v := one.Interface().(type) {
		case *gatewayv1.Json:
			err = checkJSON(param, v)
		case *structpb.Struct, *structpb.ListValue, *structpb.Value:
			if !shallow(v, maxDepth) {
				err = fault.Field(param, "too_deep", "%s nests deeper than %d levels of objects and lists. Flatten it, or keep it elsewhere.", param, maxDepth)
			}
		default:
			err = checkDepth(param+".", one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkJSON rejects ordered JSON that is not valid, which REST never has, or that nests too
// deep.
func checkJSON(param string, v *gatewayv1.Json) error {
	d := jsontext.NewDecoder(strings.NewReader(v.GetText()))
	for {
		_, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fault.Field(param, "invalid_json", "%s is not valid JSON, or has two members of one name.", param)
		case d.StackDepth() > maxDepth:
			return fault.Field(param, "too_deep", "%s nests deeper than %d levels of objects and lists. Flatten it, or keep it elsewhere.", param, maxDepth)
		}
	}
}

// shallow reports whether JSON nests at most n levels deep.
func shallow(v proto.Message, n int) bool {
	switch v := v.(type) {
	case *structpb.Struct:
		for _, one := range v.GetFields() {
			if n == 0 || !shallow(one, n-1) {
				return false
			}
		}
		return n > 0
	case *structpb.ListValue:
		for _, one := range v.GetValues() {
			if n == 0 || !shallow(one, n-1) {
				return false
			}
		}
		return n > 0
	case *structpb.Value:
		switch kind := v.GetKind().(type) {
		case *structpb.Value_StructValue:
			return shallow(kind.StructValue, n)
		case *structpb.Value_ListValue:
			return shallow(kind.ListValue, n)
		}
	}
	return true
}
