package googlecaller

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// The pipeline seals the reasoning before a call into the call's id, for languages without a member for it.
// Google's has one, which its clients send back with the call and never read: thoughtSignature. So an id
// that is longer than any provider's goes there, and the call has a short one.

// longestID is the longest id of a call that a caller gets as it is.
const longestID = 64

// sealedMark begins what a signature holds that is such an id.
const sealedMark = "modelgateway:"

// signatureOf returns the id of a call as its caller gets it, and the signature that the call has with it.
func signatureOf(id string) (short, signature string) {
	if len(id) <= longestID {
		return id, ""
	}
	return "call_" + digest(id), base64.StdEncoding.EncodeToString([]byte(sealedMark + id))
}

// sealedID returns the id that signatureOf has made a signature of; not ok if it has made none.
func sealedID(signature string) (id string, ok bool) {
	if signature == "" {
		return "", false
	}
	signature = strings.NewReplacer("-", "+", "_", "/").Replace(signature) // libraries write either alphabet
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(signature, "="))
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(string(text), sealedMark)
}

// digest returns the beginning of a text's hash.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// WithoutSealed appends to edits, which are in order, those that replace such signatures in a request that is passed on
// to Google by the value that stands for an unknown one.
func WithoutSealed(edits []splice.Edit, body []byte, _ string) []splice.Edit {
	prefix := base64.StdEncoding.EncodeToString([]byte(sealedMark[:len(sealedMark)-1])) // 12 bytes, so nothing after them changes it
	return splice.ReplaceStrings(edits, body, prefix, []string{"thoughtSignature", "thought_signature"}, func(string) string {
		return `"` + gemini.NoSignature + `"`
	})
}
