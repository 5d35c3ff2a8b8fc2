package converse

import (
	"encoding/base64"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Proofs come back as they went out, of any maker, and those of Bedrock are in the language without a mark.
func TestProofs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := base64.StdEncoding.EncodeToString(rapid.SliceOfN(rapid.Byte(), 1, 60).Draw(t, "proof"))
		proof := rapid.SampledFrom([]string{text, wire.Mark(wire.Converse, text), wire.Mark(wire.Gemini, "call:"+text), wire.Mark(wire.Mistral, text)}).Draw(t, "marked")
		if got := proofOf(proofFor(proof)); got != proof {
			t.Fatalf("the signature %q came back as %q", proof, got)
		}
		if got := redactedOf(redactedFor(proof)); got != proof {
			t.Fatalf("the redacted %q came back as %q", proof, got)
		}
		if _, err := base64.StdEncoding.DecodeString(redactedFor(proof)); err != nil {
			t.Fatalf("the redacted %q is no base64", redactedFor(proof))
		}
		if own, ok := wire.Unmark(wire.Converse, proof); ok && (proofFor(proof) != own || redactedFor(proof) != own) {
			t.Fatalf("Bedrock's own %q is changed", own)
		}
	})
}
