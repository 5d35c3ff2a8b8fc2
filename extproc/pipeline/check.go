package pipeline

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/cause"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/framing"
	"github.com/modelgateway/modelgateway/extproc/reply"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Check inspects the response to attempt i before the caller gets it, and reports whether it
// is valid. Of a stream, start has its start and there is no body. An error with a good status is recorded
// as a failure, and the next attempt should be made.
func (p *Pipeline) Check(x *Exchange, i int, h *reply.Head, body []byte, start *framing.Opening) bool {
	f := x.failureIn(i, h, body)
	if start != nil && start.Err() != nil {
		f = failureOf(start.Err())
	}
	if f == nil {
		return true
	}
	t := attempt.Failure{Status: f.Status, Code: f.Reason(), Kind: f.Kind, Reached: true, Cause: cause.StreamError, RequestID: h.RequestID}
	if f.ContentFilter {
		t.Cause = cause.ContentFilter
	}
	x.failureText(&t, i, f, nil)
	x.report(i, t)
	return false
}

// Opening returns what reads the start of the stream with which attempt i responds; nil if the response is no stream.
func (x *Exchange) Opening(i int, h *reply.Head) *framing.Opening {
	a := &x.Plan[i]
	if x.op.Stream == "" || a.media(h) != x.op.Stream {
		return nil
	}
	var codec driver.Codec
	if x.endpoint(a).IsChat() { // no other response has a reason for its end
		codec = a.codec()
	}
	return framing.Open(a.framing(), codec)
}

// framing returns how the stream of an attempt's response is split into events.
func (a *Attempt) framing() driver.Framing { return framing.Of(a.Provider.Driver, a.language) }

// media returns the content type of an attempt's response, without regard to the framing of a stream.
func (a *Attempt) media(h *reply.Head) string { return framing.Media(a.framing(), h.Media) }

// failureIn returns why the attempt after attempt i should be made, nil if its response is valid or a stream.
func (x *Exchange) failureIn(i int, h *reply.Head, body []byte) *wire.Failure {
	a := &x.Plan[i]
	switch {
	case h.Status >= 300:
		if f := a.Provider.Driver.Classify(h.Status, h.Value, body); f.ContentFilter {
			return f
		}
		return nil
	case !x.endpoint(a).IsChat(): // no other answer has a reason for its end
		return nil
	case a.media(h) == x.op.Stream:
		return nil
	}
	reply, err := a.codec().Decode(body)
	if err != nil {
		return failureOf(err)
	}
	for i := range reply.Choices {
		if reply.Choices[i].Finish != wire.FinishFilter {
			return nil
		}
	}
	if len(reply.Choices) == 0 {
		return nil
	}
	return &wire.Failure{Status: h.Status, Kind: fault.Blocked, Code: "content_filter", ContentFilter: true}
}
