package promptfile

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// member is one member of an object.
type member struct {
	name  string
	value jsontext.Value
}

// split returns the members of an object, in order, or the elements of a list. v is valid JSON.
func split(v jsontext.Value) (members []member, items []jsontext.Value) {
	if v.Kind() != '{' && v.Kind() != '[' {
		return nil, nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if _, err := d.ReadToken(); err != nil {
		return nil, nil
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		name := ""
		if v.Kind() == '{' {
			token, err := d.ReadToken()
			if err != nil {
				return members, items
			}
			name = token.String()
		}
		one, err := d.ReadValue()
		if err != nil {
			return members, items
		}
		if one = one.Clone(); v.Kind() == '[' {
			items = append(items, one)
			continue
		}
		members = append(members, member{name, one})
	}
	return members, items
}

// joined is the reverse of split for objects; nil for no members.
func joined(members []member) jsontext.Value {
	if len(members) == 0 {
		return nil
	}
	out := jsontext.Value("{")
	for i, m := range members {
		out = append(append(append(appendComma(out, i), quoted(m.name)...), ':'), m.value...)
	}
	return append(out, '}')
}

// plain returns the text of a JSON string; empty for other values.
func plain(v jsontext.Value) (text string) {
	if v.Kind() == '"' {
		_ = json.Unmarshal(v, &text) // v is valid JSON
	}
	return text
}
