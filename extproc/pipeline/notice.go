package pipeline

import (
	"context"
	"errors"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/credential"
	events "github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/inbound"
)

// codePriceUnknown is the code of a request that a budget bounds and whose price is unknown.
const codePriceUnknown = "model_price_unknown"

// isBlock reports whether a rejection is recorded: a budget, a guardrail, a policy or the
// lack of a valid key stopped the request. A rate limit only delays a request.
func isBlock(e *fault.Error) bool {
	switch e.Kind {
	case fault.Unauthenticated, fault.Denied, fault.OverBudget, fault.Blocked:
		return true
	case fault.Internal, fault.Malformed, fault.NotFound, fault.Exists, fault.Conflict, fault.TooLarge, fault.RateLimited,
		fault.Unsupported, fault.Upstream, fault.Timeout, fault.Unavailable, fault.Canceled, fault.MediaType,
		fault.MethodNotAllowed, fault.StorageUnavailable:
	}
	return false
}

// blocked records a rejected request if it was blocked, or a guardrail found something in it. Of a dispatched request
// the final event says what guardrails found.
func (p *Pipeline) blocked(x *Exchange, e *fault.Error) {
	switch {
	case x == nil:
	case isBlock(e):
		p.recordNotice(x, events.TypeRequestBlocked, e)
	case !x.Dispatched:
		p.foundOnly(x, e)
	}
}

// foundOnly records what guardrails found in a request that has no other record. e is nil if it was not rejected.
func (p *Pipeline) foundOnly(x *Exchange, e *fault.Error) {
	if x.guardrails != nil && len(x.guardrails.Violations()) > 0 {
		p.recordNotice(x, events.TypeGuardrailTriggered, e)
	}
}

// recordNotice records the end of a request without an attempt.
func (p *Pipeline) recordNotice(x *Exchange, typ string, e *fault.Error) {
	now, code := p.deps.Now(), ""
	var over *lease.Exceeded
	if e != nil {
		code = codeOf(e)
		over, _ = errors.AsType[*lease.Exceeded](e)
	}
	ev := journal.Event{
		Attempt: usage.Attempt{
			Request: x.ID, Group: id.ModelName(inbound.TruncatedLabel(x.Facts.Model)), CallType: x.op.Name(),
			Stream: x.Facts.Stream, EndUser: x.Options.EndUser, Start: x.Start,
		},
		Result: usage.Result{End: now, ErrorCode: code, Final: !x.Dispatched},
		Notice: &journal.Notice{Type: typ, Code: code, Details: detailsOf(x.Inbound.Path)},
	}
	x.owner(&ev)
	x.addGuardrails(&ev.Result)
	if over != nil && !over.Held { // else only reservations exhaust the budget
		ev.Notice.Account, ev.Notice.AccountEpoch = over.Account, over.Epoch
	}
	p.notices.Notify(ev)
}

// Run records what was held back of a flood of rejected requests; see flood.Recorder.
func (p *Pipeline) Run(ctx context.Context) error { return p.notices.Run(ctx) }

// Notify records an event of another part of the gateway.
func (p *Pipeline) Notify(ev journal.Event) { p.notices.NotifyOther(ev) }

// owner sets whose request an event is of. A key that may not be used has an owner too. Of an
// unknown key the event has the hash, so the audit log distinguishes a revoked key from one
// that never existed.
func (x *Exchange) owner(ev *journal.Event) {
	if who := &x.Principal; who.Hash != (id.KeyHash{}) {
		ev.Key, ev.KeyAlias, ev.Actor = who.Hash, who.Alias, who.Actor()
		ev.Team, ev.User, ev.Organization = who.Team, who.User, who.Organization
		return
	}
	text, err := credential.Parse(x.Inbound.Credentials)
	if err != nil || x.View == nil {
		return
	}
	hash := id.HashKey(text)
	if k, ok := x.View.Keys.Get(hash); ok {
		ev.Key, ev.KeyAlias, ev.Actor = hash, k.Alias, k.Actor()
		ev.Team, ev.User, ev.Organization = k.Team, k.User, k.Organization
		return
	}
	ev.Key, _ = credential.HashOf(x.Inbound.Credentials)
}

// maxPath bounds a recorded path, in bytes.
const maxPath = 256

// detailsOf returns the path in a JSON object.
func detailsOf(path string) string {
	if len(path) > maxPath {
		path = path[:maxPath]
	}
	return events.Member("path", strings.ToValidUTF8(path, "\uFFFD"))
}
