package inbound

import (
	"net/url"
	"strings"
)

// Asks reports whether a header of a request that is passed on unread says what is asked for, so that the provider gets
// it. Of other requests no provider does.
func Asks(name string) bool {
	switch name {
	case "range", "if-match", "idempotency-key", "accept-language", "x-goog-fieldmask":
		return true
	}
	return strings.HasPrefix(name, "x-amzn-bedrock-")
}

// PassedQuery returns the query of a request that is passed on unread, in the caller's order and without what may be
// a credential. A parameter that cannot be read is one.
func (in *Headers) PassedQuery() string {
	var out []string
	for pair := range strings.SplitSeq(in.Query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		text, err := url.QueryUnescape(name)
		if pair == "" || err != nil || mayBeCredential(strings.ToLower(text)) {
			continue
		}
		out = append(out, pair)
	}
	return strings.Join(out, "&")
}

// HasParameter reports whether the query has a parameter.
func (in *Headers) HasParameter(name string) bool {
	for pair := range strings.SplitSeq(in.Query, "&") {
		is, _, _ := strings.Cut(pair, "=")
		if text, err := url.QueryUnescape(is); err == nil && text == name {
			return true
		}
	}
	return false
}

// mayBeCredential reports whether a parameter, in lower case, may be a credential or a signature. Tokens of pages are
// none.
func mayBeCredential(name string) bool {
	for _, part := range [...]string{"key", "secret", "password", "signature", "credential", "authorization"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	token := strings.Contains(name, "token") && !strings.Contains(name, "page") && !strings.Contains(name, "next") && name != "maxtokens"
	return token || name == "sig" || strings.HasPrefix(name, "x-amz-") || strings.HasPrefix(name, "x-goog-") && name != "x-goog-fieldmask"
}
