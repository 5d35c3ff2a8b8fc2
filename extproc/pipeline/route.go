package pipeline

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/strategy"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// route makes the plan: which deployments get the request, in which order. It rejects what
// can be rejected: once Envoy has the plan, Envoy only executes it.
func (p *Pipeline) route(ctx context.Context, x *Exchange) error {
	if err := p.deps.Journal.Healthy(); err != nil {
		return err
	}
	group, ok := x.View.Catalog.Group(x.Model)
	if !ok {
		return &fault.Error{
			Kind: fault.NotFound, Code: "model_not_found", Param: "model",
			Detail: "There is no model of that name; GET /v1/models lists the models.",
		}
	}
	x.Group = group // fallbacks use the group that a key's alias resolves to; the caller sees its own name
	x.Group.Asked = id.ModelName(x.Facts.Model)
	p.bind(x)
	settings := x.View.Catalog.Settings()
	if x.op.Decode != nil && len(p.serving(x, group.Deployments)) == 0 {
		x.local = true
		return nil
	}
	candidates, err := p.candidates(x, group, settings)
	if err != nil {
		return err
	}
	usable, noToken := p.withToken(candidates)
	if len(usable) == 0 && p.deps.AwaitToken != nil {
		p.deps.AwaitToken(ctx, candidates)
		usable, noToken = p.withToken(candidates)
	}
	request := strategy.Request{
		Group:      usable,
		Retries:    settings.NumRetries,
		Now:        x.Start,
		Order:      p.order(settings.Strategy),
		InCooldown: func(d id.Deployment) (time.Time, bool) { return p.deps.Cooldown.InCooldown(d, x.Start) },
	}
	if !settings.DisableCooldowns {
		request.Hint = func(d id.Deployment) (time.Time, bool, bool) { return p.deps.Cooldown.Hinted(d, x.Start) }
		request.Probe = func(d id.Deployment) bool { return p.deps.Cooldown.Probe(d, x.Start) }
	}
	if x.Options.Retries >= 0 {
		request.Retries = x.Options.Retries
		if !x.mayExceedLimits() {
			request.Retries = min(request.Retries, settings.NumRetries)
		}
	}
	if !x.Options.NoFallbacks && !x.stored.alone {
		request.Fallbacks = p.reachable(x, x.fallbacks(group))
	}
	if len(usable) == 0 && len(request.Fallbacks) == 0 {
		return noToken
	}
	plan, err := p.planWithSlot(x, request)
	if err != nil {
		return err
	}
	if plan = p.prepared(ctx, x, plan); len(plan) == 0 {
		return notReady()
	}
	return p.setPlan(x, plan, settings)
}

// candidates returns the deployments that serve the operation and have what the request refers
// to, that Envoy can reach, whose price is known if a budget bounds the request, and whose context window fits the prompt.
func (p *Pipeline) candidates(x *Exchange, group catalog.Group, settings catalog.RouterSettings) ([]*catalog.Deployment, error) {
	out := p.serving(x, group.Deployments)
	if len(out) == 0 {
		return nil, fault.Field("model", driver.CodeEndpoint, "No deployment of this model serves %s. Name a model of another kind, or use another endpoint.", x.Inbound.Path)
	}
	out, err := p.holding(x, group, out)
	if err != nil {
		return nil, err
	}
	out, err = p.taking(x, out)
	if len(out) == 0 {
		return nil, err
	}
	out = p.acked(out)
	if len(out) == 0 {
		return nil, notReady()
	}
	if out = p.priced(x, out); len(out) == 0 {
		return nil, &fault.Error{
			Kind: fault.Denied, Code: codePriceUnknown, Param: "model",
			Detail: "The price of the model " + string(x.Model) + " is unknown, and a budget bounds this API key. The operator can set the prices of its deployment (input_cost_per_token, output_cost_per_token) or its base_model.",
		}
	}
	if settings.EnablePreCallChecks {
		out = strategy.Fitting(out, estimate.Rough(&x.Facts))
		if len(out) == 0 {
			return nil, fault.Field("messages", "context_length_exceeded", "The prompt is longer than the context window of every deployment of this model.")
		}
	}
	return out, nil
}

