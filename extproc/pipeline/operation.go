package pipeline

import (
	"net/url"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// operation is a row of the table of operations, with the code that reads its requests.
type operation struct {
	callType string
	language dialect.Dialect
	endpoint driver.Endpoint
	request  dataplane.Form
	response string // media type
	stream   string // media type
	streamed string // content type that the caller's stream has
	reader
}

// reader reads the requests of an operation, and the responses of providers with its language.
type reader struct {
	scan  func(body []byte, facts *splice.Request) error
	texts texts.Reader                                      // finds the texts in requests, responses and events
	reply func(body []byte, facts *splice.ReplyFacts) error // reads a whole response
	event func(data []byte, facts *splice.ChunkFacts) error // reads an event; nil if no response is a stream

	// Of operations other than chats: check returns why a response cannot be what was requested,
	// and units what the request uses besides tokens. Both may be nil.
	check func(facts *splice.Request, reply *splice.ReplyFacts) error
	form  func(facts *splice.Request, reply *splice.ReplyFacts, body []byte) []byte // in the requested form; may be nil
	units func(facts *splice.Request) usage.Tokens
	// decode reads the request for the gateway's own response; nil if only providers respond.
	decode func(body []byte) (*wire.Request, error)
	free   bool // no provider charges for it: its tokens do not count
}

// name returns the call type. It is empty for a path without an operation.
func (o *operation) name() string {
	if o == nil {
		return ""
	}
	return o.callType
}

// isForm reports whether requests are forms.
func (o *operation) isForm() bool { return o.request.Media == dataplane.Multipart().Media }

// streams reports whether a response is passed on in pieces. Of sound only the type of the response
// says so.
func (o *operation) streams(requested bool, media string) bool {
	switch {
	case o.speaks():
		return true
	case o.hears():
		return media == o.stream && media != ""
	}
	return requested
}

// answers reports whether a response may have a type.
func (o *operation) answers(media string, inPieces bool) bool {
	switch {
	case o.speaks():
		return media == o.stream || strings.HasPrefix(media, "audio/") || media == "application/octet-stream"
	case o.hears() && !inPieces: // JSON, text or subtitles
		other := media == "text/html" || media == "text/event-stream"
		return media == o.response || media == "application/x-subrip" || strings.HasPrefix(media, "text/") && !other
	case inPieces:
		return media == o.stream
	}
	return media == o.response
}

// vendor returns the provider whose clients send the operation's requests.
func (o *operation) vendor() string {
	if o.language.Name() == wire.Anthropic {
		return "anthropic"
	}
	return "openai"
}

// counts reports whether the response is a count of the request's tokens.
func (o *operation) counts() bool {
	return o.endpoint == driver.CountTokens || o.endpoint == driver.InputTokens
}

// composes reports whether a prompt can be put into the operation's requests.
func (o *operation) composes() bool { return o.endpoint.IsChat() || o.counts() }

// generates reports whether a model writes text.
func (o *operation) generates() bool { return o.endpoint.IsChat() || o.endpoint == driver.Completions }

// endsItself reports whether the last event of a stream is sent for a complete response only. The
// end of OpenAI's chats is sent by some providers after they broke off.
func (o *operation) endsItself() bool {
	return o.endpoint != driver.Chat && o.endpoint != driver.Completions
}

// replyID returns the id of a translated stream. A provider's own id comes too late for the
// events before it.
func (o *operation) replyID(request id.Request) string {
	prefix := "chatcmpl-"
	switch o.endpoint { //nolint:exhaustive // no other operation is translated
	case driver.Messages:
		prefix = "msg_"
	case driver.Responses:
		prefix = "resp_"
	case driver.Completions:
		prefix = "cmpl-"
	}
	return prefix + strings.TrimPrefix(string(request), "req_")
}

// errorBody returns the body of an error in the language of the operation's callers; in OpenAI's
// for a path without an operation.
func (o *operation) errorBody(e *fault.Error, request string) []byte {
	if o == nil {
		return e.OpenAI()
	}
	return o.language.EncodeError(e, request)
}

// readers returns the reader of each operation, by call type.
func readers() map[string]reader {
	chat := reader{scan: splice.Scan, texts: texts.Chat(), reply: splice.Reply, event: splice.Chunk}
	text := reader{texts: texts.Inputs(), reply: splice.List}
	with := func(r reader, change func(*reader)) reader {
		change(&r)
		return r
	}
	return map[string]reader{
		dataplane.Chat: chat,
		dataplane.Messages: with(chat, func(r *reader) {
			r.texts, r.reply, r.event = texts.Messages(), splice.Message, splice.MessageEvent
		}),
		dataplane.Responses: with(chat, func(r *reader) {
			r.scan, r.texts, r.reply, r.event = splice.ScanModel, texts.Responses(), splice.Response, splice.ResponseEvent
		}),
		dataplane.MessagesCount: {
			scan: splice.Scan, texts: texts.Messages(), reply: splice.TokenCount, decode: anthropic.DecodePrompt, free: true,
		},
		dataplane.ResponsesCount: {
			scan: splice.ScanModel, texts: texts.Responses(), reply: splice.TokenCount, decode: responses.Dialect{}.DecodeRequest, free: true,
		},
		dataplane.Completions: with(chat, func(r *reader) {
			r.scan, r.texts = splice.ScanInputs(splice.Prompt), texts.Completions()
		}),
		dataplane.Embeddings: with(text, func(r *reader) {
			r.scan, r.check, r.form = splice.ScanInputs(splice.Input), everyVector, vectors
		}),
		dataplane.Moderations: with(text, func(r *reader) {
			r.scan, r.free = splice.ScanInputs(splice.Input), true
		}),
		dataplane.Images: with(text, func(r *reader) {
			r.scan, r.texts, r.units, r.event = splice.ScanInputs(splice.Prompt), texts.Images(), pictures, splice.ImageEvent
		}),
		dataplane.ImageEdits: with(text, func(r *reader) {
			r.scan, r.texts, r.units, r.event = splice.ScanForm("image"), texts.Images(), pictures, splice.ImageEvent
		}),
		dataplane.Speech: with(text, func(r *reader) {
			r.scan, r.texts, r.event = splice.ScanInputs(splice.Input), texts.Sound(), splice.AudioEvent
		}),
		dataplane.Transcriptions: with(text, func(r *reader) {
			r.scan, r.texts, r.reply, r.event = splice.ScanForm("file"), texts.Sound(), splice.Transcript, splice.AudioEvent
		}),
		dataplane.Translations: with(text, func(r *reader) {
			r.scan, r.texts, r.reply = splice.ScanForm("file"), texts.Sound(), splice.Transcript
		}),
		dataplane.Rerank: with(text, func(r *reader) {
			r.scan, r.texts, r.units = splice.ScanInputs(splice.Query, splice.Documents), texts.Ranks(), searchUnits
		}),
	}
}

// languages returns the languages of callers, by name.
func languages() map[string]dialect.Dialect {
	return map[string]dialect.Dialect{
		string(wire.OpenAI):      openai.Dialect{},
		string(wire.Completions): openai.Completions{},
		string(wire.Anthropic):   anthropic.Dialect{},
		string(wire.Responses):   responses.Dialect{},
	}
}

// operations returns the operations by path.
func operations() map[string]*operation {
	out := make(map[string]*operation)
	for _, row := range dataplane.Operations() {
		op := &operation{
			callType: row.CallType, language: languages()[row.Language], endpoint: driver.Endpoint(row.Path),
			request: row.Request, response: row.Response, stream: row.Stream, streamed: row.Stream + "; charset=utf-8", reader: readers()[row.CallType],
		}
		for _, path := range row.Paths() {
			out[path] = op
		}
	}
	return out
}

// operation returns the operation of a path, and the model that the path names; nil if there is
// none.
func (p *Pipeline) operation(path string) (op *operation, model string) {
	if op = p.operations[path]; op != nil {
		return op, ""
	}
	name, rest, ok := dataplane.PathModel(path)
	if !ok {
		return nil, ""
	}
	if text, err := url.PathUnescape(name); err == nil {
		name = text
	}
	return p.operations[rest], name
}
