package pipeline

import (
	"cmp"
	"context"
	"time"

	events "github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/admission"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/metrics"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/strategy"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// settle turns the outcome into usage events, one for each attempt that reached its provider,
// and queues them together with the end of their intents. The last event is final. Then settle
// ends the reservations: the journal has the cost before they are gone. Only the first call
// settles; later calls get nil. The caller waits on the Pending before the last byte leaves.
//
// A crash before the sync leaves the intents, which Open settles as estimated; a crash after
// it leaves the events. Nothing in between can be on disk.
func (p *Pipeline) settle(ctx context.Context, x *Exchange, o Outcome) (*journal.Pending, money.Pico) {
	x.mu.Lock()
	if x.mu.settled {
		x.mu.Unlock()
		return nil, 0
	}
	x.mu.settled = true
	intents, failed := x.mu.intents, x.mu.failures.All()
	x.releaseSlotLocked()
	x.mu.Unlock()

	ctx = context.WithoutCancel(ctx) // the caller may have disconnected; the usage still counts
	end := p.deps.Now()
	last := x.lastIndex()
	failures := x.failures(failed, last, &o)
	p.logFailures(ctx, x, failures, failed)
	events := make([]journal.Event, 0, last+1)
	for i := range last {
		if e, ok := p.failedEvent(ctx, x, i, failed[i], end); ok && !inject.HasDefect("charge_once_per_request") {
			events = append(events, e)
		}
	}
	e := x.event(last, end)
	e.FirstToken = x.FirstToken
	if e.Status = x.Status; e.Status == 0 || e.Status == contract.StatusNext {
		e.Status = failed[last].Status
	}
	e.Failures, e.ClientStatus = failures, o.status
	e.Outcome = o.Kind
	e.ErrorCode = o.Code
	e.FinishReason = o.FinishReason
	e.Tokens, e.Source = p.consumed(x, &o, failed[last])
	e.UsageCapped = o.capped
	e.Cost = x.cost(e.Tokens)
	if x.op.Passes() {
		e.PassedBytes = o.Bytes
	}
	if o.Kind == journal.Success && !x.op.Passes() { // which says nothing of a model
		p.coolDownEarlier(x)
		p.deps.Cooldown.Succeed(e.Deployment)
	}
	e.Final = true
	x.addGuardrails(&e.Result)
	asked := o.Kind == journal.Success || !failed[last].Known || failed[last].Reached
	if asked {
		events = append(events, e)
	}
	used := admission.Sum(events)
	if !asked {
		events = append(events, notSent(e))
	}
	x.addFallbacks(events, failed)
	x.overhead = p.deps.Metrics.Settled(ctx, x.measured(), &e)
	p.logEnded(ctx, x, &e)
	pending := p.deps.Journal.Settle(intents, events)
	p.admission.Settle(&x.admission, end, used)
	return pending, e.Cost
}

// Error codes of attempts without a better one.
const (
	codeUnknown       = attempt.CodeUnknown           // no report says why it failed
	codeAllInCooldown = "all_deployments_in_cooldown" // no attempt was made: every deployment of the group is in cooldown
)

// addFallbacks writes into each event which fallbacks were taken since the one before.
func (x *Exchange) addFallbacks(events []journal.Event, failed []attempt.Failure) {
	told := 0
	for i := range events {
		for ; told < events[i].Number; told++ {
			if f, ok := x.fallback(told, failed); ok {
				events[i].Fallbacks = append(events[i].Fallbacks, f)
			}
		}
	}
}

// fallback returns the step to attempt i of the plan, if it leads to another group: from
// the attempt before it, or from a group whose deployments are all in cooldown.
func (x *Exchange) fallback(i int, failed []attempt.Failure) (journal.Fallback, bool) {
	f := journal.Fallback{From: string(x.Model), To: x.Plan[i].Target, ErrorCode: codeAllInCooldown}
	if x.startsAtFallback {
		f.ErrorCode = strategy.CodeAtLimit
	}
	if i == 0 {
		return f, x.Plan[0].Hop != 0
	}
	before, t := &x.Plan[i-1], failed[i-1]
	if before.Hop == x.Plan[i].Hop {
		return f, false
	}
	d := before.Deployment
	f.Attempt, f.Deployment, f.Provider, f.Model = i, d.ID, d.Provider, d.Model
	f.From, f.Status, f.ErrorCode = cmp.Or(before.Target, f.From), t.Status, t.Code
	if !t.Known {
		f.ErrorCode = codeUnknown
	}
	return f, true
}

// notSent returns the final event of a request whose last attempt did not reach its provider:
// the attempt has no event, but the end is recorded.
func notSent(e journal.Event) journal.Event {
	e.Notice, e.Charges = &journal.Notice{Type: events.TypeRequestFailed, Code: e.ErrorCode}, nil
	return e
}

// consumed returns the usage of the last attempt: as the provider reports it, within what is
// possible, else as counted.
func (p *Pipeline) consumed(x *Exchange, o *Outcome, t attempt.Failure) (found usage.Tokens, source usage.Source) {
	if x.op.Passes() && (t.Reached || !t.Known) {
		return usage.Tokens{}, usage.Unpriced
	}
	if !o.Usage.Known() && t.Free() { // no provider charges for it
		return usage.Tokens{}, usage.None
	}
	m := x.meter()
	o.Media, o.Complete = x.response.head.Media, o.Kind == usage.Success
	found, source, o.capped = m.Used(p.deps.Tokens, x.last().Deployment, &o.Output, func() (*wire.Request, error) { return p.canonical(x) })
	return found, source
}

// tokenizer names the model whose vocabulary applies.
func (x *Exchange) tokenizer() string { return estimate.Vocabulary(x.last().Deployment) }

// failedEvent returns the event of an attempt that another one followed. There is none if the
// attempt did not reach its provider. If it timed out, the provider has read it, so its input
// counts. If the provider rejected it, it cost nothing.
func (p *Pipeline) failedEvent(ctx context.Context, x *Exchange, i int, t attempt.Failure, end time.Time) (journal.Event, bool) {
	if t.Known && !t.Reached {
		return journal.Event{}, false
	}
	e := x.event(i, end)
	e.Outcome = journal.Failed
	e.Status = t.Status
	e.ErrorCode = t.Code
	e.Failures = []usage.Failure{t.Record(i, x.Plan[i].Deployment)}
	if t.Status == 0 && !x.op.Free {
		d := x.Plan[i].Deployment
		m := x.meter()
		e.Tokens, e.Source = m.Input(d, m.Count(p.deps.Tokens, x.last().Deployment, func() (*wire.Request, error) { return p.canonical(x) }))
		e.Cost = m.Prices(d, &e.Tokens).Cost(e.Tokens, x.tier())
	}
	if !t.Known {
		e.ErrorCode = codeUnknown
	}
	p.deps.Metrics.Failed(ctx, x.measured(), &e)
	return e, true
}

// event returns the fields that all events of the exchange share.
func (x *Exchange) event(i int, end time.Time) journal.Event {
	return journal.Event{
		Attempt: x.attempt(i),
		Result:  usage.Result{End: end, FallbackCount: i, ServiceTier: string(x.tier())},
	}
}

// measured returns what the metrics need beyond an event.
func (x *Exchange) measured() metrics.Request {
	return metrics.Request{Group: x.Group.Name, Model: x.answered, Start: x.Start, Bounds: x.bounds}
}

// steps counts the retries and the fallbacks that lead to attempt i of the plan. A
// request for a group in cooldown begins with a fallback.
func (x *Exchange) steps(i int) usage.Steps {
	s := usage.Steps{Counted: true}
	hop := 0
	for j := range i + 1 {
		switch {
		case x.Plan[j].Hop != hop:
			s.Fallbacks++
			hop = x.Plan[j].Hop
		case j > 0:
			s.Retries++
		}
	}
	return s
}

// tier is the service tier of the response: as the provider reports it, else as the caller
// requested it.
func (x *Exchange) tier() price.Tier {
	if x.Tier != "" {
		return price.ParseTier(x.Tier)
	}
	if !x.Facts.Has(splice.ServiceTier) {
		return price.Standard
	}
	name, err := x.Facts.Text(splice.ServiceTier)
	if err != nil {
		return price.Standard
	}
	return price.ParseTier(name)
}

// cost returns what tokens cost at the deployment that answered.
func (x *Exchange) cost(t usage.Tokens) money.Pico {
	m := x.meter()
	return m.Prices(x.last().Deployment, &t).Cost(t, x.tier())
}

// outcomeOf is the outcome of a request whose last attempt failed.
func outcomeOf(e *fault.Error) Outcome {
	return Outcome{Kind: journal.Failed, Code: codeOf(e)}
}
