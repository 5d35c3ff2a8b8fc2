package vault

import "strings"

// What Mask shows: the prefix with the kind of credential, and as many trailing characters as
// users need to distinguish keys. Shorter secrets are too short to reveal any.
const (
	maskPrefix = "sk-"
	maskTail   = 4
	maskLeast  = 16
)

// Mask returns a recognizable form of a secret for users: "sk-…abcd", or "…abcd" without the
// prefix sk-. Of a secret with fewer than 16 characters it shows nothing; of an empty one, that
// it is empty.
func Mask(s Secret) string {
	text := []rune(s.value)
	switch {
	case len(text) == 0:
		return ""
	case len(text) < maskLeast:
		return "…"
	}
	tail := "…" + string(text[len(text)-maskTail:])
	if strings.HasPrefix(s.value, maskPrefix) {
		return maskPrefix + tail
	}
	return tail
}
