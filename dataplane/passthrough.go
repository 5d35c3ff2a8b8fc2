package dataplane

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Passthrough is the call type of a request to a path of a provider's own that no operation has. Nothing reads its
// body or its response.
const Passthrough = "passthrough"

// Passed is a path below a provider's prefix.
type Passed struct {
	Prefix string // such as /bedrock
	Path   string // behind it, with its slash
}

// PassedPrefixes lists the prefixes below which a permitted request to an unknown path goes to the provider.
func PassedPrefixes() [7]string {
	return [...]string{prefixAnthropic, prefixAzure, prefixBedrock, prefixCohere, prefixGemini, prefixPassed, prefixVertex}
}

// PassedMethods lists the methods of such requests.
func PassedMethods() [6]string {
	return [...]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
}

// PassedProviders lists the providers that have the paths below a prefix.
func PassedProviders(prefix string) []string {
	switch prefix {
	case prefixAzure:
		return []string{"azure"}
	case prefixPassed:
		return []string{"openai"}
	}
	return []string{strings.TrimPrefix(prefix, "/")}
}

// FindPassed returns the prefix of a path, and what is behind it.
func FindPassed(path string) (p Passed, ok bool) {
	for _, prefix := range PassedPrefixes() {
		if rest, ok := strings.CutPrefix(path, prefix); ok && len(rest) > 1 && rest[0] == '/' {
			return Passed{prefix, rest}, true
		}
	}
	return Passed{}, false
}

// IsPassed reports whether a path is below a prefix of PassedPrefixes.
func IsPassed(path string) bool {
	_, ok := FindPassed(path)
	return ok
}

// Clean reports whether a path means the same to everybody who reads it: it has no empty or dotted segments and no
// backslashes, with or without escapes, and nothing in it is escaped twice. An escaped slash within a segment, as in the
// ARNs of AWS, is no end of the segment, but what it separates counts as segments as well.
func Clean(path string) bool {
	for i := range len(path) {
		if path[i] <= ' ' || path[i] >= 0x7f {
			return false
		}
	}
	text, err := url.PathUnescape(path)
	if err != nil || strings.ContainsAny(text, "\\\x00") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return false
	}
	if again, err := url.PathUnescape(text); err != nil || again != text {
		return false
	}
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "/"), "/"), "/")
	return !slices.ContainsFunc(segments, func(s string) bool {
		s, _, _ = strings.Cut(s, ";") // some servers cut parameters off before they read dots
		return strings.Trim(s, ".") == ""
	})
}

// Disguised reports whether an operation has the path if its escapes and a slash at its end are taken away.
func Disguised(path string) bool {
	text, err := url.PathUnescape(path)
	if err != nil {
		return true
	}
	if text = strings.TrimRight(text, "/"); text == path {
		return false
	}
	_, ok := Find(text)
	return ok
}
