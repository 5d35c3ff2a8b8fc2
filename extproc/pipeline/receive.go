package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/metering"
	"github.com/modelgateway/modelgateway/extproc/reply"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// maxErrorBytes bounds how much of a provider's error is read: its type and message are
// at the beginning.
const maxErrorBytes = 64 << 10

var errTooLong = errors.New("longer than limits.max_response_bytes")

// response is a provider's response on its way to the caller.
type response struct {
	head     reply.Head
	inPieces bool              // it is passed on as it comes
	speech   bool              // it has speech in it, which is restored
	media    string            // content type of a restored one; empty if it keeps its own
	body     []byte            // the provider's: all of it, or the beginning of a failure
	tooLong  bool              // the body is only the beginning
	out      []byte            // the caller's; the body itself if nothing changes
	relay    *Relay            // of a stream whose head has been sent to the caller
	err      error             // why a stage has stopped the response
	fault    *fault.Error      // what the caller gets instead of the response
	outcome  Outcome           // set by translate, explain, and Relay
	facts    splice.ReplyFacts // set by relabel
	final    bool              // the outcome no longer changes
	cost     money.Pico        // set by record

	// Set by address: one of the two goes to the caller.
	edit    *message.Edit
	instead *message.Response
}

// Receive takes the head of a response, and chooses the stages. It returns how much of the body
// Finish needs at most, in bytes. If that is 0, the response is a stream: what Answer returns
// can go to the caller, and Relay takes the pieces. An error ends the request without a response.
func (p *Pipeline) Receive(ctx context.Context, x *Exchange, h reply.Head) (limit int64, err error) {
	inject.Crash("request.answered")
	r := &x.response
	r.head = h
	x.Tries = max(h.Tries, 1)
	x.requestID = h.RequestID
	if x.Tries > len(x.Plan) {
		return 0, fmt.Errorf("the proxy made attempt %d of a plan of %d", x.Tries, len(x.Plan))
	}
	x.madeAll(x.Tries)
	r.head.Media = x.last().media(&h)
	if !h.Local {
		x.Status = h.Status
	}
	if x.op.Passes() {
		return p.receivePassed(ctx, x)
	}
	r.speech = x.restoresSpeech(r.head.Media)
	r.inPieces = !r.speech && x.op.Streams(x.Facts.Stream, r.head.Media)
	switch {
	case h.Failed():
		return maxErrorBytes, nil
	case !r.inPieces:
		return p.deps.Settings.MaxResponseBytes, nil
	}
	if r.err = p.run(ctx, x, p.streamed); r.err != nil {
		return maxErrorBytes, nil //nolint:nilerr // explain reports it to the caller
	}
	return 0, nil
}

// Finish takes the body of a response, or the beginning of one that is too long.
func (p *Pipeline) Finish(ctx context.Context, x *Exchange, body []byte, tooLong bool) error {
	r := &x.response
	r.body, r.tooLong = body, tooLong
	if !r.head.Failed() && r.err == nil {
		if r.err = p.run(ctx, x, p.whole); r.err == nil {
			return nil
		}
	}
	return p.run(ctx, x, p.failed)
}

// Answer returns what goes to the caller: the edits of the response, or another one instead.
func (x *Exchange) Answer() (edit *message.Edit, instead *message.Response) {
	return x.response.edit, x.response.instead
}

// accept rejects a response that is too long or of another form than requested.
func (p *Pipeline) accept(_ context.Context, x *Exchange) error {
	r := &x.response
	switch {
	case r.tooLong:
		return errTooLong
	case r.head.Encoding != "" && r.head.Encoding != "identity":
		return errors.New("content-encoding " + r.head.Encoding + " was not requested")
	case !r.speech && !x.op.Answers(r.head.Media, r.inPieces):
		return errors.New("content-type is not that of a response to the request")
	case r.inPieces && r.head.Media == x.op.Stream && x.rewritten() && x.speaker() == nil:
		return errors.New("content-type is that of events, which the provider does not send")
	case r.head.Empty && r.inPieces:
		return errors.New("the stream has no events")
	}
	return nil
}

// translate turns the provider's response into the caller's, and reads its usage.
func (p *Pipeline) translate(_ context.Context, x *Exchange) error {
	r := &x.response
	r.outcome, r.final = Outcome{Kind: journal.Success, Output: metering.Output{Bytes: int64(len(r.body))}, status: http.StatusOK}, true
	if x.sameDialect(x.last()) {
		return p.relabel(x, r.body)
	}
	if rewriter := x.rewriter(x.last().Provider); rewriter != nil {
		return p.restore(x, rewriter)
	}
	o := &r.outcome
	reply, err := x.last().codec().Decode(r.body)
	if err != nil {
		return err
	}
	p.answeredBy(x, splice.Quote(nil, reply.Model))
	o.Usage = reply.Usage
	x.Tier = reply.ServiceTier
	if n := len(reply.Choices); n > 0 {
		o.FinishReason = string(reply.Choices[n-1].Finish)
	}
	if !o.Usage.Known() {
		o.Text = reply.Generated()
		reply.Usage.Tokens, reply.Usage.Source = p.consumed(x, o, attempt.Failure{})
	}
	p.sealCalls(x, reply)
	x.names().Response(reply)
	r.out = x.op.Language.EncodeResponse(make([]byte, 0, len(r.body)+512), reply, x.meta(p))
	return nil
}

