package rest

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// answerJSON encodes responses with protojson, except pages of keys. Their records are
// free JSON, because they may be strings as well. protojson needs reflection and a message
// for each value of free JSON: more than half of the time of a page of a hundred.
type answerJSON struct {
	runtime.JSONPb
	narrower
}

// recordSize is the usual size of a key's record in bytes.
const recordSize = 1 << 10

// Marshal writes a message.
func (a *answerJSON) Marshal(v any) ([]byte, error) {
	if _, ok := v.(streamed); ok {
		return nil, nil
	}
	page, ok := v.(*gatewayv1.ListKeysResponse)
	if !ok {
		text, err := a.JSONPb.Marshal(v)
		if m, is := v.(proto.Message); is && err == nil {
			return a.narrow(text, m.ProtoReflect().Descriptor())
		}
		return text, err
	}
	var out bytes.Buffer
	out.Grow(len(page.GetKeys().GetValues())*recordSize + recordSize)
	e := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true)) // a map's names are not looked at twice
	err := e.WriteToken(jsontext.BeginObject)
	m := page.ProtoReflect()
	fields := m.Descriptor().Fields()
	for i := 0; i < fields.Len() && err == nil; i++ {
		if err = e.WriteToken(jsontext.String(string(fields.Get(i).Name()))); err == nil {
			err = writeFree(e, freeField(fields.Get(i), m.Get(fields.Get(i))))
		}
	}
	if err == nil {
		err = e.WriteToken(jsontext.EndObject)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// writeFree writes free JSON, the names of an object in the order of their bytes.
func writeFree(e *jsontext.Encoder, v *structpb.Value) error {
	switch v := v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return e.WriteToken(jsontext.Bool(v.BoolValue))
	case *structpb.Value_NumberValue:
		return e.WriteToken(jsontext.Float(v.NumberValue))
	case *structpb.Value_StringValue:
		return e.WriteToken(jsontext.String(v.StringValue))
	case *structpb.Value_ListValue:
		err := e.WriteToken(jsontext.BeginArray)
		for _, one := range v.ListValue.GetValues() {
			if err == nil {
				err = writeFree(e, one)
			}
		}
		if err == nil {
			err = e.WriteToken(jsontext.EndArray)
		}
		return err
	case *structpb.Value_StructValue:
		err := e.WriteToken(jsontext.BeginObject)
		for _, name := range slices.Sorted(maps.Keys(v.StructValue.GetFields())) {
			if err == nil {
				err = e.WriteToken(jsontext.String(name))
			}
			if err == nil {
				err = writeFree(e, v.StructValue.GetFields()[name])
			}
		}
		if err == nil {
			err = e.WriteToken(jsontext.EndObject)
		}
		return err
	}
	return e.WriteToken(jsontext.Null)
}

// jsonForm returns how messages are encoded: with the names of the documentation, and with
// fields that are zero.
func jsonForm() protojson.MarshalOptions {
	return protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}
}

// streamed replaces a response that streamJSON has written.
type streamed struct{}

// streamJSON writes a report as JSON, day by day, so that its text is never in memory as a
// whole. It returns false for any other response, and writes nothing.
func streamJSON(w http.ResponseWriter, answer proto.Message) (bool, error) {
	report, ok := answer.(*gatewayv1.DailyActivity)
	if !ok {
		return false, nil
	}
	form := jsonForm()
	text, err := form.Marshal(report.GetMetadata())
	if err != nil {
		return false, err
	}
	before := `{"results":[`
	for _, day := range report.GetResults() {
		one, err := form.Marshal(day)
		if err == nil {
			_, err = w.Write(append([]byte(before), one...))
		}
		if err != nil {
			panic(http.ErrAbortHandler) // so that the caller does not take a part for the whole
		}
		before = ","
	}
	if len(report.GetResults()) > 0 {
		before = ""
	}
	if _, err := fmt.Fprintf(w, `%s],"metadata":%s}`, before, text); err != nil {
		panic(http.ErrAbortHandler)
	}
	return true, nil
}

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
