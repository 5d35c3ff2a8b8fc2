package event

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// Details is the JSON object of an event's details, written member by member. The
// caller adds the members in the order of their names, so the text is canonical
// (RFC 8785). Empty values are left out. The zero Details is empty.
type Details struct{ out []byte }

// ParseDetails returns the details that Object has written.
func ParseDetails(text string) Details {
	if len(text) <= len("{}") {
		return Details{}
	}
	return Details{out: []byte(text[1 : len(text)-1])}
}

// usualSize is the capacity for the details of a request.
const usualSize = 256

// begin adds the name of a member. Its value must follow.
func (d *Details) begin(name string) {
	if d.out == nil {
		d.out = make([]byte, 0, usualSize)
	}
	if len(d.out) > 0 {
		d.out = append(d.out, ',')
	}
	d.out = append(d.out, '"')
	d.out = append(d.out, name...)
	d.out = append(d.out, '"', ':')
}

// Raw adds a member with a value that is JSON.
func (d *Details) Raw(name, value string) {
	d.begin(name)
	d.out = append(d.out, value...)
}

// Text adds a member with a text.
func (d *Details) Text(name, value string) {
	if value != "" {
		d.quoted(name, value)
	}
}

func (d *Details) quoted(name, value string) {
	d.begin(name)
	out, err := jsontext.AppendQuote(d.out, value)
	if err != nil { // not UTF-8, which no record contains; the quoted text has U+FFFD there
		out = strconv.AppendQuote(d.out, "�")
	}
	d.out = out
}

// Integer adds a member with a number.
func (d *Details) Integer(name string, value int64) {
	if value != 0 {
		d.begin(name)
		d.out = strconv.AppendInt(d.out, value, 10)
	}
}

// Amount adds a member with an amount of money in USD, as an exact decimal.
func (d *Details) Amount(name string, value money.Pico) {
	if value != 0 {
		d.Raw(name, value.String())
	}
}

// list adds a member with a list, unless it is empty.
func list[T any](d *Details, name string, items []T) {
	if len(items) == 0 {
		return
	}
	text, err := json.Marshal(items)
	if err != nil { // a text is not UTF-8, which no message contains
		return
	}
	d.Raw(name, string(text))
}

// Object returns the text of the object; empty for one without members.
func (d *Details) Object() string {
	if len(d.out) == 0 {
		return ""
	}
	return "{" + string(d.out) + "}"
}

// Member returns the text of an object with one text, which may be empty.
func Member(name, value string) string {
	d := Details{}
	d.quoted(name, value)
	return d.Object()
}
