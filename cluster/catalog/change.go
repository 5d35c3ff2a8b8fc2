package catalog

import (
	"fmt"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// With returns the catalogue with a deployment of the replicated state: added,
// or in place of the one of the same id. c stays as it is. The error joins every
// problem found, each a *fault.Error whose Param is the field of a request, such
// as `gateway_params.model`; it is a single one of kind Exists where the file has
// a deployment of that id: the file's wins.
//
// It costs the same whatever the catalogue holds, but for 8 bytes of copying for
// each deployment of the same group.
func (c *Catalog) With(s DeploymentSpec) (*Catalog, error) { return c.WithStored(Stored{Spec: s}) }

// WithStored is With for a record of the state, whose stamps the catalogue keeps.
func (c *Catalog) WithStored(s Stored) (*Catalog, error) {
	b := c.change()
	if err := b.put(&s); err != nil {
		return nil, err
	}
	return b.catalog(), nil
}

// WithAll is WithStored for many deployments. It leaves out those that WithStored
// would refuse and returns an error for each, which wraps that one and names the
// deployment: what the nodes agreed on may name a provider that this node's
// version does not know, and that is no reason to serve nobody.
func (c *Catalog) WithAll(all []Stored) (*Catalog, []error) {
	b := c.change()
	sorted := slices.Clone(all) // so that each goes to the end of its lists
	slices.SortStableFunc(sorted, func(x, y Stored) int { return compare(x.Spec.ID, y.Spec.ID) })
	var refused []error
	for i := range sorted {
		if err := b.put(&sorted[i]); err != nil {
			refused = append(refused, fmt.Errorf("deployment %s: %w", quote(sorted[i].Spec.ID), err))
		}
	}
	return b.catalog(), refused
}

// Without returns the catalogue without a deployment of the replicated state. It
// returns c itself where there is none of that id, or only one of the file.
// Fallbacks and aliases that name it stay and are skipped until somebody has
// that name again.
func (c *Catalog) Without(d id.Deployment) *Catalog {
	b := c.change()
	if !b.drop(d) {
		return c
	}
	return b.catalog()
}

// WithRouter returns the catalogue with other settings. It is as strict as New
// about names: what somebody asks for must make sense now. The error joins every
// problem, each a *fault.Error with a Param such as `router_settings.num_retries`.
// What Patch returns stays as it is: this is for trying settings out.
//
// It costs what the lists in s cost. Only if the settings that deployments inherit
// change, it makes the deployments again: each knows its own.
func (c *Catalog) WithRouter(s RouterSpec) (*Catalog, error) {
	r := *c.router
	r.spec = s
	next, err := c.withRouter(r)
	if err != nil {
		return nil, err
	}
	return next, nil
}

// Adopt returns the catalogue with the settings that the nodes agreed on, over
// those of the file; nil means that there are none. It always returns a
// catalogue: a name that nobody has is skipped until somebody has it, a value
// that makes no sense to this node is its default. The error is what WithRouter
// would say, for the log. It costs what WithRouter costs.
func (c *Catalog) Adopt(settings *clusterv1.RouterSettings) (*Catalog, error) {
	r := *c.router
	r.patch, r.revision = SpecFromRecord(settings), settings.GetStamp().GetRevision()
	r.spec = r.file.Merge(r.patch)
	return c.withRouter(r)
}

// withRouter makes the settings of r.spec.
func (c *Catalog) withRouter(r router) (*Catalog, error) {
	b := c.change()
	b.problems.router(&r)
	b.router = &r
	old := c.router
	if old.inherited() != r.inherited() {
		b.reinherit(c)
	}
	next, p := b.catalog(), b.problems
	next.route(&p)
	return next, p.err()
}

// CheckPatch says what is wrong with a change of the settings in force, as strictly
// as WithRouter. What was wrong before and is not changed is not held against it:
// somebody who sets num_retries need not first mend a fallback of a deployment
// that is gone.
func (c *Catalog) CheckPatch(p RouterSpec) error {
	return c.checkRouter(c.router.spec.Merge(p))
}

func (c *Catalog) checkRouter(next RouterSpec) error {
	name := func(problem error) string { return fault.From(problem).Param + "\n" + problem.Error() }
	before := make(map[string]bool)
	for _, problem := range c.routerProblems(c.router.spec) {
		before[name(problem)] = true
	}
	after := problems{}
	for _, problem := range c.routerProblems(next) {
		if !before[name(problem)] {
			after.list = append(after.list, problem)
		}
	}
	return after.err()
}

// routerProblems is everything that is wrong with settings.
func (c *Catalog) routerProblems(s RouterSpec) []error {
	_, problems := c.try(s)
	return problems
}

// RouterWith returns every setting as it would apply if the state set patch, and
// nothing else, over the settings of the file. The caller must not change the slices
// and maps in it.
func (c *Catalog) RouterWith(patch RouterSpec) RouterSpec {
	r, _ := c.try(c.router.file.Merge(patch))
	return r.full
}

// try makes settings without putting them in force.
func (c *Catalog) try(s RouterSpec) (*router, []error) {
	p, next := problems{}, Catalog{state: c.state}
	next.router = &router{spec: s}
	p.router(next.router)
	next.route(&p)
	return next.router, p.list
}

// put adds or replaces a deployment of the state. A problem leaves everything as
// it was, the list of problems included.
func (b *builder) put(s *Stored) error {
	old, replaced := b.byID.get(s.Spec.ID)
	if replaced && old.Static {
		return &fault.Error{
			Op: "catalog", Kind: fault.Exists, Code: codeExists, Param: paramID,
			Detail: fmt.Sprintf("The configuration file has a deployment of the id %s; choose another id, or remove it there.", quote(s.Spec.ID)),
		}
	}
	b.problems = problems{}
	d := b.deployment("", &s.Spec)
	if s.Spec.ID == "" {
		b.problems.add("."+paramID, codeMissing, "id is missing")
	} else {
		b.problems.id("", s.Spec.ID)
	}
	if err := b.problems.err(); err != nil {
		return err
	}
	d.ID = id.Deployment(s.Spec.ID)
	d.origin.stored = *s
	d.origin.stored.Static = false
	if replaced {
		b.remove(old)
	}
	if _, was := b.unusable.get(s.Spec.ID); was {
		b.unusable.delete(s.Spec.ID)
	}
	b.add(d)
	return nil
}

// take adds or replaces a deployment as the state has it. One that this node cannot
// use takes the place of the one that there was, too: what a catalogue answers does
// not depend on when the node began.
func (b *builder) take(r *clusterv1.Deployment, open vault.Open) error {
	s, err := FromRecord(r, open)
	if err == nil {
		err = b.put(&s)
	}
	if err != nil {
		b.drop(idOf(r))
		b.unusable.set(r.GetId(), r)
	}
	return err
}

// drop removes a deployment of the state and reports whether there was one.
func (b *builder) drop(d id.Deployment) bool {
	_, was := b.unusable.get(string(d))
	if was {
		b.unusable.delete(string(d))
	}
	found, ok := b.byID.get(string(d))
	if !ok || found.Static {
		return was
	}
	b.remove(found)
	return true
}

func idOf(r *clusterv1.Deployment) id.Deployment { return id.Deployment(r.GetId()) }

// inherited are the settings that inherit reads.
type inherited struct {
	timeout, streamTimeout time.Duration
	streams                bool
	maxParallel            int
}

func (r *router) inherited() inherited {
	s := &r.settings
	return inherited{s.Timeout, s.StreamTimeout, r.streams, s.DefaultMaxParallel}
}

// reinherit makes every deployment of c again, with the settings that it inherits.
func (b *builder) reinherit(c *Catalog) {
	fresh := make(map[id.Deployment]*Deployment, c.byID.len())
	for _, d := range c.byID.all() {
		again := *d
		b.inherit(&again)
		fresh[d.ID] = &again
	}
	b.renew(fresh)
}
