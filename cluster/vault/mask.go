package vault

import "strings"

// What Mask shows: the prefix that says what sort of credential it is, and as many
// characters of the end as people tell keys apart by. Shorter secrets are too
// short to lose any.
const (
	maskPrefix = "sk-"
	maskTail   = 4
	maskLeast  = 16
)

// Mask returns what people may see of a secret to recognize it: "sk-…abcd", or
// "…abcd" if it does not start with sk-. Of secrets shorter than 16 characters it
// shows nothing, and of an empty one that it is empty.
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
