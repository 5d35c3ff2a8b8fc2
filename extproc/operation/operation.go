package operation

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Operation is a row of the table of operations, with the code that reads its requests.
type Operation struct {
	CallType string
	Language dialect.Dialect
	Endpoint driver.Endpoint
	Request  dataplane.Form
	Response string // media type
	Stream   string // media type
	Streamed string // content type that the caller's stream has
	// PathStreams says that all responses are streams, by the path.
	PathStreams bool
	// Reframe makes what gives a caller's stream another framing than that of server-sent events, and Framed is its
	// content type. Google's clients may ask for events instead. nil if there is no other one.
	Reframe func() Reframer
	Framed  string
	// Blob says that the type of a body need not be given: to the clients' libraries it is a blob.
	Blob bool
	// Betas reads the beta features that a request has in its body instead of a header; may be nil.
	Betas func(body []byte) (string, error)
	// Instead returns another operation, of which a body is; nil if it is of this one. It may be nil.
	Instead func(body []byte) *Operation
	// Caller is the language of callers whose requests or errors have another form than Language: Into makes one of
	// Language of them, for the model that the path names, and Outof the caller's response of one of Language.
	// nil if there is no such form.
	Caller dialect.Dialect
	Into   func(body []byte, model string) ([]byte, error) // nil: only the errors have another form
	Outof  func(body []byte) ([]byte, error)               // may be nil: the response has the form of Language

	Reader
}

// Reader reads the requests of an operation, and the responses of providers with its language.
type Reader struct {
	Scan  func(body []byte, facts *splice.Request) error
	Texts texts.Reader                                      // finds the texts in requests, responses and events
	Reply func(body []byte, facts *splice.ReplyFacts) error // reads a whole response
	Event func(data []byte, facts *splice.ChunkFacts) error // reads an event; nil if no response is a stream
	// Edits appends to edits, which are in order, those that a request needs whose bytes are passed on to a provider's
	// model; may be nil.
	Edits func(edits []splice.Edit, body []byte, model string) []splice.Edit

	// Of operations other than chats: Check returns why a response cannot be what was requested,
	// and Units what the request uses besides tokens. Both may be nil.
	Check func(facts *splice.Request, reply *splice.ReplyFacts) error
	Form  func(facts *splice.Request, reply *splice.ReplyFacts, body []byte) []byte // in the requested form; may be nil
	Units func(facts *splice.Request) usage.Tokens
	// Decode reads the request for the gateway's own response; nil if only providers respond.
	Decode func(body []byte) (*wire.Request, error)
	Free   bool // no provider charges for it: its tokens do not count
}

// Name returns the call type. It is empty for a path without an operation.
func (o *Operation) Name() string {
	if o == nil {
		return ""
	}
	return o.CallType
}

// IsForm reports whether requests are forms.
func (o *Operation) IsForm() bool { return o.Request.Media == dataplane.Multipart().Media }

// Streams reports whether a response is passed on in pieces. Of sound only the type of the response
// says so.
func (o *Operation) Streams(requested bool, media string) bool {
	switch {
	case o.Speaks():
		return true
	case o.Hears():
		return media == o.Stream && media != ""
	}
	return requested
}

// Answers reports whether a response may have a type.
func (o *Operation) Answers(media string, inPieces bool) bool {
	switch {
	case o.Speaks():
		return media == o.Stream || strings.HasPrefix(media, "audio/") || media == "application/octet-stream"
	case o.Hears() && !inPieces: // JSON, text or subtitles
		other := media == "text/html" || media == "text/event-stream"
		return media == o.Response || media == "application/x-subrip" || strings.HasPrefix(media, "text/") && !other
	case inPieces:
		return media == o.Stream
	}
	return media == o.Response
}

// Vendor returns the provider whose clients send the operation's requests.
func (o *Operation) Vendor() string {
	switch o.Language.Name() { //nolint:exhaustive // the others are OpenAI's
	case wire.Anthropic:
		return "anthropic"
	case wire.Gemini:
		return "gemini"
	case wire.Converse:
		return "bedrock"
	case wire.Cohere:
		return "cohere"
	}
	return "openai"
}

// Counts reports whether the response is a count of the request's tokens.
func (o *Operation) Counts() bool {
	return o.Endpoint == driver.CountTokens || o.Endpoint == driver.InputTokens || o.Endpoint == driver.ContentsCount || o.Endpoint == driver.ConverseCount
}

// StreamType returns the content type of a caller's stream, which may have another framing.
func (o *Operation) StreamType(reframed bool) string { //nolint:revive // the framing of the stream, not a mode
	if reframed {
		return o.Framed
	}
	return o.Streamed
}

// Reframer gives the events of one stream another framing.
type Reframer interface {
	// Add takes whole events, and returns what goes out in their place. It is valid until the next call.
	Add(events []byte) []byte
	// End is Add for the events that end the stream.
	End(events []byte) []byte
}

// Structured reports whether the content of a response is JSON, by the form that its request asks for.
func (o *Operation) Structured(request []byte) bool {
	for _, path := range [...][]string{
		{"response_format", "type"},
		{"text", "format", "type"},
		{"output_config", "format", "type"},
		{"output_format", "type"},
		{"generationConfig", "responseMimeType"},
		{"generation_config", "response_mime_type"},
		{"generationConfig", "response_mime_type"},
		{"outputConfig", "textFormat", "type"},
	} {
		switch string(splice.Lookup(request, path...)) {
		case "", `"text"`, `"text/plain"`, "null":
		default:
			return true
		}
	}
	return false
}

// Composes reports whether a prompt can be put into the operation's requests.
func (o *Operation) Composes() bool { return o.Endpoint.IsChat() || o.Counts() }

// Generates reports whether a model writes text.
func (o *Operation) Generates() bool { return o.Endpoint.IsChat() || o.Endpoint == driver.Completions }

// EndsItself reports whether the last event of a stream is sent for a complete response only. The
// end of OpenAI's chats is sent by some providers after they broke off.
func (o *Operation) EndsItself() bool {
	return o.Endpoint != driver.Chat && o.Endpoint != driver.Completions
}

// ReplyID returns the id of a translated stream. A provider's own id comes too late for the
// events before it.
func (o *Operation) ReplyID(request id.Request) string {
	prefix := "chatcmpl-"
	switch o.Endpoint { //nolint:exhaustive // no other operation is translated
	case driver.Messages:
		prefix = "msg_"
	case driver.Responses:
		prefix = "resp_"
	case driver.Completions:
		prefix = "cmpl-"
	case driver.Contents, driver.Converse, driver.Turns:
		prefix = ""
	}
	return prefix + strings.TrimPrefix(string(request), "req_")
}

// Hears reports whether the operation reads sound.
func (o *Operation) Hears() bool {
	return o.Endpoint == driver.Transcriptions || o.Endpoint == driver.Translations
}

// Speaks reports whether the operation makes sound.
func (o *Operation) Speaks() bool { return o.Endpoint == driver.Speech }

// HasSound reports whether the operation reads or makes sound.
func (o *Operation) HasSound() bool { return o.Hears() || o.Speaks() }

// Draws reports whether the operation makes pictures.
func (o *Operation) Draws() bool {
	return o.Endpoint == driver.Images || o.Endpoint == driver.ImageEdits
}
