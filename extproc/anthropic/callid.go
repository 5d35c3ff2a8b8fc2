package anthropic

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/dialect"
)

// packedID begins the id of a tool call whose provider gave it an id that Anthropic's clients
// may reject. The rest is the provider's id in base64.
const packedID = "toolu_gw_"

// safeID reports whether an id has only the characters that Anthropic allows.
func safeID(id string) bool {
	return id != "" && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// answerID returns the id under which the caller gets the n-th tool call of a response.
func answerID(id string, m dialect.Meta, n int) string {
	switch {
	case id == "":
		return fmt.Sprintf("toolu_%s_%d", strings.TrimPrefix(messageID(m.ID), "msg_"), n)
	case safeID(id) && !strings.HasPrefix(id, packedID):
		return id
	}
	return packedID + base64.RawURLEncoding.EncodeToString([]byte(id))
}

// callerID returns the id that answerID was given: some providers require their own.
func callerID(id string) string {
	packed, ok := strings.CutPrefix(id, packedID)
	if !ok {
		return id
	}
	own, err := base64.RawURLEncoding.DecodeString(packed)
	if err != nil || len(own) == 0 || !utf8.Valid(own) {
		return id
	}
	return string(own)
}

// messageID returns an id of a message in Anthropic's form.
func messageID(id string) string {
	if strings.HasPrefix(id, "msg_") {
		return id
	}
	return "msg_" + strings.TrimPrefix(id, "chatcmpl-")
}
