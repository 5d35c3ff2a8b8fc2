package wire

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Role is the author of a message.
type Role string

// The roles.
const (
	System    Role = "system"
	Developer Role = "developer"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // the result of a tool call, as one Part of kind ToolResultPart
)

// Message is one turn. Messages keep the order and the number of the request's,
// so that the index of a message names it in an error.
type Message struct {
	Role  Role
	Name  string // of the participant; empty if not specified
	Parts []Part
}

// PartKind is the kind of a Part.
type PartKind uint8

// The kinds of parts, with the fields that each uses.
const (
	TextPart       PartKind = iota // Text
	ImagePart                      // Media
	AudioPart                      // Media (Data and Format), or ID of an earlier response
	FilePart                       // Media
	ToolCallPart                   // Call
	ToolResultPart                 // Result
	ThinkingPart                   // Text, Signature
	RedactedPart                   // Signature holds the opaque data
	RefusalPart                    // Text
)

// Part is a piece of a message.
type Part struct {
	Kind      PartKind
	Text      string
	Signature string         // proves to the provider that the thinking is its own
	Cache     jsontext.Value // Anthropic's cache_control object; nil if none
	Media     *Media
	Call      *ToolCall
	Result    *ToolResult
}

// Media is an image, audio or a document: exactly one of URL, Data and ID is set.
type Media struct {
	URL    string // https or http address that the provider fetches; the gateway never does
	Data   string // base64, as it was sent
	ID     string // of a file at the provider
	Type   string // MIME type of Data; empty if not known
	Format string // of audio: wav, mp3, …
	Detail string // of images: low, high or auto; empty if not specified
	Name   string // file name; empty if not specified
}

// ToolCall is a tool's call by the model.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // as the model wrote them: usually a JSON object, but this is not guaranteed
	Custom    bool   // Arguments are free text, the input of a tool without a schema
}

// ToolResult is the result of a tool call.
type ToolResult struct {
	CallID string
	Parts  []Part // text and images only
	Error  bool   // the call failed, and Parts says how
}

// Text returns the message's text parts, joined.
func (m *Message) Text() string {
	var b strings.Builder
	for i := range m.Parts {
		if m.Parts[i].Kind == TextPart {
			b.WriteString(m.Parts[i].Text)
		}
	}
	return b.String()
}
