package rest

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Free returns a message as free JSON, in the form of jsonForm. Encoding the message and
// reading the text would take three times as long, which pages of records would notice.
func Free(m proto.Message) *structpb.Value {
	switch m := m.(type) {
	case *structpb.Struct:
		return structpb.NewStructValue(m)
	case *structpb.ListValue:
		return structpb.NewListValue(m)
	case *structpb.Value:
		return m
	case *timestamppb.Timestamp:
		return structpb.NewStringValue(timeText(m))
	case *wrapperspb.StringValue:
		return structpb.NewStringValue(m.GetValue())
	case *wrapperspb.DoubleValue:
		return structpb.NewNumberValue(m.GetValue())
	case *wrapperspb.UInt32Value:
		return structpb.NewNumberValue(float64(m.GetValue()))
	}
	r := m.ProtoReflect()
	fields := r.Descriptor().Fields()
	out := &structpb.Struct{Fields: make(map[string]*structpb.Value, fields.Len())}
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.HasOptionalKeyword() && !r.Has(f) {
			continue // it is not set
		}
		out.Fields[string(f.Name())] = freeField(f, r.Get(f))
	}
	return structpb.NewStructValue(out)
}

// timeText returns a time in protobuf's JSON form, with 0, 3, 6 or 9 decimal places.
func timeText(t *timestamppb.Timestamp) string {
	text := t.AsTime().Format("2006-01-02T15:04:05.000000000")
	text = strings.TrimSuffix(strings.TrimSuffix(text, "000"), "000")
	return strings.TrimSuffix(text, ".000") + "Z"
}

// freeField returns the value of a field. Messages of the API have no fields of other
// kinds.
func freeField(f protoreflect.FieldDescriptor, v protoreflect.Value) *structpb.Value {
	switch {
	case f.IsList():
		list := v.List()
		out := &structpb.ListValue{Values: make([]*structpb.Value, list.Len())}
		for i := range out.GetValues() {
			out.Values[i] = freeOne(f, list.Get(i))
		}
		return structpb.NewListValue(out)
	case f.IsMap():
		out := &structpb.Struct{Fields: make(map[string]*structpb.Value, v.Map().Len())}
		v.Map().Range(func(k protoreflect.MapKey, e protoreflect.Value) bool {
			out.Fields[k.String()] = freeOne(f.MapValue(), e)
			return true
		})
		return structpb.NewStructValue(out)
	}
	return freeOne(f, v)
}

func freeOne(f protoreflect.FieldDescriptor, v protoreflect.Value) *structpb.Value {
	switch v := v.Interface().(type) {
	case protoreflect.Message:
		if !v.IsValid() {
			return structpb.NewNullValue()
		}
		return Free(v.Interface())
	case string:
		return structpb.NewStringValue(v)
	case bool:
		return structpb.NewBoolValue(v)
	case float64:
		return structpb.NewNumberValue(v)
	case uint32:
		return structpb.NewNumberValue(float64(v))
	case int32:
		return structpb.NewNumberValue(float64(v))
	}
	panic("mgmt: no answer has a field of the kind " + f.Kind().String())
}
