package mgmt

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// patch replaces values of a record by the fields of a request. A field that the message does
// not have changes nothing. It keeps the first error.
type patch struct {
	m      protoreflect.Message
	clears []string
	err    error
}

// patchOf reads a request that clears some fields. A field that is not among those that
// may be cleared is an error.
func patchOf(m proto.Message, clears []string, clearable ...string) *patch {
	p := &patch{m: m.ProtoReflect(), clears: clears}
	_, p.err = cleared(clears, clearable...)
	return p
}

// given returns the field of a name if the request sets it, and whether the request clears it.
func (p *patch) given(name protoreflect.Name) (f protoreflect.FieldDescriptor, clears bool) {
	f = p.m.Descriptor().Fields().ByName(name)
	if f == nil || !p.m.Has(f) {
		return nil, slices.Contains(p.clears, string(name))
	}
	return f, false
}

func (p *patch) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// read returns the value of a field in the request, the zero value if the request clears the
// field, or else the value of the record.
func read[T any](p *patch, name protoreflect.Name, old T, value func(v protoreflect.Value) T) T {
	f, clears := p.given(name)
	switch {
	case clears:
		var none T
		return none
	case f == nil:
		return old
	}
	return value(p.m.Get(f))
}

func (p *patch) text(name protoreflect.Name, old string) string {
	return read(p, name, old, protoreflect.Value.String)
}

func (p *patch) blocked(old bool) bool {
	return read(p, "blocked", old, protoreflect.Value.Bool)
}

func (p *patch) count(name protoreflect.Name, old *uint32) *uint32 {
	return read(p, name, old, func(v protoreflect.Value) *uint32 { return new(uint32(v.Uint())) })
}

func (p *patch) amount(name protoreflect.Name, old *money.Pico) *money.Pico {
	return read(p, name, old, func(v protoreflect.Value) *money.Pico {
		amount, err := dollars(string(name), v.Float())
		p.fail(err)
		return &amount
	})
}

func (p *patch) list(name protoreflect.Name, old []string) []string {
	return read(p, name, old, func(v protoreflect.Value) []string {
		out := make([]string, v.List().Len())
		for i := range out {
			out[i] = v.List().Get(i).String()
		}
		return out
	})
}

func (p *patch) pairs(name protoreflect.Name, old map[string]string) map[string]string {
	return read(p, name, old, func(v protoreflect.Value) map[string]string {
		out := map[string]string{}
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			out[k.String()] = v.String()
			return true
		})
		return out
	})
}

// metadata reads the free JSON object of a record as text.
func (p *patch) metadata(old string) string {
	return read(p, "metadata", old, func(v protoreflect.Value) string {
		given, _ := v.Message().Interface().(*structpb.Struct)
		text, err := metadataText(given)
		p.fail(err)
		return text
	})
}

// maxMetadata bounds the metadata of a record, in bytes.
const maxMetadata = 64 << 10

// showMeta sets the authors and times of a record's creation and last change, if the message
// has the fields. Records of the configuration file have none.
func showMeta(m proto.Message, meta record.Meta) {
	setTime(m, "created_at", meta.CreatedAt)
	setField(m, "created_by", protoreflect.ValueOfString(meta.CreatedBy))
	setTime(m, "updated_at", meta.UpdatedAt)
	setField(m, "updated_by", protoreflect.ValueOfString(meta.UpdatedBy))
	setField(m, field.Revision, protoreflect.ValueOfFloat64(float64(meta.Revision)))
}

// setField sets a field if the message has it.
func setField(m proto.Message, name protoreflect.Name, v protoreflect.Value) {
	r := m.ProtoReflect()
	if f := r.Descriptor().Fields().ByName(name); f != nil {
		r.Set(f, v)
	}
}

func setTime(m proto.Message, name protoreflect.Name, t time.Time) {
	if !t.IsZero() {
		setField(m, name, protoreflect.ValueOfMessage(timestamppb.New(t).ProtoReflect()))
	}
}

// metadataText returns the free object of a request in the form of records: a text that is the
// same for equal objects, and empty for none.
func metadataText(m *structpb.Struct) (string, error) {
	if len(m.GetFields()) == 0 {
		return "", nil
	}
	text, err := json.Marshal(m.AsMap(), json.Deterministic(true))
	switch {
	case err != nil:
		return "", fault.Field("metadata", "invalid_value", "metadata holds a value that JSON cannot write.")
	case len(text) > maxMetadata:
		return "", fault.Field("metadata", "too_long", "metadata is larger than %d bytes; keep large things elsewhere.", maxMetadata)
	}
	return string(text), nil
}

// showMetadata is the reverse of metadataText. It never returns nil: a record without metadata
// shows an empty object.
func showMetadata(text string) *structpb.Struct {
	out := &structpb.Struct{}
	if text == "" || protojson.Unmarshal([]byte(text), out) != nil { // what metadataText wrote can be read
		return &structpb.Struct{}
	}
	return out
}

// cleared returns the fields that a request clears. A field that is not among the allowed ones
// must have a value.
func cleared(names []string, allowed ...string) (map[string]bool, error) {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		if !slices.Contains(allowed, name) {
			return nil, fault.Field(field.ShortName(name), "invalid_value", "%s cannot be cleared. Give it a value, or leave it out to keep the one that it has.", field.ShortName(name))
		}
		out[name] = true
	}
	return out, nil
}

// textOrNull returns a text in the form of the API; null for an empty one.
func textOrNull(s string) *wrapperspb.StringValue {
	if s == "" {
		return nil
	}
	return wrapperspb.String(s)
}

// countOrNull returns a number in the form of the API; null for none.
func countOrNull(n *uint32) *wrapperspb.UInt32Value {
	if n == nil {
		return nil
	}
	return wrapperspb.UInt32(*n)
}
