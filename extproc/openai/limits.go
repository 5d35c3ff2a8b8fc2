package openai

import (
	"crypto/sha256"
	"encoding/hex"
)

// Most characters of what OpenAI limits.
const (
	longestCallID = 40
	longestUser   = 64
)

// CallID makes an id of a tool call that OpenAI accepts. A longer one becomes its hash: the same
// one in the call and in its result.
func CallID(id string) string {
	if len(id) <= longestCallID {
		return id
	}
	return "call_" + hashOf(id)[:longestCallID-len("call_")]
}

// userOf makes a name of an end user that OpenAI accepts. Claude Code's are longer.
func userOf(user string) string {
	if len(user) <= longestUser {
		return user
	}
	return hashOf(user)
}

// hashOf returns 64 characters that stand for a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
