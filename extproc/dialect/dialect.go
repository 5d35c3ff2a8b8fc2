package dialect

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Dialect is a language of chat requests and answers. Implementations have no
// state and are safe for concurrent use.
type Dialect interface {
	// Name is the dialect's name in configuration and metrics.
	Name() wire.Dialect
	// DecodeAsk reads a request. The error is a *fault.Error that names the
	// field at fault and never quotes the request's texts.
	DecodeAsk(body []byte) (*wire.Ask, error)
	// EncodeReply appends a whole answer to dst.
	EncodeReply(dst []byte, r *wire.Reply, m Meta) []byte
	// Stream returns an encoder for one streamed answer.
	Stream(m Meta) Encoder
	// EncodeError returns the body of a refusal.
	EncodeError(e *fault.Error) []byte
}

// Encoder writes one streamed answer as server-sent events. Each method appends
// zero or more whole events to dst. An Encoder belongs to one stream and is not
// safe for concurrent use.
type Encoder interface {
	// Chunk writes one step.
	Chunk(dst []byte, c *wire.Chunk) []byte
	// End writes the good end, with the usage if the caller asked for it.
	End(dst []byte, u *wire.Usage) []byte
	// Fail writes the bad end: the caller must be able to tell it from the good one.
	Fail(dst []byte, e *fault.Error) []byte
}

// Meta is what the gateway says about an answer, whatever the provider said.
type Meta struct {
	ID           string // of the answer; empty means the provider's, where there is one
	Model        string // the alias that the caller asked for
	Created      int64  // unix seconds
	IncludeUsage bool   // streams only: the caller asked for the usage at the end
	Functions    bool   // the caller speaks of functions, as wire.Ask.Functions
}
