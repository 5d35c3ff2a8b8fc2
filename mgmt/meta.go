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
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// maxMetadata bounds the free object that is kept with a record.
const maxMetadata = 64 << 10

// showMeta sets who made a record and who changed it last, where the message has
// fields for that. What stands in the configuration file has no such facts.
func showMeta(m proto.Message, meta record.Meta) {
	setTime(m, "created_at", meta.CreatedAt)
	setField(m, "created_by", protoreflect.ValueOfString(meta.CreatedBy))
	setTime(m, "updated_at", meta.UpdatedAt)
	setField(m, "updated_by", protoreflect.ValueOfString(meta.UpdatedBy))
	setField(m, field.Revision, protoreflect.ValueOfFloat64(float64(meta.Revision)))
}

// setField sets a field where the message has it.
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

// metadataText is the free object of a request as records keep it: its text, the
// same for the same object, and empty for none.
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

// showMetadata is the reverse of metadataText. It is never nil: a record without
// metadata shows an empty object.
func showMetadata(text string) *structpb.Struct {
	out := &structpb.Struct{}
	if text == "" || protojson.Unmarshal([]byte(text), out) != nil { // what metadataText wrote can be read
		return &structpb.Struct{}
	}
	return out
}

// cleared is the set of the fields that a request clears. What is not among those
// allowed must have a value.
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

// textOrNull is a text of an answer, null where it is empty.
func textOrNull(s string) *wrapperspb.StringValue {
	if s == "" {
		return nil
	}
	return wrapperspb.String(s)
}

// countOrNull is a number of an answer, null where there is none.
func countOrNull(n *uint32) *wrapperspb.UInt32Value {
	if n == nil {
		return nil
	}
	return wrapperspb.UInt32(*n)
}
