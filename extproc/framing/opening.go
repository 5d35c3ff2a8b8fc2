package framing

import (
	"slices"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Opening is the start of a stream: as much as shows whether it is a response. It is not safe for concurrent use.
type Opening struct {
	split   Splitter
	decoder driver.Stream
	first   bool // the first event decides
	err     error
}

// Open returns the Opening of a stream. Without a codec any event is the start of a response.
func Open(f driver.Framing, c driver.Codec) *Opening {
	o := &Opening{split: New(f), first: f == driver.ServerSent || c == nil}
	if c != nil {
		o.decoder = c.Stream()
	}
	return o
}

// Piece takes a piece of the stream, and reports whether its start decides: it fails, or it has content. Of
// server-sent events the first one decides, since their providers may send nothing more for a long time.
func (o *Opening) Piece(piece []byte) (decided bool) {
	var e splice.Event
	o.split.Push(piece)
	for o.split.Next(&e) {
		if !e.HasData {
			continue
		}
		var chunks []wire.Chunk
		if o.decoder != nil {
			chunks, o.err = o.decoder.Event(nil, string(e.Type), e.Data)
		}
		if o.first || o.err != nil || slices.ContainsFunc(chunks, func(c wire.Chunk) bool { return c.Content() || c.Finish != "" }) {
			return true
		}
	}
	return o.split.Err() != nil // the relay reports it
}

// Err returns why the stream is no response, a *wire.Failure; nil if it is one, or is not decided.
func (o *Opening) Err() error { return o.err }
