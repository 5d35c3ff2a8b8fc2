package extproc

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// receive takes the answer: its headers, which m is, and what follows them.
func (d *session) receive(ctx context.Context, m *frame.Message) error {
	inject.Crash("request.answered")
	x := d.x
	x.response.head = readHead(m)
	h := &x.response.head
	x.Tries = max(h.tries, 1)
	x.requestID = h.requestID
	if x.Tries > len(x.Plan) {
		return fmt.Errorf("envoy made attempt %d of a plan of %d", x.Tries, len(x.Plan))
	}
	x.madeAll(x.Tries)
	if !h.local {
		x.Status = h.status
	}
	switch {
	case h.local || h.status >= 300:
		return d.failed(ctx, m, h)
	case x.Facts.Stream:
		return d.streamed(ctx, m, h)
	}
	return d.unstreamed(ctx, m)
}

// response is a provider's whole response on its way to the caller.
type response struct {
	head    head
	body    []byte          // the provider's
	tooLong bool            // the body is only the beginning
	out     []byte          // the caller's; the body itself if nothing changes
	outcome Outcome         // set by translate
	cost    money.Pico      // set by record
	headers *frame.Mutation // set by address
}

// accept rejects a response that is too long or of another form than requested.
func (p *Pipeline) accept(_ context.Context, x *Exchange) error {
	if x.response.tooLong {
		return errTooLong
	}
	return acceptable(&x.response.head, x.op.response)
}

// translate turns the provider's response into the caller's, and reads its usage.
func (p *Pipeline) translate(_ context.Context, x *Exchange) error {
	r := &x.response
	r.outcome = Outcome{Kind: journal.Success, Bytes: int64(len(r.body))}
	if x.sameDialect(x.last()) {
		return p.relabel(x)
	}
	o := &r.outcome
	reply, err := x.last().Provider.Driver.Decode(r.body)
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
		o.Text = generated(reply)
		reply.Usage.Tokens, reply.Usage.Source = p.consumed(x, o, trouble{})
	}
	r.out = dialect.ByName(x.op.language).EncodeReply(make([]byte, 0, len(r.body)+512), reply, x.meta())
	return nil
}

// relabel is translate where the provider speaks the caller's language: only the name of
// the model changes.
func (p *Pipeline) relabel(x *Exchange) error {
	r := &x.response
	o, body := &r.outcome, r.body
	facts := splice.ReplyFacts{Most: x.most(o.Bytes)}
	if err := splice.Reply(body, &facts); err != nil {
		return err
	}
	if facts.HasError() {
		return x.last().Provider.Driver.Classify(502, none, body)
	}
	p.answeredBy(x, facts.Model.Of(body))
	o.FinishReason = facts.FinishReason
	x.Tier = unquoted(facts.ServiceTier.Of(body))
	if facts.HasUsage {
		o.Usage = wire.Usage{Tokens: facts.Tokens, Source: usage.Provider}
	} else {
		o.Usage.Bad = facts.BadUsage
		facts.Collect = true
		_ = splice.Reply(body, &facts) // it was read once already
		o.Text = facts.Text
	}
	if r.out = body; !facts.Model.Empty() {
		r.out = splice.Replace(nil, body, facts.Model, splice.Quote(nil, x.Facts.Model))
	}
	return nil
}

// generated is all text of an answer, for counting.
func generated(r *wire.Reply) []byte {
	var out []byte
	for i := range r.Choices {
		c := &r.Choices[i]
		out = append(append(out, c.Text...), c.Refusal...)
		for j := range c.Thinking {
			out = append(out, c.Thinking[j].Text...)
		}
		for j := range c.ToolCalls {
			out = append(append(out, c.ToolCalls[j].Name...), c.ToolCalls[j].Arguments...)
		}
	}
	return out
}

// unquoted is a JSON string without its quotes: for names that have no escapes.
func unquoted(raw []byte) string { return strings.Trim(string(raw), `"`) }

// none is the header of an answer that has none to ask for.
func none(string) string { return "" }

// meta is what the gateway says about an answer.
func (x *Exchange) meta() dialect.Meta {
	x.mu.Lock()
	defer x.mu.Unlock()
	return dialect.Meta{
		Model: x.Facts.Model, Created: x.Start.Unix(), IncludeUsage: x.Facts.IncludeUsage,
		Functions: x.mu.ask != nil && x.mu.ask.Functions,
	}
}

// record settles the request. The caller gets nothing of a whole response before both the
// intent and the settle are on disk.
func (p *Pipeline) record(ctx context.Context, x *Exchange) error {
	r := &x.response
	x.awaitEarlier(ctx)
	r.outcome.status = http.StatusOK
	pending, cost := p.settle(ctx, x, r.outcome)
	r.cost = cost
	return p.synced(ctx, x, pending)
}

