package gemini

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// NoSignature stands for the signature of a call that another provider made, or that was lost:
// models that require one accept it. See https://ai.google.dev/gemini-api/docs/thought-signatures.
const NoSignature = "skip_thought_signature_validator"

// ProofOf returns the proof of a signature on the call of that id, or on a text if the id is empty.
func ProofOf(call, signature string) string {
	return wire.Mark(wire.Gemini, call+":"+signature)
}

// readProof returns the parts of what ProofOf made; not ok if another language's provider made it.
func readProof(proof string) (call, signature string, ok bool) {
	own, ok := wire.Unmark(wire.Gemini, proof)
	at := strings.LastIndexByte(own, ':') // a signature is base64, an id may be anything
	if !ok || at < 0 || at == len(own)-1 {
		return "", "", false
	}
	return own[:at], own[at+1:], true
}

// ownParts is the language of proofs that stand for whole parts of the provider's own tools. Nobody reads
// them, but the model wants them back.
const ownParts = wire.Gemini + "-part"

// ownPart is a call of a tool that runs at the provider, or the response to one.
type ownPart struct {
	Call      jsontext.Value `json:"toolCall,omitzero"`
	Response  jsontext.Value `json:"toolResponse,omitzero"`
	Signature string         `json:"thoughtSignature,omitzero"`
}

// proof returns the proof that stands for the part; empty if there is none.
func (p *ownPart) proof() string {
	if !driver.Given(p.Call) && !driver.Given(p.Response) {
		return ""
	}
	raw, err := json.Marshal(p, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return ""
	}
	return wire.Mark(ownParts, base64.StdEncoding.EncodeToString(raw))
}

// readOwnPart returns the part that a proof stands for; nil if it stands for none. A caller may have
// written it, so no other member passes.
func readOwnPart(proof string) jsontext.Value {
	text, ok := wire.Unmark(ownParts, proof)
	if !ok {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	var part ownPart
	if err != nil || json.Unmarshal(raw, &part) != nil || (len(part.Call) == 0) == (len(part.Response) == 0) {
		return nil
	}
	out, err := json.Marshal(&part)
	if err != nil {
		return nil
	}
	return out
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
