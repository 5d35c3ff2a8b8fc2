// Package framing splits the streams of providers into events, whatever these mean. A driver says which framing the
// streams of a language have (driver.Framer). Most are server-sent events. AWS's are binary; from here on they are
// handled like server-sent events of the same meaning, and their content type is that of those.
package framing

import (
	"bytes"
	"net/http"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/eventstream"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Splitter splits a stream into its events; splice.Splitter says how. It is not safe for concurrent use.
type Splitter interface {
	Push(piece []byte)
	Next(e *splice.Event) bool
	Last(e *splice.Event) bool
	Held() int
	Err() error
}

// Of returns the framing of the streams of a provider's language.
func Of(d driver.Driver, language wire.Dialect) driver.Framing {
	if f, ok := d.(driver.Framer); ok {
		return f.Framing(language)
	}
	return driver.ServerSent
}

// Passed is New for a stream whose events go to a caller of its language: each has its Raw.
func Passed(f driver.Framing) Splitter {
	if f == driver.AWSEvents {
		return &eventstream.Splitter{Sent: true}
	}
	return New(f)
}

// New returns a Splitter for one stream.
func New(f driver.Framing) Splitter {
	switch f {
	case driver.AWSEvents:
		return &eventstream.Splitter{}
	case driver.AWSChunks:
		return &eventstream.Splitter{Chunks: true}
	case driver.ServerSent:
	}
	return &splice.Splitter{}
}

// serverSent is the content type of server-sent events.
const serverSent = "text/event-stream"

// Media returns the content type of a response without regard to the framing of a stream: that of server-sent
// events for a stream of the framing, and none for a stream of another one.
func Media(f driver.Framing, media string) string {
	switch {
	case f == driver.ServerSent:
		return media
	case media == eventstream.Media:
		return serverSent
	case media == serverSent:
		return ""
	}
	return media
}

// Failure returns the failure that an event is because of its framing, in whatever language the others are; nil if
// it is none.
func Failure(f driver.Framing, d driver.Driver, e *splice.Event) *wire.Failure {
	if f == driver.ServerSent || !eventstream.IsFailure(e.Type) {
		return nil
	}
	kind := string(e.Type)
	return d.Classify(http.StatusOK, func(name string) string {
		if name == "x-amzn-errortype" {
			return kind
		}
		return ""
	}, bytes.Clone(e.Data))
}
