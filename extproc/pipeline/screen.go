package pipeline

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// quiet is how long a guardrail may hold back all of a stream before a comment keeps the caller's
// connection open.
const quiet = 5 * time.Second

// openScreen prepares a relay for the guardrails of its response. They examine the events that go to the
// caller, in the caller's language, so they need to know no provider.
func (p *Pipeline) openScreen(r *Relay) {
	x := r.x
	if !x.guardrails.Post() || r.raw {
		return
	}
	r.screen = x.guardrails.NewStream(x.op.Texts, x.op.Structured(x.Facts.Document()))
	r.silent = p.deps.Now()
}

// screened runs what appends events to the output, and puts in their place what the guardrails leave.
func (r *Relay) screened(ctx context.Context, run func()) {
	if r.screen == nil {
		run()
		return
	}
	before := len(r.out)
	run()
	if len(r.out) == before {
		return
	}
	start := r.p.deps.Now()
	r.outside = append(r.outside[:0], r.out[before:]...)
	r.out = r.out[:before]
	r.events.Push(r.outside)
	var e splice.Event
	var err error
	for err == nil && r.events.Next(&e) {
		r.out, err = r.screen.Event(ctx, r.out, &e)
	}
	now := r.p.deps.Now()
	r.x.guardTime.response += max(now.Sub(start), 1)
	switch {
	case err != nil:
		r.stop(err)
	case len(r.out) > 0:
		r.silent = now
	case now.Sub(r.silent) >= quiet:
		r.out, r.silent = append(r.out, ":\n\n"...), now
	}
}

// endScreen passes on what is held back when the stream has ended.
func (r *Relay) endScreen(ctx context.Context) {
	if r.screen == nil {
		return
	}
	start := r.p.deps.Now()
	out, err := r.screen.End(ctx, r.out)
	r.p.since(&r.x.guardTime.response, start)
	if r.out = out; err != nil {
		r.stop(err)
	}
	r.closeScreen()
}

func (r *Relay) closeScreen() {
	if r.screen != nil {
		r.screen.Release()
		r.screen = nil
	}
}

// Stopped reports whether a guardrail has blocked the stream. The caller has got the error event; nothing of
// the provider's stream is needed any more.
func (r *Relay) Stopped() bool { return r.stopped }

// stop ends the stream because a guardrail has blocked it.
func (r *Relay) stop(err error) {
	r.stopped = true
	e := r.p.stopped(r.x, &r.outcome, err)
	r.done = true
	r.closeScreen()
	r.diverge()
	r.out = r.encoder.Fail(r.out, r.x.withCallersID(fault.From(e)))
}
