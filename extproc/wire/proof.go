package wire

import "strings"

// MarkPrefix begins a marked proof. No provider's own proof does: those are base64.
const MarkPrefix = "mgw1:"

// A provider sends a proof along with its reasoning, or the reasoning itself in encrypted
// form, and wants it back unchanged. Another provider rejects it. The canonical form has
// Anthropic's proofs as they are. Proofs of other languages are marked, so that every
// driver sends back only those that its provider understands.

// Mark returns a proof with the language of the provider that made it.
func Mark(by Dialect, proof string) string { return MarkPrefix + string(by) + ":" + proof }

// Unmark returns the proof that Mark was given; not ok if it is not a proof of that language.
func Unmark(by Dialect, signature string) (proof string, ok bool) {
	return strings.CutPrefix(signature, MarkPrefix+string(by)+":")
}

// Marked reports whether a proof is of another language than Anthropic's.
func Marked(signature string) bool { return strings.HasPrefix(signature, MarkPrefix) }
