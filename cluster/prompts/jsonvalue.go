package prompts

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// elements returns the elements of a JSON list.
func elements(list jsontext.Value) (out []jsontext.Value, err error) {
	err = json.Unmarshal(list, &out)
	return out, err
}

// members returns the members of a JSON object in their order. Two of one name are an error.
// The values are parts of object.
func members(object jsontext.Value) (names []string, values []jsontext.Value, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(object))
	if _, err := d.ReadToken(); err != nil {
		return nil, nil, err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, nil, err
		}
		names = append(names, name.String())
		v, err := d.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		end := d.InputOffset()
		values = append(values, object[end-int64(len(v)):end])
	}
	_, err = d.ReadToken()
	return names, values, err
}

// member returns a member of a JSON object.
func member(object jsontext.Value, name string) (jsontext.Value, bool) {
	if object.Kind() != '{' {
		return nil, false
	}
	names, values, err := members(object)
	if err != nil {
		return nil, false
	}
	for i := range names {
		if names[i] == name {
			return values[i], true
		}
	}
	return nil, false
}

// nesting returns how deep the objects and lists of a JSON value nest. It checks nothing else.
func nesting(v jsontext.Value) int {
	depth, deepest, inText := 0, 0, false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
