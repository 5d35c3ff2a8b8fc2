package operation

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// precondition copies the header If-Match to the field if_revision, which means the same.
// A star means any revision, as no header does. An operation without that field rejects
// the header.
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

// etag returns the header ETag of a response that is one record: its revision. It is
// empty for other responses, and for a record without a revision.
func etag(m protoreflect.Message) string {
	if f := revisionField(m.Descriptor()); f != nil {
		if r := m.Get(f).Float(); r > 0 {
			return `"` + strconv.FormatUint(uint64(r), 10) + `"`
		}
		return ""
	}
	var record protoreflect.FieldDescriptor // the only record of the response
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

// revisionField returns the field revision of a message, nil if it has none.
func revisionField(m protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	f := m.Fields().ByName(field.Revision)
	if f == nil || f.Kind() != protoreflect.DoubleKind || f.Cardinality() == protoreflect.Repeated {
		return nil
	}
	return f
}

// setRevision sets the revision of a change in every record of a response that has none
// yet.
func setRevision(m protoreflect.Message, revision uint64) {
	if f := revisionField(m.Descriptor()); f != nil && m.Get(f).Float() == 0 {
		m.Set(f, protoreflect.ValueOfFloat64(float64(revision)))
	}
	for _, one := range field.Messages("", m) {
		setRevision(one, revision)
	}
}
