package values

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Bounds of what is decoded.
const (
	maxValues   = 1 << 20 // bytes of the JSON
	maxLevels   = 100     // lists and objects within others
	maxDecoded  = 2 << 20 // bytes that the values take
	maxIntegers = 1000    // digits of an integer
)

// Members are the members of a JSON object. They are immutable.
type Members struct {
	names  []string
	values []Value
	index  map[string]int // nil for few members
}

// Get returns the value of a member.
func (m *Members) Get(name string) (Value, bool) {
	if m.index != nil {
		i, ok := m.index[name]
		if !ok {
			return nil, false
		}
		return m.values[i], true
	}
	for i, n := range m.names {
		if n == name {
			return m.values[i], true
		}
	}
	return nil, false
}

// Decode reads the members of a JSON object. The error is a *fault.Error with code
// invalid_prompt_variables, without a Param.
func Decode(object []byte) (*Members, error) {
	if len(object) > maxValues {
		return nil, invalidValues("The variables have more than %d bytes. Send shorter ones.", maxValues)
	}
	v := jsontext.Value(object)
	if v.Kind() != '{' {
		return nil, invalidValues("The variables are no JSON object. Send an object with a member for each variable.")
	}
	if !v.IsValid() {
		return nil, invalidJSON(v)
	}
	d := &decoder{in: string(object), bytes: WordBytes}
	d.space()
	const few = 8
	out := &Members{names: make([]string, 0, few), values: make([]Value, 0, few)}
	err := d.object(0, func(key string, v Value) {
		out.names, out.values = append(out.names, key), append(out.values, v)
	})
	if _, ok := errors.AsType[*fault.Error](err); err != nil && !ok {
		err = invalidJSON(v)
	}
	if err != nil {
		return nil, err
	}
	if len(out.names) > fewEntries {
		out.index = make(map[string]int, len(out.names))
		for i, name := range out.names {
			out.index[name] = i
		}
	}
	return out, nil
}

func invalidValues(format string, args ...any) error {
	return fault.Field("", "invalid_prompt_variables", format, args...)
}

// invalidJSON says what is wrong with an object that is not valid.
func invalidJSON(object []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(object))
	if _, err := d.ReadValue(); err == nil {
		return invalidValues("There is something after the object of variables.")
	}
	return invalidValues("The variables are no valid JSON: each member needs a name of its own, and text has to be UTF-8.")
}

// decoder reads valid JSON. Texts without escapes are parts of it.
type decoder struct {
	in    string
	at    int
	bytes int
}

func (d *decoder) grow(n int) error {
	if d.bytes += n; d.bytes > maxDecoded {
		return invalidValues("The variables take more than %d bytes of memory. Send fewer members and elements.", maxDecoded)
	}
	return nil
}

// space goes to the next character that is no white space.
func (d *decoder) space() {
	for d.at < len(d.in) && strings.IndexByte(" \t\r\n", d.in[d.at]) >= 0 {
		d.at++
	}
}

// more goes to the next member or element of what ends with end. It is false if there is none,
// and goes beyond the end then.
func (d *decoder) more(end byte) bool {
	d.space()
	if d.in[d.at] == ',' {
		d.at++
		d.space()
	}
	if d.in[d.at] == end {
		d.at++
		return false
	}
	return true
}

func (d *decoder) value(depth int) (Value, error) {
	if depth > maxLevels {
		return nil, invalidValues("The variables are nested more than %d deep.", maxLevels)
	}
	if err := d.grow(WordBytes); err != nil {
		return nil, err
	}
	switch d.in[d.at] {
	case 'n':
		d.at += len("null")
		return nil, nil
	case 't':
		d.at += len("true")
		return true, nil
	case 'f':
		d.at += len("false")
		return false, nil
	case '"':
		s, err := d.text()
		if err != nil {
			return nil, err
		}
		return s, d.grow(len(s) + WordBytes)
	case '[':
		return d.list(depth)
	case '{':
		out := &Dict{}
		return out, d.object(depth, func(key string, v Value) { out.put(key, key, v) })
	}
	start := d.at
	for d.at < len(d.in) && strings.IndexByte("+-.0123456789eE", d.in[d.at]) >= 0 {
		d.at++
	}
	return number(d.in[start:d.at])
}

// text reads a text.
func (d *decoder) text() (string, error) {
	start := d.at
	escaped := false
	for d.at++; d.in[d.at] != '"'; d.at++ {
		if d.in[d.at] == '\\' {
			escaped = true
			d.at++
		}
	}
	d.at++
	if !escaped {
		return d.in[start+1 : d.at-1], nil
	}
	text, err := jsontext.AppendUnquote(nil, d.in[start:d.at])
	return string(text), err
}

func (d *decoder) list(depth int) (Value, error) {
	out := &List{}
	for d.at++; d.more(']'); {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, v)
	}
	return out, nil
}

// object reads an object and calls put for each of its members.
func (d *decoder) object(depth int, put func(key string, v Value)) error {
	for d.at++; d.more('}'); {
		key, err := d.text()
		if err == nil {
			err = d.grow(len(key) + EntryBytes)
		}
		if err != nil {
			return err
		}
		d.space()
		d.at++ // the colon
		d.space()
		v, err := d.value(depth + 1)
		if err != nil {
			return err
		}
		put(key, v)
	}
	return nil
}

// number reads a number as Python does: one with a point or an exponent is a float.
func number(text string) (Value, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(f, 0) {
			return nil, err
		}
		return f, nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	if len(text) > maxIntegers {
		return nil, invalidValues("An integer has more than %d digits.", maxIntegers)
	}
	b, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, strconv.ErrSyntax
	}
	return b, nil
}
