package dialect

import "strings"

// Arguments follows the arguments of a tool call without keeping them, to know where their JSON
// object ends. The zero value is ready.
type Arguments struct {
	depth   int
	begun   bool // the object's first brace was read
	text    bool // inside a string
	escaped bool // after a backslash in it
}

// Read reads more of the arguments.
func (a *Arguments) Read(s string) {
	for s != "" {
		if a.escaped {
			a.escaped, s = false, s[1:]
			continue
		}
		stops := `"{}[]`
		if a.text {
			stops = `"\`
		}
		at := strings.IndexAny(s, stops)
		if at < 0 {
			return
		}
		switch s[at] {
		case '\\':
			a.escaped = true
		case '"':
			a.text = !a.text
		case '{', '[':
			a.depth++
			a.begun = true
		default:
			a.depth--
		}
		s = s[at+1:]
	}
}

// Complete reports whether the object has ended.
func (a *Arguments) Complete() bool { return a.begun && a.depth <= 0 && !a.text }
