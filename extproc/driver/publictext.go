package driver

import (
	"strings"
	"unicode"
)

// longestText bounds what of a provider's message is passed on.
const longestText = 1000

// publicText makes a provider's message safe for a caller: one line, bounded,
// valid UTF-8, and without what looks like a credential. Some providers
// repeat the key that they reject.
func publicText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if looksLikeMarkup(s) {
		return ""
	}
	if len(s) > longestText {
		s = strings.ToValidUTF8(s[:longestText], "") + "…"
	}
	words := strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
	for i, w := range words {
		after := i > 0 && strings.EqualFold(words[i-1], "bearer")
		if after || looksLikeKey(w) {
			words[i] = "[redacted]"
		}
	}
	return strings.Join(words, " ")
}

// looksLikeMarkup recognises an HTML page that was put into a message.
func looksLikeMarkup(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	return strings.HasPrefix(s, "<!doctype") || strings.HasPrefix(s, "<html") || strings.HasPrefix(s, "<?xml")
}

// looksLikeKey recognises keys of the providers known here, also inside
// quotes and after "key=".
func looksLikeKey(word string) bool {
	for _, prefix := range []string{"sk-", "sk_", "gsk_", "xai-", "pplx-", "fw_", "tgp_", "AIza", "AQ.", "jina_", "pa-"} {
		if at := strings.Index(word, prefix); at >= 0 && len(word)-at > len(prefix)+4 {
			if at == 0 || !isWordByte(word[at-1]) {
				return true
			}
		}
	}
	return false
}

// isWordByte reports whether a byte may be inside a word: "risk-free" has no key.
func isWordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '-'
}
