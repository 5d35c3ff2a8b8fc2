package strategy

import (
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Request is what a plan is made from.
type Request struct {
	Group     []*catalog.Deployment // who serves the model
	Fallbacks []catalog.Target      // where to go when they all fail, in order
	Retries   int                   // further attempts within the group
	Now       time.Time

	// Order is the strategy: it returns all its candidates, the best first.
	Order func(candidates []*catalog.Deployment) []*catalog.Deployment
	// Resting says who rests by what this node has seen itself. Nil means that none does.
	Resting Resting
	// Hint says who rests by what other nodes say. Nil means that none does.
	Hint Hint
	// Probe claims the probe that Hint offers, which only one request gets. It is
	// the one thing that is done here rather than decided; it is called last of
	// all, and who gets a probe asks its deployment first. Nil means that there are no probes.
	Probe func(d id.Deployment) bool
	// Full reports whether a deployment has as many requests in flight as it may have.
	// Nil means that none is.
	Full func(d *catalog.Deployment) bool
}

// Resting says until when a deployment rests.
type Resting func(d id.Deployment) (until time.Time, resting bool)

// Hint says until when a deployment rests by what other nodes say, and whether
// a request may find out if it is true.
type Hint func(d id.Deployment) (until time.Time, probe, hinted bool)

// Attempt is one step of a plan.
type Attempt struct {
	Deployment *catalog.Deployment
	Hop        int    // 0 in the group; n for the n-th fallback target of the request
	Target     string // the fallback's name as configured; empty in the group
}

// Plan returns the attempts of one request, in order; see the package comment
// for the laws that it keeps. Within the group the healthy deployments are asked
// in turn, again from the first if there are fewer of them than attempts.
//
// A deployment that nothing can stand in for, alone in its group and without
// fallbacks, is asked even if it rests: refusing would turn one failure into an
// outage. If everything else rests, the error is Unavailable with the code
// all_deployments_in_cooldown, and RetryAfter says when the first of them returns.
//
// A full deployment is never asked first, and not at all if another one of its group or
// target can be. It stays in the plan as a later fallback: it may have room by then. If
// no first attempt is left because of that, the error is RateLimited with the code
// rate_limit_exceeded.
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
	hinted := Hinted(r.Group, r.Resting, r.Hint)
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
	e := fault.New(fault.Unavailable, "all_deployments_in_cooldown", "Every deployment of this model has failed recently and is resting; try again later.")
	if !p.earliest.IsZero() {
		e.RetryAfter = p.earliest.Sub(r.Now)
	}
	return nil, e
}

// CodeAtLimit is the code of AtLimit.
const CodeAtLimit = "rate_limit_exceeded"

// AtLimit is the error for a request that only full deployments could serve.
func AtLimit() *fault.Error {
	return &fault.Error{
		Op: "strategy", Kind: fault.RateLimited, Code: CodeAtLimit, RetryAfter: time.Second,
		Detail:  "Every deployment that could serve this request has as many requests in flight as its max_parallel_requests allows. Try again when one of them has ended.",
		Details: map[string]any{"scope": "deployment", "limit_type": "parallel"},
	}
}

// identity tells deployments apart. A wildcard's deployment has one id for every
// model that it stands for.
type identity struct {
	id    id.Deployment
	model string
}

func identify(d *catalog.Deployment) identity { return identity{d.ID, d.Model} }

type planner struct {
	request  Request
	plan     []Attempt
	left     map[identity]bool // in the plan already
	earliest time.Time         // when the first resting deployment returns
	full     bool              // a deployment was left out because it is full
}

// healthy returns those that do not rest.
func (p *planner) healthy(ds []*catalog.Deployment) []*catalog.Deployment {
	if p.request.Resting == nil {
		return ds
	}
	rests := func(d *catalog.Deployment) bool {
		until, resting := p.request.Resting(d.ID)
		if resting && (p.earliest.IsZero() || until.Before(p.earliest)) {
			p.earliest = until
		}
		return resting
	}
	if !slices.ContainsFunc(ds, rests) {
		return ds
	}
	return slices.DeleteFunc(slices.Clone(ds), rests)
}

// vacant returns those that are not full.
func (p *planner) vacant(ds []*catalog.Deployment) []*catalog.Deployment {
	full := p.request.Full
	if full == nil || !slices.ContainsFunc(ds, full) {
		return ds
	}
	p.full = true
	return slices.DeleteFunc(slices.Clone(ds), full)
}

// group plans the attempts before the first fallback: the probe if there is one,
// then the others in turn.
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

// hop plans the one attempt at a fallback target: its best deployment that is
// healthy and was not asked before. A target without any is passed over.
func (p *planner) hop(i int) {
	target := &p.request.Fallbacks[i]
	fresh := slices.DeleteFunc(slices.Clone(target.Deployments), func(d *catalog.Deployment) bool { return p.left[identify(d)] })
	fresh = p.healthy(fresh)
	if vacant := p.vacant(fresh); len(vacant) > 0 || len(p.plan) == 0 {
		fresh = vacant
	}
	fresh = without(fresh, Hinted(target.Deployments, p.request.Resting, p.request.Hint))
	if len(fresh) == 0 {
		return
	}
	d := p.request.Order(fresh)[0]
	p.left[identify(d)] = true
	p.plan = append(p.plan, Attempt{Deployment: d, Hop: i + 1, Target: target.Name})
}
