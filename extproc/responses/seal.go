package responses

import (
	"encoding/base64"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

// envelope begins an encrypted_content that carries another provider's proof. The letter
// after it is what the proof belongs to.
const (
	envelope      = "mgw1."
	sealsThinking = "t."
	sealsRedacted = "r."
)

// seal returns the encrypted_content of a block of reasoning that is an item of the given
// id; empty if the block has no proof. A proof of this language's that names another item
// needs an envelope too, or its id would be lost.
func seal(t *wire.Thinking, item string) string {
	proof, kind := t.Signature, sealsThinking
	if t.Redacted != "" {
		proof, kind = t.Redacted, sealsRedacted
	}
	if proof == "" {
		return ""
	}
	if id, encrypted, ok := readProof(proof); ok && (id == "" || id == item) {
		return encrypted
	}
	return envelope + kind + base64.RawURLEncoding.EncodeToString([]byte(proof))
}

// readProof returns the parts of what ownProof made; not ok if another language's provider made it.
func readProof(proof string) (id, encrypted string, ok bool) {
	own, ok := wire.Unmark(wire.Responses, proof)
	if !ok {
		return "", "", false
	}
	id, encrypted, ok = strings.Cut(own, ":")
	return id, encrypted, ok
}

// unseal returns the part that a reasoning item stands for; not ok if its envelope is damaged.
func unseal(id, encrypted, text string) (out wire.Part, ok bool) {
	out = wire.Part{Kind: wire.ThinkingPart, Text: text}
	if encrypted == "" {
		return out, true
	}
	sealed, another := strings.CutPrefix(encrypted, envelope)
	if !another {
		return ownPart(id, encrypted, text), true
	}
	raw, thinking := strings.CutPrefix(sealed, sealsThinking)
	if !thinking {
		var redacted bool
		if raw, redacted = strings.CutPrefix(sealed, sealsRedacted); !redacted {
			return out, false
		}
		out = wire.Part{Kind: wire.RedactedPart}
	}
	proof, err := base64.RawURLEncoding.DecodeString(raw)
	out.Signature = string(proof)
	return out, err == nil
}

// ownPart is a part of reasoning that a provider of this language has encrypted. Without a
// text to read it counts as redacted.
func ownPart(id, encrypted, text string) wire.Part {
	kind := wire.ThinkingPart
	if text == "" {
		kind = wire.RedactedPart
	}
	return wire.Part{Kind: kind, Text: text, Signature: ownProof(id, encrypted)}
}

// ownProof is the canonical form of the encrypted reasoning of an item.
func ownProof(id, encrypted string) string {
	if strings.Contains(id, ":") {
		id = "" // no provider's ids have one
	}
	return wire.Mark(wire.Responses, id+":"+encrypted)
}
