package pipeline

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/cause"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Check inspects the response to attempt i before the caller gets it, and reports whether it
// is valid. Of a stream, body is the first event. An error with a good status is recorded
// as a failure, and the next attempt should be made.
func (p *Pipeline) Check(x *Exchange, i int, h *Head, body []byte) bool {
	f := x.failureIn(i, h, body)
	if f == nil {
		return true
	}
	t := AttemptFailure{Status: f.Status, Code: reason(f), Kind: f.Kind, Reached: true, Cause: cause.StreamError, requestID: h.requestID}
	if f.ContentFilter {
		t.Cause = cause.ContentFilter
	}
	x.failureText(&t, i, f, nil)
	x.report(i, t)
	return false
}

// IsStream reports whether a response has the form of a stream.
func (x *Exchange) IsStream(h *Head) bool { return h.media == x.op.Stream }

// failureIn returns why the attempt after attempt i should be made, nil if its response is valid.
func (x *Exchange) failureIn(i int, h *Head, body []byte) *wire.Failure {
	a := &x.Plan[i]
	switch {
	case h.Status >= 300:
		if f := a.Provider.Driver.Classify(h.Status, h.value, body); f.ContentFilter {
			return f
		}
		return nil
	case !x.endpoint(a).IsChat(): // no other answer has a reason for its end
		return nil
	case x.IsStream(h):
		if _, err := a.codec().Stream().Event(nil, "", body); err != nil {
			return failureOf(err)
		}
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
