package anthropic

import "strings"

// arguments follows the arguments of a tool call without keeping them, to know where their JSON
// object ends.
type arguments struct {
	depth   int
	begun   bool // the object's first brace was read
	text    bool // inside a string
	escaped bool // after a backslash in it
}

// read reads more of the arguments.
func (a *arguments) read(s string) {
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

// complete reports whether the object has ended.
func (a *arguments) complete() bool { return a.begun && a.depth <= 0 && !a.text }
