package pipeline

import (
	"context"
	"net/http"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/cause"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/inbound"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/strategy"
	"github.com/modelgateway/modelgateway/extproc/unread"
)

// Requests to paths of a provider that no operation has are passed on unread, with the provider's credential. Nothing here
// knows what they ask for, so there is one attempt, no price, and no guardrail; and as all callers share the provider's
// account, they are for keys with an explicit permission only.

// Elsewhere reports whether the gateway's HTTP server responds to a request below a provider's prefix: to the lists of
// models.
func (x *Exchange) Elsewhere() bool {
	return (x.Inbound.Method == http.MethodGet || x.Inbound.Method == http.MethodHead) && dataplane.IsModels(x.Inbound.Path)
}

// permit rejects a request that would be passed on unread, unless the key may do that.
func (p *Pipeline) permit(_ context.Context, x *Exchange) error {
	if x.op == nil || !x.op.Passes() {
		return nil
	}
	return unread.Permit(&x.Principal, x.Inbound.Method, x.Inbound.Path)
}

// matchPassed returns the operation of a request that no other operation has; nil if its path is of no provider.
func (p *Pipeline) matchPassed(x *Exchange) *operation.Operation {
	found, ok := dataplane.FindPassed(x.Inbound.Path)
	if !ok {
		return nil
	}
	x.passed = found
	return p.passable[found.Prefix]
}

// choose finds the deployment whose account the request uses, and makes the plan.
func (p *Pipeline) choose(ctx context.Context, x *Exchange) error {
	if err := p.deps.Journal.Healthy(); err != nil {
		return err
	}
	var err error
	if x.Options, err = inbound.Read(&x.Inbound, &x.Facts); err != nil {
		return err
	}
	providers := dataplane.PassedProviders(x.passed.Prefix)
	d, err := unread.Account(x.View.Catalog.Deployments(), x.Inbound.Model, func(d *catalog.Deployment) (string, error) {
		if !slices.Contains(providers, d.Provider) || !x.Principal.Allows(d.Name) {
			return "", nil
		}
		call, err := unread.Call(p.providers[d.Provider], d, x.passed.Path)
		return call.Path, err
	})
	if err != nil {
		return err
	}
	x.Model = d.Name
	x.Group = catalog.Group{Asked: d.Name, Name: d.Name, Deployments: []*catalog.Deployment{d}}
	x.Options.Tags = inbound.MergedTags(x.Options.Tags, x.Principal.Tags())
	if x.Options.Customer != "" {
		if err := x.View.Keys.CheckCustomer(x.Principal.EndUser(x.Options.Customer), x.Model); err != nil {
			return err
		}
	}
	if err := p.unscreened(x, d); err != nil {
		return err
	}
	p.bind(x)
	return p.planPassed(ctx, x, d)
}

// planPassed makes the plan of a request that is passed on: one attempt.
func (p *Pipeline) planPassed(ctx context.Context, x *Exchange, d *catalog.Deployment) error {
	only := []*catalog.Deployment{d}
	usable, noToken := p.withToken(only)
	if len(usable) == 0 && p.deps.AwaitToken != nil {
		p.deps.AwaitToken(ctx, only)
		usable, noToken = p.withToken(only)
	}
	switch {
	case len(usable) == 0:
		return noToken
	case len(p.acked(only)) == 0:
		return notReady()
	}
	plan, err := p.planWithSlot(x, strategy.Request{
		Group: only, Now: x.Start, Order: func(ds []*catalog.Deployment) []*catalog.Deployment { return ds },
	})
	if err != nil {
		return err
	}
	if plan = p.prepared(ctx, x, plan); len(plan) == 0 {
		return notReady()
	}
	if err := p.setPlan(x, plan, x.View.Catalog.Settings()); err != nil {
		return err
	}
	x.Plan[0].language = x.op.Language.Name()
	return nil
}

