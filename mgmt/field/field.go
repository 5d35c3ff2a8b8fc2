package field

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Headers of requests and responses. Errors use these names, too.
const (
	HeaderIfMatch     = "If-Match"
	HeaderIfNoneMatch = "If-None-Match"
	HeaderIdempotency = "Idempotency-Key"
	HeaderETag        = "ETag"
)

// Fields that have a meaning in every message.
const (
	Revision   = "revision"    // of the last change of a record
	IfRevision = "if_revision" // the revision that a record must have
	Clear      = "clear"       // names of fields to clear
)

// ClearList returns the field clear of a message, nil if it has none.
func ClearList(m protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	f := m.Fields().ByName(Clear)
	if f == nil || !f.IsList() || f.Kind() != protoreflect.StringKind {
		return nil
	}
	return f
}

// IsFree reports whether a message is free JSON, a timestamp, or a value that may be
// null. Callers do not see fields of such a message.
func IsFree(m protoreflect.MessageDescriptor) bool {
	return m.ParentFile().Package() == "google.protobuf" || IsJSON(m)
}

// IsJSON reports whether a message is any JSON value, with the order of its members.
func IsJSON(m protoreflect.MessageDescriptor) bool { return m.FullName() == "gateway.v1.Json" }

// Messages yields the messages in the fields of a message, with their paths below at.
// It leaves out maps.
func Messages(at string, m protoreflect.Message) iter.Seq2[string, protoreflect.Message] {
	return func(yield func(string, protoreflect.Message) bool) {
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			path := at + string(f.Name())
			switch {
			case f.IsMap() || f.Message() == nil:
			case f.IsList():
				for i := range v.List().Len() {
					if !yield(path+"["+strconv.Itoa(i)+"]", v.List().Get(i).Message()) {
						return false
					}
				}
			default:
				return yield(path, v.Message())
			}
			return true
		})
	}
}

// SortedNames returns the names of a map in order, so that the same request always gets
// the same response.
func SortedNames[V any](members map[string]V) []string { return slices.Sorted(maps.Keys(members)) }

// At returns the path of an item of a list.
func At(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// ShortName returns a name from a request, cut to what an error may repeat of it.
func ShortName(name string) string {
	const most = 64
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}

// WrongType returns the error for a value of another type.
func WrongType(param, want string) error {
	return fault.Field(param, "invalid_type", "%s must be %s.", param, want)
}

// Unknown returns the error for a field that the message does not have.
func Unknown(param string) error {
	return fault.Field(param, "unknown_field", "There is no field %s here. Remove it, or correct its name.", param)
}

// Named returns a fault whose param is the field of the request that it is about.
func Named(param string, err error) error {
	e := *fault.From(err)
	e.Param = param
	return &e
}

// Within returns a fault whose param is below another field of the request.
func Within(list string, err error) error {
	e := *fault.From(err)
	e.Param = strings.TrimSuffix(list+"."+e.Param, ".")
	return &e
}

// largestWhole is the number up to which a double holds every whole number.
const largestWhole = 1 << 53

// Whole reads a whole number that is not negative.
func Whole(param string, v float64) (int64, error) {
	if v < 0 || v > largestWhole || v != math.Trunc(v) {
		return 0, fault.Field(param, "invalid_value", "%s must be a whole number, and not negative.", param)
	}
	return int64(v), nil
}

// maxSeconds bounds durations, so that they do not overflow.
const maxSeconds = 1e9

// Seconds reads a time in seconds, to the nanosecond.
func Seconds(param string, v float64) (time.Duration, error) {
	if v < 0 || v > maxSeconds {
		return 0, fault.Field(param, "invalid_value", "%s must be a number of seconds, not negative and at most %.0f.", param, maxSeconds)
	}
	return time.Duration(math.Round(v * float64(time.Second))), nil
}
