package compose

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Instructions returns the first member of a request by which the caller gives instructions to the
// model, such as messages[0] or system; empty for none. Roles that no language has count too: a
// provider might take them for one of these. The scan of the request must have accepted body.
func (l *Language) Instructions(body []byte) string {
	for name, value := range splice.ReadObject(body).All() {
		switch {
		case value[0] == 'n':
		case slices.ContainsFunc(instructing(), func(s string) bool { return strings.EqualFold(s, name) }):
			return name
		case strings.EqualFold(name, l.messages):
			if at := instructionsAmong(value); at >= 0 {
				return name + "[" + strconv.Itoa(at) + "]"
			}
		}
	}
	return ""
}

// instructing returns the members of requests that are instructions in one of the languages, or for
// providers with one of them: a prompt that the provider stores, and a template of the chat.
func instructing() []string {
	return []string{"system", "instructions", "prompt", "chat_template", "systemInstruction", "system_instruction"}
}

// instructionsAmong returns the first message whose role is none of a conversation; -1 if there is
// none.
func instructionsAmong(messages []byte) int {
	if messages[0] != '[' {
		return -1
	}
	d := jsontext.NewDecoder(bytes.NewReader(messages), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return 0
	}
	for at := 0; d.PeekKind() != ']'; at++ {
		message, err := d.ReadValue()
		if err != nil || message.Kind() == '{' && !converses(message) {
			return at
		}
	}
	return -1
}

// converses reports whether each role that a message says is one of a conversation. A message of
// the Responses API may have none, such as the result of a tool.
func converses(message []byte) bool {
	for name, value := range splice.ReadObject(message).All() {
		if !strings.EqualFold(name, "role") {
			continue
		}
		if value[0] != '"' {
			return false
		}
		switch string(splice.Plain(value[1 : len(value)-1])) {
		case "user", "assistant", "model", "tool", "function":
		default:
			return false
		}
	}
	return true
}
