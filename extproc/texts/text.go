package texts

import "github.com/modelgateway/modelgateway/extproc/splice"

// Text is the place of one text.
type Text struct {
	splice.Span // the inside of a JSON string, without its quotes; a whole JSON value if JSON

	Kind   Kind
	Role   Role
	JSON   bool // the span is an object or an array
	Repeat bool // of an answer: repeats a text that stands elsewhere in the answer, or in earlier events of the stream

	Choice int // of an answer: the index of the choice
	Item   int // the index of the message or item of a request; of the tool call, block or item of an answer
	Part   int // of the language of responses: the index of the part of the item
}

// Kind is what a text is for.
type Kind uint8

// The kinds. Skipped is no text.
const (
	Skipped     Kind = iota
	Content          // what somebody says
	Refusal          // why the model does not respond
	Reasoning        // what the model thinks
	Arguments        // of a tool call: a string with JSON, an object, or a custom tool's free text
	Result           // of a tool call
	ToolName         // of a tool, a call, or a server with tools
	Name             // of a participant, a file or a schema
	Description      // of a tool or a schema
	Schema           // of a tool's arguments
	Format           // the schema of a structured response
	Prediction       // what the caller expects as response
	Transcript       // of sound that somebody speaks
	Media            // data or address of a picture, sound or a file
	Logprobs         // the tokens of a text once more, with probabilities
	Citation         // of an answer: a source, with words of it
	Other            // a member that the language does not have
)

// String returns the kind's name in records.
func (k Kind) String() string {
	names := [...]string{
		"skipped", "content", "refusal", "reasoning", "arguments", "result", "tool_name", "name", "description", "schema", "format",
		"prediction", "transcript", "media", "logprobs", "citation", "other",
	}
	if int(k) >= len(names) {
		return "invalid"
	}
	return names[k]
}

// Role is the author of a text.
type Role uint8

// The roles. NoRole is that of texts outside of messages, such as the descriptions of tools.
const (
	NoRole Role = iota
	System
	Developer
	User
	Assistant
	Tool
)

// String returns the role's name; empty for NoRole.
func (r Role) String() string {
	names := [...]string{"", "system", "developer", "user", "assistant", "tool"}
	if int(r) >= len(names) {
		return "invalid"
	}
	return names[r]
}

// RoleOf returns the role with a name; User for an empty or unknown one.
func RoleOf(name string) Role { return roleOf([]byte(name), User) }

// roleOf returns the role that a name means; or, if there is none or an unknown one.
func roleOf(name []byte, or Role) Role {
	switch string(name) {
	case "system":
		return System
	case "developer":
		return Developer
	case "user":
		return User
	case "assistant", "model":
		return Assistant
	case "tool", "function":
		return Tool
	}
	return or
}
