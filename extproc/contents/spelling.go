package contents

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// spellings are the known names of an object so far.
type spellings struct{ names [8]string }

// add returns the known name that a member has, in either case; empty for another member. A name that only
// resembles a known one is rejected: some JSON readers take one for the other. Errors name it behind the prefix.
func (s *spellings) add(name []byte, known []string, prefix string) (string, error) {
	for i, k := range known {
		if !alike(name, k) {
			continue
		}
		if string(name) != k && !isSnake(name, k) {
			return "", fault.Field(prefix+k, "duplicate_parameter", "The field %q is written in another letter case. Write it as Google does.", prefix+k)
		}
		if s.names[i] != "" {
			return "", fault.Field(prefix+k, "duplicate_parameter", "The field %q occurs twice. Send it once.", prefix+k)
		}
		s.names[i] = k
		return k, nil
	}
	return "", nil
}

// alike reports whether a name is a known one, whatever the case of its letters and its underscores.
func alike(name []byte, known string) bool {
	i := 0
	for _, c := range name {
		switch {
		case c == '_':
			continue
		case i == len(known) || lowered(c) != lowered(known[i]):
			return false
		}
		i++
	}
	return i == len(known)
}

// isSnake reports whether a name is a known one in snake case.
func isSnake(name []byte, known string) bool {
	i := 0
	for j := range len(known) {
		c := known[j]
		if c >= 'A' && c <= 'Z' {
			if i == len(name) || name[i] != '_' {
				return false
			}
			i++
		}
		if i == len(name) || name[i] != lowered(c) {
			return false
		}
		i++
	}
	return i == len(name)
}

// lowered returns a letter of ASCII in lower case.
func lowered(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Camel returns a name in camel case.
func Camel(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if b.Len() > 0 && word != "" {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		b.WriteString(word)
	}
	return b.String()
}
