package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/cause"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Dispatch prepares the first attempt of an admitted request and journals that it is about
// to go out. From here on the request ends in a settle, whatever happens. If it returns an
// error, nothing goes out, and Reject must follow.
func (p *Pipeline) Dispatch(ctx context.Context, x *Exchange) (*message.Edit, error) {
	inject.Crash("request.admitted")
	e, err := p.dispatch(ctx, x)
	if err != nil {
		p.withdraw(x)
		return nil, err
	}
	x.Dispatched = true
	return e, nil
}

func (p *Pipeline) dispatch(ctx context.Context, x *Exchange) (*message.Edit, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, err := p.prepareLocked(x, 0)
	if err != nil {
		return nil, err
	}
	p.intendLocked(x, 0)
	if p.deps.Settings.SyncBeforeDispatch {
		// A crash after this leaves the intent on disk; Open settles it as estimated.
		if err := x.mu.intents[0].Wait(ctx); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// prepareLocked makes the provider's request of attempt i. It must remove everything that
// an earlier attempt has set: Envoy retries with the upstream filter's changes.
func (p *Pipeline) prepareLocked(x *Exchange, i int) (*message.Edit, error) {
	a := &x.Plan[i]
	d := a.Deployment
	t := a.Provider.Target(d, x.Options.DropParams)
	if p.deps.Token != nil {
		var err error
		if t.Token, err = p.deps.Token(d); err != nil {
			return nil, err
		}
	}
	if x.op.Passes() {
		return p.passLocked(x, a, t)
	}
	m := &message.Edit{Replace: true}
	var to driver.Rewritten
	if x.sameDialect(a) {
		m.Body, m.Splices = x.Body, p.splices(x, a, t)
		m.Replace = x.rebodied || len(m.Splices) > 0 || i > 0
		switch {
		case i == 0:
		case len(m.Splices) > 0:
			m.Splice()
		default:
			// Another stream than the caller's sends it. The caller's stream releases
			// the body's buffer when it ends, whether or not the body has been sent.
			m.Body = bytes.Clone(x.Body)
		}
	} else {
		var err error
		if to, err = p.translatedLocked(x, a, t); err != nil {
			return nil, err
		}
		m.Body = to.Body
		if x.rewriter(a.Provider) != nil && (i > 0 || len(x.Body) < contract.LongBody) {
			// It may be a part of the caller's, whose buffer is used again, even before a message has been
			// written. A long body has a buffer of its own.
			m.Body = splice.Append(make([]byte, 0, len(to.Body)), to.Body)
		}
	}
	call, err := a.Provider.Driver.Address(t, driver.Operation{Endpoint: x.endpoint(a), Stream: x.Facts.Stream, Place: to.Place})
	if err != nil {
		return nil, err
	}
	if !call.Bare && x.sameDialect(a) && x.Facts.PathModel == "" && x.op.Caller == nil { // else the query is of the path's form
		call.Path = x.Inbound.WithQuery(call.Path)
	}
	if err := p.sign(a, &call, m, t); err != nil {
		return nil, err
	}
	x.setHead(m, a, &call, cmp.Or(to.Media, x.requestType()))
	return m, nil
}

// setHead sets the headers of an attempt's request, and removes what its provider does not get. media is the type of a
// body that is not the caller's.
func (x *Exchange) setHead(m *message.Edit, a *Attempt, call *driver.Call, media string) {
	m.Set = append(make([]message.Header, 0, len(call.Headers)+12),
		message.Header{Name: ":path", Value: call.Path},
		message.Header{Name: headerRequestID, Value: string(x.ID)}, // the one that the caller, the log and the audit log have
		message.Header{Name: ":authority", Value: a.Deployment.Endpoint.Authority()},
		message.Header{Name: "accept-encoding", Value: "identity"})
	if m.Replace {
		m.Set = append(m.Set,
			message.Header{Name: "content-length", Value: strconv.Itoa(m.Length())},
			message.Header{Name: "content-type", Value: media})
	}
	m.Set = x.appendVendor(m.Set, a)
	for _, h := range call.Headers {
		if !h.IfAbsent || !message.Has(m.Set, h.Name) {
			m.Set = append(m.Set, message.Header{Name: h.Name, Value: h.Value.Reveal()})
		}
	}
	m.Set = x.Inbound.Trace.Headers(m.Set)
	m.Remove = x.Inbound.ToRemove(m.Set)
}

// sign signs a call whose provider wants its requests signed, over the final path and body.
func (p *Pipeline) sign(a *Attempt, call *driver.Call, m *message.Edit, t driver.Target) error {
	signer, ok := a.Provider.Driver.(driver.Signer)
	if !ok {
		return nil
	}
	m.Splice()
	call.Body = m.Body
	return signer.Sign(call, t, a.Deployment.Endpoint.Authority(), p.deps.Now())
}

// requestType returns the content type of a body that is not the caller's. A form keeps the
// caller's boundary.
func (x *Exchange) requestType() string {
	if x.op.IsForm() {
		return x.Inbound.ContentType
	}
	return x.op.Request.Media
}

// appendVendor adds the headers of the caller that a provider's own clients send it. Others do not
// get them. The version of an API is that of the language, so it goes with the caller's bytes only.
func (x *Exchange) appendVendor(dst []message.Header, a *Attempt) []message.Header {
	for i := range x.Inbound.Vendor {
		h := &x.Inbound.Vendor[i]
		of := h.Of
		if of == "" {
			of = x.op.Vendor()
		}
		known := of == a.Provider.Name || of == "anthropic" && a.language == wire.Anthropic // other providers have Claude, too
		if !known || h.Name == "anthropic-version" && !x.sameDialect(a) {
			continue
		}
		value := h.Value
		if passer, ok := a.Provider.Driver.(driver.Passer); ok {
			if value = passer.VendorHeader(h.Name, value, x.endpoint(a)); value == "" {
				continue
			}
		}
		dst = append(dst, message.Header{Name: h.Name, Value: value})
	}
	return dst
}

// canonical is canonicalLocked for callers without the lock.
func (p *Pipeline) canonical(x *Exchange) (*wire.Request, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return p.canonicalLocked(x)
}

// canonicalLocked is the request in the form that every provider's driver reads.
func (p *Pipeline) canonicalLocked(x *Exchange) (*wire.Request, error) {
	if x.mu.request == nil && x.mu.rejected == nil {
		if x.mu.request, x.mu.rejected = x.op.Language.DecodeRequest(x.withoutExtensions()); x.mu.rejected == nil {
			x.mu.reasoned = p.sealer.Restore(&x.Principal, x.mu.request)
			if x.Facts.OwnModel {
				x.mu.request.Model, x.mu.request.Stream = x.Facts.Model, x.Facts.Stream
			}
		}
	}
	return x.mu.request, x.mu.rejected
}

// withoutExtensions returns the caller's body without the members that are for the gateway.
func (x *Exchange) withoutExtensions() []byte {
	return splice.Apply(nil, x.Body, x.Facts.Edits(nil, &splice.Plan{Remove: splice.Extensions}))
}

// splices returns what must change in the caller's body.
func (p *Pipeline) splices(x *Exchange, a *Attempt, t driver.Target) []splice.Edit {
	d := a.Deployment
	plan := splice.Plan{Usage: x.Facts.Stream && !x.Facts.IncludeUsage && !x.op.EndsItself(), Remove: splice.Extensions}
	if d.Model != x.Facts.Model {
		plan.Model = d.Model
	}
	if passer, ok := a.Provider.Driver.(driver.Passer); ok {
		in := passer.InsteadOfModel(t, x.endpoint(a), &driver.Asked{
			Version: x.Inbound.Anthropic("anthropic-version"), Betas: x.Inbound.Anthropic("anthropic-beta"), Body: x.Body,
		})
		plan.Instead, plan.Remove = in.Members, plan.Remove|in.Remove
	}
	if s := x.stored.previous; s != "" {
		plan.Set = []splice.Member{{Field: splice.PreviousResponse, Raw: string(splice.Quote(nil, s))}}
	}
	if v := p.variation(x, d); v != nil {
		v.Plan(&x.Facts, &plan)
	}
	edits := x.Facts.Edits(nil, &plan)
	if x.op.Endpoint.IsChat() {
		edits = p.sealer.AppendCalls(edits, &x.Principal, x.Body)
	}
	if x.op.Edits != nil {
		edits = x.op.Edits(edits, x.Body, d.Model)
	}
	return edits
}

// Alternatives reports whether the plan has more than one deployment.
func (x *Exchange) Alternatives() bool {
	for i := range x.Plan {
		if x.Plan[i].Deployment != x.Plan[0].Deployment {
			return true
		}
	}
	return false
}

// backoffCap is the longest pause between two attempts, as xds sets it.
const backoffCap = 2 * time.Second

// streams reports whether the response is expected in pieces.
func (x *Exchange) streams() bool { return x.Facts.Stream || x.op.Speaks() || x.op.Passes() }

// Total bounds the time of a response that is not streamed: every attempt, and the
// pauses. It is 0 for a stream, which has no such bound.
func (x *Exchange) Total() time.Duration {
	if x.streams() {
		return 0
	}
	var sum time.Duration
	for i := range x.Plan {
		sum += x.Plan[i].Timeout
	}
	return sum + time.Duration(len(x.Plan)-1)*backoffCap
}

// intendLocked journals that attempt i goes out. The sync overlaps the provider's work; receive waits for it.
func (p *Pipeline) intendLocked(x *Exchange, i int) {
	a := x.attempt(i)
	m := x.meter()
	if !x.op.Free {
		t, _ := m.Input(x.Plan[i].Deployment, estimate.Rough(&x.Facts))
		a.Tokens = m.WithUnits(t)
	}
	a.Cost = m.Prices(x.Plan[i].Deployment, &a.Tokens).Cost(a.Tokens, price.Standard)
	x.mu.intents = append(x.mu.intents, p.deps.Journal.Intent(a))
}

// attempt describes attempt i of the plan, for its intent and for its event.
func (x *Exchange) attempt(i int) usage.Attempt {
	d := x.Plan[i].Deployment
	return usage.Attempt{
		Request:        x.ID,
		Number:         i + 1,
		Key:            x.Principal.Hash,
		Origin:         x.Principal.Origin,
		Parents:        x.Principal.Parents,
		KeyAlias:       x.Principal.Alias,
		Deployment:     d.ID,
		Group:          x.Model,
		Provider:       d.Provider,
		Model:          d.Model,
		CallType:       x.op.CallType,
		Stream:         x.Facts.Stream,
		EndUser:        x.Options.EndUser,
		OfOrganization: true,
		Session:        x.Options.Session,
		Tags:           x.Options.Tags,
		Team:           x.Principal.Team,
		User:           x.Principal.User,
		Organization:   x.Principal.Organization,
		BoundedBy:      x.Principal.BoundedBy,
		Actor:          x.Principal.Actor(),
		Charges:        x.admission.Charges(),
		Prompt:         x.prompt,
		Passed:         x.passedRequest(),
		Steps:          x.steps(i),
		Start:          x.Start,
	}
}

// Again prepares attempt i, from 0, after earlier ones have failed. Both results are nil if
// the request can go out unchanged, or has ended. If the attempt cannot be made, the request
// ends with a response: no proxy can be told to go on to the next attempt.
func (p *Pipeline) Again(ctx context.Context, x *Exchange, i int) (*message.Edit, *message.Response) {
	edit, err := p.again(ctx, x, i)
	if err != nil {
		e := fault.From(err)
		x.report(i, attempt.Failure{Code: e.Code, Kind: e.Kind, Cause: cause.NotSent})
		return nil, p.errorResponse(x, e)
	}
	return edit, nil
}

func (p *Pipeline) again(ctx context.Context, x *Exchange, i int) (*message.Edit, error) {
	if i < 1 || i >= len(x.Plan) {
		return nil, nil
	}
	if err := p.acquireSlot(ctx, x, i); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mu.settled {
		return nil, nil
	}
	e, err := p.prepareLocked(x, i)
	if err != nil {
		return nil, err
	}
	p.intendLocked(x, i)
	if p.deps.Settings.SyncBeforeDispatch {
		// As in dispatch. If this fails, the request ends, and the attempt is settled as
		// one that may have gone out.
		if err := x.mu.intents[len(x.mu.intents)-1].Wait(ctx); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// withdraw undoes a dispatch that failed before anything left. There is no attempt to
// settle, but there may be an intent to remove.
func (p *Pipeline) withdraw(x *Exchange) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mu.settled = true
	if len(x.mu.intents) > 0 {
		p.deps.Journal.Settle(x.mu.intents, nil)
	}
}
