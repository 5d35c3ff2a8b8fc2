package deepgram

import (
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// query is the options of a request, in order.
type query struct{ text strings.Builder }

// add adds an option.
func (q *query) add(name, value string) {
	mark := byte('&')
	if q.text.Len() == 0 {
		mark = '?'
	}
	q.text.WriteByte(mark)
	q.text.WriteString(url.QueryEscape(name) + "=" + url.QueryEscape(value))
}

// members adds members of a request as options; those of a list several times. It rejects options with which Deepgram would
// send its response to somebody else.
func (q *query) members(o *splice.Object, except ...string) error {
	for name, raw := range o.All() {
		value := jsontext.Value(raw)
		if value.Kind() == 'n' || slices.Contains(except, name) {
			continue
		}
		if strings.HasPrefix(name, "callback") {
			return fault.Field(name, driver.CodeUnsupported, "%s is not supported here: read the result from the response.", name)
		}
		for _, one := range driver.Elements(value) {
			text := string(one)
			k := one.Kind()
			if k == '"' && json.Unmarshal(one, &text) != nil || k != '"' && k != '0' && k != 't' && k != 'f' {
				return invalid(name)
			}
			q.add(name, text)
		}
	}
	return nil
}

// invalid is the error for a value that cannot be in a query.
func invalid(name string) error {
	return fault.Field(name, "invalid_type", "%s must be a text, a number, true, false or a list of these: it is an option in %s's query.", name, vendor)
}