// withToken returns the deployments that have the token with which the gateway signs in at their cloud, or need
// none, and why the first of the others has none.
func (p *Pipeline) withToken(ds []*catalog.Deployment) ([]*catalog.Deployment, error) {
	if p.deps.Token == nil {
		return ds, nil
	}
	var first error
	missing := func(d *catalog.Deployment) bool {
		_, err := p.deps.Token(d)
		first = cmp.Or(first, err)
		return err != nil
	}
	if !slices.ContainsFunc(ds, missing) {
		return ds, nil
	}
	return slices.DeleteFunc(slices.Clone(ds), missing), first
}

func notReady() error {
	return &fault.Error{
		Kind: fault.Unavailable, Code: "not_ready", RetryAfter: time.Second,
		Detail: "The gateway's proxy does not know this model's upstream yet; try again in a moment.",
	}
}

// serving returns the deployments whose provider serves the operation. Completions go to chats
// only if no deployment serves completions: a chat answers a prompt, and does not continue it.
func (p *Pipeline) serving(x *Exchange, ds []*catalog.Deployment) []*catalog.Deployment {
	native := x.op.Endpoint == driver.Completions && slices.ContainsFunc(ds, func(d *catalog.Deployment) bool {
		language, ok := p.language(x, d)
		return ok && language == wire.Completions
	})
	lacks := func(d *catalog.Deployment) bool {
		language, ok := p.language(x, d)
		return !ok || native && language != wire.Completions
	}
	if !slices.ContainsFunc(ds, lacks) {
		return ds
	}
	return slices.DeleteFunc(slices.Clone(ds), lacks)
}

// language returns the language in which a deployment takes the request, and false if its provider
// does not serve the operation. Each stage asks, mostly for the deployment of the stage before.
func (p *Pipeline) language(x *Exchange, d *catalog.Deployment) (wire.Dialect, bool) {
	if s := &x.asked; s.by != d {
		of, known := p.providers[d.Provider]
		if !known { // setPlan reports it
			return "", true
		}
		s.by = d
		t := of.Target(d, false)
		if s.language, s.ok = of.Driver.Serves(t, x.op.Endpoint); !s.ok && x.op.Endpoint == driver.Completions {
			s.language, s.ok = of.Driver.Serves(t, driver.Chat)
		}
	}
	return x.asked.language, x.asked.ok
}

// acked returns the deployments whose clusters Envoy has confirmed, or gets when the plan
// needs them. With any other cluster in the plan, Envoy would fail the request.
func (p *Pipeline) acked(ds []*catalog.Deployment) []*catalog.Deployment {
	missing := func(d *catalog.Deployment) bool {
		e := d.Endpoint.ID
		return !p.deps.Acked(e, contract.Bare) && (p.deps.OnDemand == nil || !p.deps.OnDemand(e))
	}
	if !slices.ContainsFunc(ds, missing) {
		return ds
	}
	return slices.DeleteFunc(slices.Clone(ds), missing)
}

// priced returns the deployments whose price is known if a budget bounds the request, and
// all of them otherwise: a request of unknown cost would bypass the budget.
func (p *Pipeline) priced(x *Exchange, ds []*catalog.Deployment) []*catalog.Deployment {
	m := x.meter()
	unknown := func(d *catalog.Deployment) bool { return !m.Prices(d, &usage.Tokens{}).Known() }
	if x.op.Free || !p.admission.Budgeted(x.bounds) || !slices.ContainsFunc(ds, unknown) {
		return ds
	}
	return slices.DeleteFunc(slices.Clone(ds), unknown)
}

func (p *Pipeline) reachable(x *Exchange, targets []catalog.Target) []catalog.Target {
	out := targets[:0:0]
	for _, t := range targets {
		takers, _ := p.taking(x, p.serving(x, t.Deployments))
		takers, _ = p.withToken(p.acked(takers))
		if t.Deployments = p.priced(x, takers); len(t.Deployments) > 0 {
			out = append(out, t)
		}
	}
	return out
}

func (p *Pipeline) order(s catalog.Strategy) func([]*catalog.Deployment) []*catalog.Deployment {
	return func(ds []*catalog.Deployment) []*catalog.Deployment {
		switch {
		case len(ds) == 1:
			return ds
		case s == catalog.LeastBusy:
			return strategy.LeastBusy(ds, p.deps.Cooldown.InFlight, p.deps.Random)
		}
		return strategy.SimpleShuffle(ds, p.deps.Random)
	}
}