// unscreened rejects a request if something applies to it that needs its text: nothing reads that.
func (p *Pipeline) unscreened(x *Exchange, d *catalog.Deployment) error {
	terms := x.Principal.Prompts()
	if terms.Required || x.Options.Prompt.ID != "" {
		return &fault.Error{Kind: fault.Denied, Code: "prompt_required", Detail: "A prompt cannot be put into a request that is passed on unread to its provider, and one is required or named."}
	}
	guardrails, err := p.applied(x)
	if err != nil {
		return err
	}
	if len(guardrails) > 0 || unread.Guarded(x.View.Catalog.Deployments(), d) {
		return &fault.Error{Kind: fault.Denied, Code: "guardrail_required", Detail: "Guardrails apply to this request, and they cannot examine what is passed on unread to its provider."}
	}
	return nil
}

// passLocked makes the provider's request of one that is passed on.
func (p *Pipeline) passLocked(x *Exchange, a *Attempt, t driver.Target) (*message.Edit, error) {
	m := &message.Edit{Body: x.Body}
	call, err := a.Provider.Driver.(driver.Through).PassThrough(t, x.passed.Path)
	if err != nil {
		return nil, err
	}
	call.Method = x.Inbound.Method
	call.Path = unread.WithQuery(call.Path, &x.Inbound)
	if media := x.Inbound.ContentType; media != "" { // it is signed
		call.Headers = append(call.Headers, driver.Plain(headerContentType, media))
	}
	if err := p.sign(a, &call, m, t); err != nil {
		return nil, err
	}
	x.setHead(m, a, &call, "")
	m.Remove = slices.DeleteFunc(m.Remove, func(name string) bool {
		return inbound.Asks(name)
	})
	return m, nil
}

// receivePassed takes the head of a response to a request that was passed on. The provider's errors are the caller's,
// except for those that are about the gateway's credential, and redirections, which may lead anywhere.
func (p *Pipeline) receivePassed(ctx context.Context, x *Exchange) (limit int64, err error) {
	r := &x.response
	if h := &r.head; h.Local || unread.IsGateways(h.Status) {
		return maxErrorBytes, nil
	}
	r.inPieces = true
	last := x.lastIndex()
	if r.head.Status >= http.StatusBadRequest {
		x.report(last, attempt.Failure{
			Status: r.head.Status, Code: cause.OfStatus(r.head.Status), Kind: fault.Upstream, Reached: true, Cause: cause.OfStatus(r.head.Status), RequestID: r.head.RequestID,
		})
	}
	if r.head.Empty {
		r.outcome, r.final = x.passedOutcome(), true
	}
	return 0, p.run(ctx, x, p.passedOn)
}

// passedOutcome is the outcome of a request whose response was passed on to its end.
func (x *Exchange) passedOutcome() Outcome {
	o := Outcome{Kind: journal.Success, status: x.Status}
	if x.Status >= http.StatusBadRequest {
		o.Kind, o.Code = journal.Failed, cause.OfStatus(x.Status)
	}
	return o
}

// head makes the headers of a response that is passed on.
func (p *Pipeline) head(_ context.Context, x *Exchange) error {
	r := &x.response
	if r.fault != nil {
		r.instead = p.errorResponse(x, r.fault)
		return nil //nolint:nilerr // the error goes to the caller
	}
	head := r.head
	head.Remove = head.RemovePassed()
	e := p.answerHeaders(x, &head)
	if !head.Empty { // the end waits for the settle
		e.Remove = append(e.Remove, headerContentLength)
	}
	r.edit = e
	return nil
}

// passedRequest describes a request that is passed on, for its events; zero for others.
func (x *Exchange) passedRequest() usage.Passed {
	if !x.op.Passes() {
		return usage.Passed{}
	}
	return usage.Passed{Method: x.Inbound.Method, Path: inbound.TruncatedLabel(x.Inbound.Path), Bytes: int64(len(x.Body))}
}
