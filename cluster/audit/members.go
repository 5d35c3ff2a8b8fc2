package audit

import (
	"bytes"

	"github.com/go-json-experiment/json"
)

// members are the members of a JSON object in canonical form: names without escapes, no white
// space, raw values.
type members []member

type member struct{ name, value []byte }

// membersOf splits an object; ok is false for anything else. It checks only where the values
// end.
func membersOf(object []byte) (out members, ok bool) {
	return appendMembers(make(members, 0, 18), object)
}

// appendMembers is membersOf with memory of the caller.
func appendMembers(out members, object []byte) (_ members, ok bool) {
	if len(object) < 2 || object[0] != '{' {
		return nil, false
	}
	for rest := object[1:]; ; rest = rest[1:] {
		name := stringEnd(rest)
		if name < 2 || name >= len(rest) || rest[name] != ':' {
			return nil, false
		}
		m := member{name: rest[1 : name-1]}
		rest = rest[name+1:]
		end := valueEnd(rest)
		if end <= 0 || end >= len(rest) {
			return nil, false
		}
		m.value = rest[:end]
		out = append(out, m)
		rest = rest[end:]
		switch {
		case rest[0] == ',':
		case rest[0] == '}' && len(rest) == 1:
			return out, true
		default:
			return nil, false
		}
	}
}

// stringEnd returns the end of the string at the start of b; 0 if there is none.
func stringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	end := 1 + bytes.IndexByte(b[1:], '"')
	if end > 0 && bytes.IndexByte(b[1:end], '\\') < 0 {
		return end + 1
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// valueEnd returns the end of the value at the start of b; 0 if it is malformed.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringEnd(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

// get returns a raw value; nil if it is missing.
func (m members) get(name string) []byte {
	for _, x := range m {
		if string(x.name) == name {
			return x.value
		}
	}
	return nil
}

// text returns the text of a string; empty for anything else.
func (m members) text(name string) string {
	v := m.get(name)
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		return ""
	}
	return s
}
