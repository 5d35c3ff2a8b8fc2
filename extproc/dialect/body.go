package dialect

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Bounds on a request. They keep the cost of a hostile body in proportion to its size.
const (
	mostExtra    = 1_000
	longestModel = 256
)

// CheckModel rejects a name that no model can have.
func CheckModel(name string) error {
	switch {
	case name == "":
		return fault.Field("model", CodeMissing, "model is missing; name the model to use.")
	case len(name) > longestModel || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fault.Field("model", CodeValue, "model must be at most %d bytes without control characters.", longestModel)
	}
	return nil
}

// Extra lists the members of object, which are those that a Dialect does not
// know; nil for no object. Another spelling of a decisive member is rejected:
// some parsers fold case, and a provider that read Model where the gateway
// authorised model would bypass the rules.
func Extra(object jsontext.Value, decisive func(name string) bool) ([]wire.Field, error) {
	if object == nil {
		return nil, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := dec.ReadToken(); err != nil {
		return nil, Reject(err, "")
	}
	var out []wire.Field
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, Reject(err, "")
		}
		f := wire.Field{Name: name.String()}
		if lower := strings.ToLower(f.Name); lower != f.Name && decisive(lower) {
			return nil, fault.Field(lower, CodeTwice, "Names are case-sensitive: write %s in lower case.", lower)
		}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, Reject(err, "")
		}
		f.Value = value.Clone()
		if out = append(out, f); len(out) > mostExtra {
			return nil, fault.New(fault.Malformed, CodeMany, "The request has more than %d unknown members.", mostExtra)
		}
	}
	return out, nil
}