// address makes the headers of the caller's response.
func (p *Pipeline) address(_ context.Context, x *Exchange) error {
	r := &x.response
	r.headers = p.answerHeaders(x, &r.head)
	r.headers.Set = append(r.headers.Set,
		frame.Header{Name: headerContentLength, Value: strconv.Itoa(len(r.out))},
		frame.Header{Name: headerContentType, Value: contentTypeJSON},
		costHeader(r.cost),
		durationHeader(p.deps.Now().Sub(x.Start)))
	return nil
}

// synced waits until what was recorded of the exchange is on disk.
func (p *Pipeline) synced(ctx context.Context, x *Exchange, settle *journal.Pending) error {
	if settle != nil && inject.HasDefect("event_before_settle") {
		return nil
	}
	if settle != nil { // it is written in one batch with, or after, the intents
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

// broken is the error for an answer with a good status that is no answer.
func (p *Pipeline) broken(x *Exchange, err error) *fault.Error {
	x.report(x.lastIndex(), trouble{
		status: x.Status, code: "upstream_invalid_response", kind: fault.Upstream, reached: true, cause: causeInvalidAnswer, requestID: x.requestID,
	})
	p.rest(x, x.lastIndex(), &wire.Failure{Kind: fault.Upstream, Status: 502, CoolDown: true})
	return &fault.Error{
		Kind: fault.Upstream, Code: "upstream_invalid_response", Err: err,
		Detail: "The provider's answer could not be understood.",
	}
}

// abandon settles an exchange whose stream ended before its answer did: the
// caller left, the provider broke off, or the attempt's time was over.
//
// The attempt log says which, but has no entry for the last of these: Envoy then notes
// the timeout at the request alone. A caller that has no headers yet gets Envoy's own
// response, with the status that is recorded here. Nobody
// waits for the sync: the record is queued, and Run writes what is queued even
// when it is told to stop.
func (p *Pipeline) abandon(ctx context.Context, x *Exchange, o Outcome) {
	o.Kind, o.Code = journal.Canceled, codeCanceled
	sent := o.status // the caller has the headers; else 0
	if sent == 0 {
		o.status = statusLeft
	}
	late := x.overdue(p.deps.Now())
	if x.Tries == 0 && !x.ended() {
		x.Tries = x.made(context.WithoutCancel(ctx))
	}
	if x.Status != 0 && !x.ended() {
		i := x.lastIndex()
		x.awaitTrouble(context.WithoutCancel(ctx), i+1)
		switch x.brokenBy(i, late) { //nolint:exhaustive // any other kind: the caller left
		case fault.Upstream:
			o.Kind, o.Code, o.status = journal.Failed, codeCut, cmp.Or(sent, http.StatusBadGateway)
		case fault.Timeout:
			o.Kind, o.Code, o.status = journal.Failed, "upstream_timeout", cmp.Or(sent, http.StatusGatewayTimeout)
			p.rest(x, i, &wire.Failure{Status: x.Status, Kind: fault.Timeout, CoolDown: true})
		}
	}
	p.settle(ctx, x, o)
}

// timerSlack is how much earlier than asked Envoy's timers may expire: its event loop
// looks at the clock once a turn.
const timerSlack = 50 * time.Millisecond

// overdue reports whether Envoy has ended the request because all attempts together
// took too long. A caller that leaves in the same moment is in the attempt log.
func (x *Exchange) overdue(now time.Time) bool {
	total := x.total()
	return x.Status != 0 && total > 0 && now.Sub(x.Start) >= total-timerSlack
}

// brokenBy says why attempt i, whose response had begun, did not end: Upstream,
// Timeout, or neither if the caller left.
func (x *Exchange) brokenBy(i int, late bool) fault.Kind {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mu.settled {
		return fault.Canceled
	}
	t := &x.mu.trouble[i]
	switch {
	case !t.known && late:
		x.reportLocked(i, trouble{status: x.Status, code: "upstream_timeout", kind: fault.Timeout, reached: true, cause: causeTimeoutTotal, requestID: x.requestID})
		return fault.Timeout
	case !t.known:
		return fault.Canceled
	case t.kind == fault.Upstream && t.cause == causeUnknown:
		t.cause = causeStreamCut
	}
	return t.kind
}

// brokeOff reports that the last attempt failed after a good status, and what the
// provider said of it. generated is the text that had come by then.
func (x *Exchange) brokeOff(f *wire.Failure, generated []byte) {
	t := trouble{status: x.Status, code: reason(f), kind: f.Kind, reached: true, cause: causeStreamError, requestID: x.requestID}
	if f.Code == "upstream_invalid_response" {
		t.cause = causeInvalidAnswer
	}
	x.failureText(&t, x.lastIndex(), f, generated)
	x.report(x.lastIndex(), t)
}

const (
	codeCanceled = "canceled"     // why an attempt has no response: its caller left
	codeCut      = "upstream_cut" // the provider broke off in the middle of its response
	statusLeft   = 499            // the status of a request whose caller left before it got one
)

// ended reports whether the exchange was settled.
func (x *Exchange) ended() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mu.settled
}