// relabel is translate for a body in the caller's dialect: only names change.
func (p *Pipeline) relabel(x *Exchange, body []byte) error {
	r := &x.response
	o := &r.outcome
	if x.op.Hears() && r.head.Media != x.op.Response { // text or subtitles
		o.Text, r.out = body, body
		return nil
	}
	facts := &r.facts
	facts.Most = x.estimated().Most(o.Bytes)
	if err := x.op.Reply(body, facts); err != nil {
		return err
	}
	if facts.HasError() {
		return x.last().Provider.Driver.Classify(502, none, body)
	}
	if x.op.Check != nil {
		if err := x.op.Check(&x.Facts, facts); err != nil {
			return err
		}
	}
	p.answeredBy(x, facts.Model.Of(body))
	o.FinishReason = facts.FinishReason
	x.Tier = unquoted(facts.ServiceTier.Of(body))
	if facts.HasUsage {
		o.Usage = wire.Usage{Tokens: facts.Tokens, Source: usage.Provider}
	} else {
		o.Usage.Bad = facts.BadUsage
		facts.Collect = true
		_ = x.op.Reply(body, facts) // it was read once already
		o.Text = facts.Text
	}
	r.out = p.renamed(x, facts, body)
	if x.op.Form != nil {
		r.out = x.op.Form(&x.Facts, facts, r.out)
	}
	return nil
}

// renamed returns a response with the caller's name for the model, and the caller's ids.
func (p *Pipeline) renamed(x *Exchange, f *splice.ReplyFacts, body []byte) []byte {
	var name []byte
	if !f.Model.Empty() {
		name = splice.Quote(nil, x.Facts.Model)
	}
	var space [3]splice.Edit
	edits := p.appendIDs(space[:0], x, f, body)
	if len(edits) == 0 {
		return splice.Replace(nil, body, f.Model, name)
	}
	if !f.Model.Empty() {
		edits = append(edits, splice.Edit{Off: f.Model.Off, End: f.Model.End, With: string(name)})
	}
	slices.SortFunc(edits, func(a, b splice.Edit) int { return a.Off - b.Off })
	return splice.Apply(nil, body, edits)
}

// unquoted returns a JSON string without its quotes, for names without escapes.
func unquoted(raw []byte) string { return strings.Trim(string(raw), `"`) }

// none looks up headers of a response that has none.
func none(string) string { return "" }

// meta returns what the gateway adds to a response.
func (x *Exchange) meta(p *Pipeline) dialect.Meta {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := dialect.Meta{Model: x.Facts.Model, Created: x.Start.Unix(), IncludeUsage: x.Facts.IncludeUsage}
	m.Elapsed = func() time.Duration { return p.deps.Now().Sub(x.Start) }
	if r := x.mu.request; r != nil {
		m.Functions, m.Echo = r.Functions, r.Echo
	}
	return m
}

// record settles the request if its outcome is final. The caller gets no byte of a response
// before its intents are on disk, and not its end before the settle is. After a crash before
// the intents' sync there may be no record, and the caller has seen nothing. After a crash
// between the two there are the intents, and the caller has not seen the end.
func (p *Pipeline) record(ctx context.Context, x *Exchange) error {
	r := &x.response
	x.awaitEarlier(ctx)
	var pending *journal.Pending
	if r.final {
		pending, r.cost = p.settle(ctx, x, r.outcome)
	}
	if err := p.synced(ctx, x, pending); err != nil {
		r.fault = fault.From(err)
	}
	return nil
}

// address makes the headers of the caller's response, or the error that takes its place.
func (p *Pipeline) address(_ context.Context, x *Exchange) error {
	r := &x.response
	if r.fault != nil {
		r.instead = p.errorResponse(x, r.fault)
		return nil //nolint:nilerr // the error goes to the caller
	}
	e := p.answerHeaders(x, &r.head)
	switch {
	case r.inPieces && r.head.Media != x.op.Stream: // sound, of the type that the provider says
		e.Remove = append(e.Remove, headerContentLength)
	case r.inPieces:
		e.Set = append(e.Set,
			message.Header{Name: headerContentType, Value: x.op.StreamType(x.reframed)},
			message.Header{Name: "cache-control", Value: "no-cache"},
			message.Header{Name: "x-accel-buffering", Value: "no"})
		e.Remove = append(e.Remove, headerContentLength)
	default:
		if events, ok := x.op.AsEvents(&x.Facts, r.out); ok && x.rewritten() {
			r.out, r.media = events, x.op.Streamed
		}
		e.Set = append(e.Set,
			message.Header{Name: headerContentLength, Value: strconv.Itoa(len(r.out))},
			costHeader(r.cost),
			durationHeader(p.deps.Now().Sub(x.Start)))
		if x.op.Counts() {
			e.Set = append(e.Set, message.Header{Name: headerTokenCount, Value: countedByProvider})
		}
		switch {
		case r.media != "":
			e.Set = append(e.Set, message.Header{Name: headerContentType, Value: r.media})
		case !x.op.Hears():
			e.Set = append(e.Set, message.Header{Name: headerContentType, Value: x.op.Response})
		}
		e.Body, e.Replace = r.out, len(r.body) == 0 || len(r.out) != len(r.body) || &r.out[0] != &r.body[0]
	}
	r.edit = e
	return nil
}

// synced waits until what was recorded of the exchange is on disk.
func (p *Pipeline) synced(ctx context.Context, x *Exchange, settle *journal.Pending) error {
	if settle != nil && inject.HasDefect("event_before_settle") {
		return nil
	}
	if settle != nil { // written in one batch with the intents, or after them
		err := settle.Wait(ctx)
		inject.Crash("request.settled")
		return err
	}
	x.mu.Lock()
	intents := x.mu.intents
	x.mu.Unlock()
	for _, in := range intents {
		if err := in.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// answeredBy records the model that the provider reports, given as JSON. The first name of a
// stream counts.
func (p *Pipeline) answeredBy(x *Exchange, raw []byte) {
	if x.answered == "" {
		x.answered = p.deps.Metrics.Model(x.last().Deployment.ID, raw)
	}
}