// prepared has Envoy make the clusters that the plan needs and Envoy does not have yet,
// and returns the plan without the attempts whose clusters it does not get in time.
func (p *Pipeline) prepared(ctx context.Context, x *Exchange, plan []strategy.Attempt) []strategy.Attempt {
	if p.deps.Prepare == nil {
		return plan
	}
	checked := x.checked(x.View.Catalog.Settings().RetryOn) && len(plan) > 1
	first := plan[0].Deployment
	later := checked || slices.ContainsFunc(plan, func(a strategy.Attempt) bool { return a.Deployment != first || p.signs(a.Deployment) })
	var missing []Need
	for i := range plan {
		e := plan[i].Deployment.Endpoint.ID
		if !p.deps.Acked(e, contract.Bare) {
			missing = append(missing, Need{e, contract.Bare})
		}
		if (later && i > 0 || checked) && !p.deps.Acked(e, contract.Rewrite) {
			missing = append(missing, Need{e, contract.Rewrite})
		}
	}
	if len(missing) == 0 {
		return plan
	}
	p.deps.Prepare(ctx, missing)
	out := plan[:0:0]
	for i := range plan {
		// The first attempt does not need the cluster that inspects responses.
		e := plan[i].Deployment.Endpoint.ID
		if p.deps.Acked(e, contract.Bare) && (i == 0 || !later || p.deps.Acked(e, contract.Rewrite)) {
			out = append(out, plan[i])
		}
	}
	return out
}

// setPlan turns the strategy's plan into attempts, each with its driver, its timeout, and the
// variant of its endpoint's cluster.
func (p *Pipeline) setPlan(x *Exchange, plan []strategy.Attempt, settings catalog.RouterSettings) error {
	x.Plan = make([]Attempt, len(plan))
	x.mu.failures.Begin(len(plan))
	for i := range plan {
		d := plan[i].Deployment
		of, ok := p.providers[d.Provider]
		if !ok {
			return fault.New(fault.Internal, "", "no driver for provider %s", d.Provider)
		}
		language, _ := p.language(x, d)
		x.Plan[i] = Attempt{Deployment: d, Provider: of, language: language, Hop: plan[i].Hop, Target: plan[i].Target, Timeout: x.timeout().Of(d, settings)}
	}
	p.setVariants(x)
	return nil
}

// setVariants chooses the variant of each attempt's cluster, which depends on the other
// attempts of the plan.
func (p *Pipeline) setVariants(x *Exchange) {
	same := !x.Alternatives() && !p.signs(x.Plan[0].Deployment) // every attempt is the first one again
	checked := x.checked(x.View.Catalog.Settings().RetryOn)
	for i := range x.Plan {
		a := &x.Plan[i]
		a.Variant = contract.Bare
		switch {
		case i < len(x.Plan)-1 && checked && p.deps.Acked(a.Deployment.Endpoint.ID, contract.Check):
			a.Variant = contract.Check
		case i > 0 && !same:
			a.Variant = contract.Rewrite
		}
	}
}

// signs reports whether requests to a deployment are signed. A signature expires within minutes, so each attempt has
// its own.
func (p *Pipeline) signs(d *catalog.Deployment) bool {
	of, ok := p.providers[d.Provider]
	if !ok {
		return false
	}
	_, ok = of.Driver.(driver.Signer)
	return ok
}

// checked reports whether responses are inspected before they are accepted. That takes a second
// stream to the processor for every attempt except the last, so only retry_on enables it.
func (x *Exchange) checked(on catalog.RetryOn) bool {
	if x.streams() {
		return on.Has(catalog.RetryOnStreamError)
	}
	return on.Has(catalog.RetryOnContentFilter)
}

// mayExceedLimits reports whether the caller may retry more often than num_retries, and set
// timeouts below a second: only a proxy_admin, who may change those settings.
func (x *Exchange) mayExceedLimits() bool { return x.Principal.Role() == tenancy.RoleProxyAdmin }

// timeout returns how long attempts may take.
func (x *Exchange) timeout() strategy.Timeout {
	return strategy.Timeout{Asked: x.Options.Timeout, Streams: x.streams(), AnyShort: x.mayExceedLimits()}
}
