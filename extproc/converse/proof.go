package converse

import (
	"encoding/base64"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

// The proofs of reasoning are Bedrock's own in this language, and stand in it as they are. Those of other providers are marked, those
// of Anthropic too, which the canonical form has without a mark. Redacted reasoning is base64 in JSON, so a marked one
// is the base64 of the mark and what follows it.

// proofFor returns the caller's form of a proof of the canonical form.
func proofFor(proof string) string {
	if own, ok := wire.Unmark(wire.Converse, proof); ok || proof == "" {
		return own
	}
	if wire.Marked(proof) {
		return proof
	}
	return wire.Mark(wire.Anthropic, proof)
}

// proofOf is the reverse of proofFor.
func proofOf(proof string) string {
	if theirs, ok := wire.Unmark(wire.Anthropic, proof); ok || proof == "" {
		return theirs
	}
	if wire.Marked(proof) {
		return proof
	}
	return wire.Mark(wire.Converse, proof)
}

// redactedFor returns the caller's form of redacted reasoning: base64.
func redactedFor(data string) string {
	if own, ok := wire.Unmark(wire.Converse, data); ok {
		return own
	}
	return base64.StdEncoding.EncodeToString([]byte(proofFor(data)))
}

// redactedOf is the reverse of redactedFor.
func redactedOf(data string) string {
	if marked, ok := markedIn(data); ok {
		return proofOf(marked)
	}
	return wire.Mark(wire.Converse, data)
}

// markBase64 begins the base64 of every marked proof: "mgw" is three bytes, and the first six bits of the next one follow.
const markBase64 = "bWd3M"

// markedIn returns the marked proof that base64 is of; not ok if it is of none.
func markedIn(data string) (string, bool) {
	if !strings.HasPrefix(data, markBase64) {
		return "", false
	}
	text, err := base64.StdEncoding.DecodeString(data)
	return string(text), err == nil && wire.Marked(string(text))
}
