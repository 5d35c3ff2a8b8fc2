package strategy

import (
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Request is the input of a plan.
type Request struct {
	Group     []*catalog.Deployment // deployments of the model
	Fallbacks []catalog.Target      // targets after the group has failed, in order
	Retries   int                   // further attempts within the group
	Now       time.Time

	// Order is the strategy: it returns all its candidates, the best first.
	Order func(candidates []*catalog.Deployment) []*catalog.Deployment
	// InCooldown reports cooldowns that this node has observed. nil means none.
	InCooldown InCooldown
	// Hint reports cooldowns that other nodes have observed. nil means none.
	Hint Hint
	// Probe claims the probe that Hint offers, which only one request gets. It is the only side
	// effect; it is called last, and a request that gets a probe tries that deployment first.
	// nil means that there are no probes.
	Probe func(d id.Deployment) bool
	// Full reports whether a deployment is at its limit of requests in flight. nil means that
	// none is.
	Full func(d *catalog.Deployment) bool
}

// InCooldown returns the end of a deployment's cooldown.
type InCooldown func(d id.Deployment) (until time.Time, inCooldown bool)

// Hint returns the end of a deployment's cooldown according to other nodes, and whether a
// request may probe it.
type Hint func(d id.Deployment) (until time.Time, probe, hinted bool)

// Attempt is one step of a plan.
type Attempt struct {
	Deployment *catalog.Deployment
	Hop        int    // 0 in the group; n for the n-th fallback target of the request
	Target     string // the configured name of the fallback; empty in the group
}

// Plan returns the attempts of one request, in order; see the package comment for the rules.
// Within the group it tries the healthy deployments in turn, and starts again if there are
// fewer of them than attempts.
//
// A deployment without any alternative, alone in its group and without fallbacks, is tried even
// in cooldown: rejecting would turn one failure into an outage. If everything else is in
// cooldown, the error is Unavailable with the code all_deployments_in_cooldown. RetryAfter is
// the time until the first cooldown ends.
//
// A full deployment is never tried first, and not at all if its group or target has another
// one. It stays in the plan as a later fallback, because it may have room by then. If that
// leaves no first attempt, the error is RateLimited with the code rate_limit_exceeded.
func Plan(r Request) ([]Attempt, error) {
	if len(r.Group) == 0 && len(r.Fallbacks) == 0 {
		return nil, fault.New(fault.Unavailable, "no_deployments", "No deployment can serve this request.")
	}
	p := planner{request: r, left: make(map[identity]bool)}
	p.plan = make([]Attempt, 0, 1+max(r.Retries, 0)+len(r.Fallbacks))
	group := p.healthy(r.Group)
	if len(r.Fallbacks) == 0 && len(r.Group) == 1 {
		group = r.Group
	}
	group = p.vacant(group)
	hinted := Hinted(r.Group, r.InCooldown, r.Hint)
	group = without(group, hinted)
	p.group(p.probe(hinted, group), group)
	for i := range r.Fallbacks {
		p.hop(i)
	}
	switch {
	case len(p.plan) > 0:
		return p.plan, nil
	case p.full:
		return nil, AtLimit()
	}
	e := fault.New(fault.Unavailable, "all_deployments_in_cooldown", "Every deployment of this model has failed recently and is in cooldown; try again later.")
	if !p.earliest.IsZero() {
		e.RetryAfter = p.earliest.Sub(r.Now)
	}
	return nil, e
}

// CodeAtLimit is the code of AtLimit.
const CodeAtLimit = "rate_limit_exceeded"

// AtLimit returns the error for a request that only full deployments could serve.
func AtLimit() *fault.Error {
	return &fault.Error{
		Op: "strategy", Kind: fault.RateLimited, Code: CodeAtLimit, RetryAfter: time.Second,
		Detail:  "Every deployment that could serve this request has as many requests in flight as its max_parallel_requests allows. Try again when one of them has ended.",
		Details: map[string]any{"scope": "deployment", "limit_type": "parallel"},
	}
}

// identity identifies a deployment within a plan. A wildcard deployment has one id for all its
// models.
type identity struct {
	id    id.Deployment
	model string
}

func identify(d *catalog.Deployment) identity { return identity{d.ID, d.Model} }

type planner struct {
	request  Request
	plan     []Attempt
	left     map[identity]bool // already in the plan
	earliest time.Time         // end of the first cooldown
	full     bool              // a deployment was omitted because it is full
}

// healthy returns the deployments that are not in cooldown.
func (p *planner) healthy(ds []*catalog.Deployment) []*catalog.Deployment {
	if p.request.InCooldown == nil {
		return ds
	}
	cooling := func(d *catalog.Deployment) bool {
		until, inCooldown := p.request.InCooldown(d.ID)
		if inCooldown && (p.earliest.IsZero() || until.Before(p.earliest)) {
			p.earliest = until
		}
		return inCooldown
	}
	if !slices.ContainsFunc(ds, cooling) {
		return ds
	}
	return slices.DeleteFunc(slices.Clone(ds), cooling)
}

// vacant returns the deployments that are not full.
func (p *planner) vacant(ds []*catalog.Deployment) []*catalog.Deployment {
	full := p.request.Full
	if full == nil || !slices.ContainsFunc(ds, full) {
		return ds
	}
	p.full = true
	return slices.DeleteFunc(slices.Clone(ds), full)
}

// group plans the attempts before the first fallback: the probe, if there is one, then the
// others in turn.
func (p *planner) group(probe *catalog.Deployment, ds []*catalog.Deployment) {
	if len(ds) == 0 {
		return
	}
	add := func(d *catalog.Deployment) {
		p.left[identify(d)] = true
		p.plan = append(p.plan, Attempt{Deployment: d})
	}
	attempts := 1 + max(p.request.Retries, 0)
	if probe != nil {
		add(probe)
		attempts--
	}
	ordered := p.request.Order(ds)
	for i := range attempts {
		add(ordered[i%len(ordered)])
	}
}

// hop plans the attempt at a fallback target: its best healthy deployment that is not in the
// plan. A target without one is skipped.
func (p *planner) hop(i int) {
	target := &p.request.Fallbacks[i]
	fresh := slices.DeleteFunc(slices.Clone(target.Deployments), func(d *catalog.Deployment) bool { return p.left[identify(d)] })
	fresh = p.healthy(fresh)
	if vacant := p.vacant(fresh); len(vacant) > 0 || len(p.plan) == 0 {
		fresh = vacant
	}
	fresh = without(fresh, Hinted(target.Deployments, p.request.InCooldown, p.request.Hint))
	if len(fresh) == 0 {
		return
	}
	d := p.request.Order(fresh)[0]
	p.left[identify(d)] = true
	p.plan = append(p.plan, Attempt{Deployment: d, Hop: i + 1, Target: target.Name})
}
