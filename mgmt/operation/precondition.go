package operation

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// precondition reads the header If-Match into the field if_revision, which says the
// same. The star, any revision, is what there is without it. A change that cannot
// be made conditional is not made with a condition.
func precondition(op *Operation, headers []string, in proto.Message) error {
	if len(headers) == 0 || !op.Effect.Changes() {
		return nil
	}
	if len(headers) > 1 {
		return fault.Field(field.HeaderIfMatch, "invalid_value", "The header If-Match is given more than once.")
	}
	tag := strings.TrimSpace(headers[0])
	if tag == "*" {
		return nil
	}
	f := in.ProtoReflect().Descriptor().Fields().ByName(field.IfRevision)
	if f == nil {
		return fault.Field(field.HeaderIfMatch, "unsupported_parameter", "This operation changes nothing that has one revision. Leave the header If-Match out.")
	}
	text, ok := strings.CutPrefix(strings.TrimPrefix(tag, "W/"), `"`)
	text, closed := strings.CutSuffix(text, `"`)
	revision, err := strconv.ParseUint(text, 10, 53)
	if !ok || !closed || err != nil || revision == 0 {
		return fault.Field(field.HeaderIfMatch, "invalid_value", `The header If-Match must be one revision in quotes, such as "42", as the header ETag of an answer has it.`)
	}
	m := in.ProtoReflect()
	if m.Has(f) && m.Get(f).Float() != float64(revision) {
		return fault.Field(field.HeaderIfMatch, "invalid_value", "The header If-Match and the field if_revision differ. Send one of them.")
	}
	m.Set(f, protoreflect.ValueOfFloat64(float64(revision)))
	return nil
}

// etag is the header ETag of an answer that is one record: its revision. It is
// empty for any other, and for a record that has none.
func etag(m protoreflect.Message) string {
	if f := revisionField(m.Descriptor()); f != nil {
		if r := m.Get(f).Float(); r > 0 {
			return `"` + strconv.FormatUint(uint64(r), 10) + `"`
		}
		return ""
	}
	var record protoreflect.FieldDescriptor // the one beside which there are only facts about it
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Cardinality() == protoreflect.Repeated || f.Message() == nil || revisionField(f.Message()) == nil {
			continue
		}
		if record != nil {
			return ""
		}
		record = f
	}
	if record == nil || !m.Has(record) {
		return ""
	}
	return etag(m.Get(record).Message())
}

// revisionField is the field revision of a message, nil if it has none.
func revisionField(m protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	f := m.Fields().ByName(field.Revision)
	if f == nil || f.Kind() != protoreflect.DoubleKind || f.Cardinality() == protoreflect.Repeated {
		return nil
	}
	return f
}

// setRevision gives every record of an answer that has none yet the revision of
// the change that wrote it.
func setRevision(m protoreflect.Message, revision uint64) {
	if f := revisionField(m.Descriptor()); f != nil && m.Get(f).Float() == 0 {
		m.Set(f, protoreflect.ValueOfFloat64(float64(revision)))
	}
	for _, one := range field.Messages("", m) {
		setRevision(one, revision)
	}
}
