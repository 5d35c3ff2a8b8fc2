package splice

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// malformed reports the position of invalid JSON. It does not quote the content.
func (s *scanner) malformed(failure int) error {
	i := -1 - failure
	switch {
	case s.deep:
		return fault.New(fault.Malformed, "invalid_json", "The request body is nested more than %d levels deep, at byte %d. Flatten it.", maxDepth, i)
	case i >= len(s.b):
		return fault.New(fault.Malformed, "invalid_json", "The request body is not valid JSON: it ends too early, at byte %d.", len(s.b))
	}
	return fault.New(fault.Malformed, "invalid_json", "The request body is not valid JSON at byte %d.", i)
}

// notObject rejects a body that does not begin with a brace, without checking the rest.
func notObject(body []byte, i int) error {
	if i == 0 && len(body) >= 3 && string(body[:3]) == bom {
		return fault.New(fault.Malformed, "invalid_json", "The request body begins with a byte order mark, at byte 0. Send UTF-8 without one.")
	}
	return fault.New(fault.Malformed, "invalid_json", "The request body must be a JSON object; it is not at byte %d.", i)
}

func tooMany(what string, most int) *violation {
	return &violation{err: fault.New(fault.Malformed, "too_many_fields", "The request has too many %s; at most %d are allowed.", what, most), stop: true}
}

// shown returns a member's name for an error message: truncated, and without bytes that could
// break a log line.
func shown(name []byte) string {
	return strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, string(name[:min(len(name), longest)])), "?")
}

func duplicate(name []byte) error {
	n := shown(name)
	return fault.Field(n, "duplicate_parameter", "The field %q occurs twice. Send it once.", n)
}

func ambiguous(name []byte) error {
	n := shown(name)
	return fault.Field(n, "duplicate_parameter", "The field %q differs only in letter case from one that the gateway knows. Write it in lower case.", n)
}

func unsupported(name []byte) error {
	n := shown(name)
	return fault.Field(n, "unsupported_parameter", "The field %q is not accepted here: where and how a request is sent is set up in the gateway. Remove it.", n)
}

func wrongType(f Field, want string) error {
	return fault.Field(f.String(), "invalid_type", "The field %q must be %s.", f.String(), want)
}

func wrongValue(f Field, want string) error {
	return fault.Field(f.String(), "invalid_value", "The field %q must be %s.", f.String(), want)
}

func missing(f Field) error {
	return fault.Field(f.String(), "missing_required_parameter", "The field %q is missing. It must be %s.", f.String(), required(f))
}

func required(f Field) string {
	switch f { //nolint:exhaustive // no other field is required
	case Messages:
		return "an array with at least one message"
	case Model:
		return "the name of a model"
	}
	return "a text, or an array with at least one element"
}
