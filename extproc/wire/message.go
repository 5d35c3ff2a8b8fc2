package wire

import (
	"strconv"
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
	NativePart                     // Native
)

// Part is a piece of a message.
type Part struct {
	Kind      PartKind
	Text      string
	Signature string         // proves to the provider that the thinking is its own; see Mark
	Maker     string         // deployment that made the thinking; empty if that is not known
	Cache     jsontext.Value // Anthropic's cache_control object; nil if none
	Media     *Media
	Call      *ToolCall
	Result    *ToolResult
	Native    *Native
	Citations jsontext.Value // array of Anthropic's citations for Text; nil if none
	At        Place          // zero if the caller's language counts like OpenAI's chat
}

// Native is a part that the canonical form has no kind for. Providers of its language get it as
// it is, and all others cannot be sent it.
type Native struct {
	Language Dialect
	Type     string // as the language names it
	Raw      jsontext.Value
}

// Place is where a part is in the caller's request, for errors. It is not a text, so that
// only an error makes one.
type Place struct {
	Member string // of the request; empty if the place is not known
	Item   int    // of Member, counted from 1; 0 if Member is not a list
	Field  string // of the item; empty if the place is the whole item
	Part   int    // of Field, counted from 1; 0 if Field is not a list
	Inner  int    // of the content of Part, counted from 1; 0 if the place is the whole part
}

// String returns the place as a path, such as input[2].content[0]; empty if it is not known.
func (p Place) String() string {
	index := func(n int) string {
		if n == 0 {
			return ""
		}
		return "[" + strconv.Itoa(n-1) + "]"
	}
	out := p.Member + index(p.Item)
	if p.Field != "" {
		out += "." + p.Field + index(p.Part)
	}
	if p.Inner != 0 {
		out += ".content" + index(p.Inner)
	}
	return out
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
	About  string // what the model should know of a document; empty if not specified
	Cite   bool   // the response should cite the document
}

// DataURL returns a data: address with the data of the medium. It is the data alone if its
// type is not known, and empty if the data is elsewhere.
func (m *Media) DataURL() string {
	if m.Data == "" || m.Type == "" {
		return m.Data
	}
	return "data:" + m.Type + ";base64," + m.Data
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
	Parts  []Part // text, images and files only
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
