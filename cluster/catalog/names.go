package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest names.
const (
	maxName     = 256
	maxID       = 128
	maxCaptured = 200
)

// validName reports whether a model name can be written on one line.
func validName(s string) bool {
	if s == "" || len(s) > maxName || !utf8.ValidString(s) || strings.TrimSpace(s) != s {
		return false
	}
	return strings.IndexFunc(s, unicode.IsControl) < 0
}

// validModel reports whether a model id may go into a body and into a URL's path.
func validModel(s string) bool {
	if s == "" || len(s) > maxName || !printable(s) || strings.ContainsAny(s, `?#%\"<>`) {
		return false
	}
	for segment := range strings.SplitSeq(s, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// pattern is a wildcard name: what comes before and after its one star.
type pattern struct{ prefix, suffix string }

// cutPattern returns the pattern that a name is; false for a plain name.
func cutPattern(name string) (pattern, bool) {
	prefix, suffix, ok := strings.Cut(name, "*")
	return pattern{prefix, suffix}, ok
}

// capture returns what the star stands for in name. It must be usable as (part
// of) a model id: it comes from a caller and ends up in a provider's URL.
func (p pattern) capture(name string) (string, bool) {
	if len(name) <= len(p.prefix)+len(p.suffix) || !strings.HasPrefix(name, p.prefix) || !strings.HasSuffix(name, p.suffix) {
		return "", false
	}
	got := name[len(p.prefix) : len(name)-len(p.suffix)]
	return got, len(got) <= maxCaptured && validModel(got) && !strings.Contains(got, "*")
}
