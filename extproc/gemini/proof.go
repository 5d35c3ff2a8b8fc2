package gemini

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

// noSignature stands for the signature of a call that another provider made, or that was lost:
// models that require one accept it. See https://ai.google.dev/gemini-api/docs/thought-signatures.
const noSignature = "skip_thought_signature_validator"

// proofOf returns the proof of a signature on the call of that id, or on a text if the id is empty.
func proofOf(call, signature string) string {
	return wire.Mark(wire.Gemini, call+":"+signature)
}

// readProof returns the parts of what proofOf made; not ok if another language's provider made it.
func readProof(proof string) (call, signature string, ok bool) {
	own, ok := wire.Unmark(wire.Gemini, proof)
	at := strings.LastIndexByte(own, ':') // a signature is base64, an id may be anything
	if !ok || at < 0 || at == len(own)-1 {
		return "", "", false
	}
	return own[:at], own[at+1:], true
}

// signatures are those of a message's parts.
type signatures struct {
	text  string
	calls map[string]string // by id
}

// signaturesOf reads the reasoning of a message.
func signaturesOf(m *wire.Message) signatures {
	var out signatures
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != wire.ThinkingPart && p.Kind != wire.RedactedPart {
			continue
		}
		call, signature, ok := readProof(p.Signature)
		switch {
		case !ok:
		case call == "":
			out.text = signature
		default:
			if out.calls == nil {
				out.calls = map[string]string{}
			}
			out.calls[call] = signature
		}
	}
	return out
}
