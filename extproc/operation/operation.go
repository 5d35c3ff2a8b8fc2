package operation

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
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
	Reader
}

// Reader reads the requests of an operation, and the responses of providers with its language.
type Reader struct {
	Scan  func(body []byte, facts *splice.Request) error
	Texts texts.Reader                                      // finds the texts in requests, responses and events
	Reply func(body []byte, facts *splice.ReplyFacts) error // reads a whole response
	Event func(data []byte, facts *splice.ChunkFacts) error // reads an event; nil if no response is a stream

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
	if o.Language.Name() == wire.Anthropic {
		return "anthropic"
	}
	return "openai"
}

// Counts reports whether the response is a count of the request's tokens.
func (o *Operation) Counts() bool {
	return o.Endpoint == driver.CountTokens || o.Endpoint == driver.InputTokens
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
	}
	return prefix + strings.TrimPrefix(string(request), "req_")
}

// ErrorBody returns the body of an error in the language of the operation's callers; in OpenAI's
// for a path without an operation.
func (o *Operation) ErrorBody(e *fault.Error, request string) []byte {
	if o == nil {
		return e.OpenAI()
	}
	return o.Language.EncodeError(e, request)
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
