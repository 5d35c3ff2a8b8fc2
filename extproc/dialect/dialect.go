package dialect

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Dialect is a language of chat requests and responses. Implementations have no
// state and are safe for concurrent use.
type Dialect interface {
	// Name is the dialect's name in configuration and metrics.
	Name() wire.Dialect
	// DecodeRequest reads a request. The error is a *fault.Error that names the
	// field at fault and never quotes the request's texts.
	DecodeRequest(body []byte) (*wire.Request, error)
	// EncodeResponse appends a whole response to dst.
	EncodeResponse(dst []byte, r *wire.Response, m Meta) []byte
	// Stream returns an encoder for one streamed response.
	Stream(m Meta) Encoder
	// EncodeError returns the body of an error response. request is the id of the request,
	// for languages whose errors name it.
	EncodeError(e *fault.Error, request string) []byte
}

// Encoder writes one streamed response as server-sent events. Each method appends
// zero or more whole events to dst. An Encoder belongs to one stream and is not
// safe for concurrent use.
type Encoder interface {
	// Chunk writes one step.
	Chunk(dst []byte, c *wire.Chunk) []byte
	// End writes the end of a complete response, with the usage if the caller requested it.
	End(dst []byte, u *wire.Usage) []byte
	// Fail writes the end of a failed response: the caller must be able to tell it from End.
	Fail(dst []byte, e *fault.Error) []byte
}

// Meta is what the gateway itself writes into a response.
type Meta struct {
	ID           string // of the response; empty means the provider's, if there is one
	Model        string // the alias that the caller requested
	Created      int64  // unix seconds
	IncludeUsage bool   // streams only: the caller requested the usage at the end
	Functions    bool   // as wire.Request.Functions

	// Elapsed returns how long the request has taken so far; nil if that is not known.
	Elapsed func() time.Duration

	Echo  jsontext.Value // as wire.Request.Echo
	Usage *wire.Usage    // streams only: what is known of the usage so far, read when the response fails; may be nil
}
