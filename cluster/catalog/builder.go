package catalog

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/price"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// builder is a Catalog in the making: an empty one, or a change of another. It
// costs what it touches, not what there is.
type builder struct {
	base      state // what it began with; parts of it are replaced in catalog
	router    *router
	groups    edit[[]*Deployment]
	byID      edit[*Deployment]
	byModel   edit[*Deployment]
	endpoints edit[Endpoint]
	users     edit[int]
	prices    edit[sharedPrices]
	loaded    edit[price.Row]

	credentials edit[*Credential]
	marks       edit[uint64]
	namers      edit[*Deployment]
	unusable    edit[*clusterv1.Deployment]
	guarded     edit[*Deployment]

	wild     []*wildcard
	wildOwn  bool                  // wild is this builder's and may be changed in place
	own      map[place]struct{}    // the lists that are this builder's, likewise
	file     bool                  // the deployments that are made are those of the file
	bases    map[string]parsedBase // by api_base: one Endpoint for all who share it
	derived  map[string]int        // how many deployments had the same derived name
	problems problems
}

// place is where a list of deployments stands.
type place struct {
	kind listKind
	key  string
}

type listKind uint8

const (
	groupList listKind = iota
	wildList
)

type parsedBase struct {
	endpoint Endpoint
	path     string
	err      error
}

// change starts a change of s.
func (s *state) change() *builder {
	return &builder{
		base:   *s,
		router: s.router,
		groups: s.groups.edit(), byID: s.byID.edit(), byModel: s.byModel.edit(),
		endpoints: s.endpoints.edit(), users: s.users.edit(), prices: s.prices.edit(), loaded: s.loaded.edit(),
		credentials: s.credentials.edit(), marks: s.marks.edit(), namers: s.namers.edit(), unusable: s.unusable.edit(), guarded: s.guarded.edit(),
		wild:    s.wild,
		own:     make(map[place]struct{}),
		bases:   make(map[string]parsedBase),
		derived: make(map[string]int),
	}
}

// empty is a state without any deployment.
func empty(providers Providers, list *price.List) *state {
	var (
		lists       = newEdit[[]*Deployment]()
		deployments = newEdit[*Deployment]()
		endpoints   = newEdit[Endpoint]()
		users       = newEdit[int]()
		prices      = newEdit[sharedPrices]()
		loaded      = newEdit[price.Row]()
		credentials = newEdit[*Credential]()
		marks       = newEdit[uint64]()
		unusable    = newEdit[*clusterv1.Deployment]()
	)
	return &state{
		providers: providers, list: list, router: &router{},
		groups: lists.done(), byModel: deployments.done(), byID: deployments.done(),
		endpoints: endpoints.done(), users: users.done(), prices: prices.done(), loaded: loaded.done(),
		credentials: credentials.done(), marks: marks.done(), namers: deployments.done(), unusable: unusable.done(), guarded: deployments.done(),
	}
}

// catalog returns what was made. The builder is used up.
func (b *builder) catalog() *Catalog {
	s := b.base
	s.router, s.wild = b.router, b.wild
	s.groups, s.byID, s.byModel = b.groups.done(), b.byID.done(), b.byModel.done()
	s.endpoints, s.users, s.prices, s.loaded = b.endpoints.done(), b.users.done(), b.prices.done(), b.loaded.done()
	s.credentials, s.marks, s.namers, s.unusable = b.credentials.done(), b.marks.done(), b.namers.done(), b.unusable.done()
	s.guarded = b.guarded.done()
	return &Catalog{state: s}
}

// add puts a deployment into every list that it belongs to. Its id must be free.
func (b *builder) add(d *Deployment) {
	b.byID.set(string(d.ID), d)
	b.count(d.Endpoint, 1)
	if d.origin.stored.Spec.CredentialName != "" {
		b.namers.set(namerKey(d), d)
	}
	if len(d.Guardrails) > 0 {
		b.guarded.set(string(d.ID), d)
	}
	p, ok := b.prices.get(d.origin.priced)
	if !ok {
		p = sharedPrices{prices: d.Prices, row: d.origin.row}
	}
	p.users++
	b.prices.set(d.origin.priced, p)
	if !strings.Contains(d.Model, "*") {
		b.byModel.set(d.modelKey(), d)
	}
	if _, star := cutPattern(string(d.Name)); star {
		w := b.ownWildcard(d.Name)
		w.members = b.insert(place{wildList, string(d.Name)}, w.members, d)
		return
	}
	list, _ := b.groups.get(string(d.Name))
	b.groups.set(string(d.Name), b.insert(place{groupList, string(d.Name)}, list, d))
}

// remove takes a deployment out of every list.
func (b *builder) remove(d *Deployment) {
	b.byID.delete(string(d.ID))
	b.count(d.Endpoint, -1)
	if d.origin.stored.Spec.CredentialName != "" {
		b.namers.delete(namerKey(d))
	}
	if len(d.Guardrails) > 0 {
		b.guarded.delete(string(d.ID))
	}
	if p, _ := b.prices.get(d.origin.priced); p.users > 1 {
		p.users--
		b.prices.set(d.origin.priced, p)
	} else {
		b.prices.delete(d.origin.priced)
	}
	if !strings.Contains(d.Model, "*") {
		b.byModel.delete(d.modelKey())
	}
	at := place{groupList, string(d.Name)}
	if _, star := cutPattern(at.key); !star {
		list, _ := b.groups.get(at.key)
		if list = without(list, d); len(list) == 0 {
			b.groups.delete(at.key)
		} else {
			b.groups.set(at.key, list)
		}
		b.own[at] = struct{}{}
		return
	}
	w := b.ownWildcard(d.Name)
	if w.members = without(w.members, d); len(w.members) == 0 {
		b.wild = slices.DeleteFunc(b.wild, func(o *wildcard) bool { return o == w })
	}
	b.own[place{wildList, string(d.Name)}] = struct{}{}
}

// count counts the deployments of an endpoint, which is there while it has any.
func (b *builder) count(e Endpoint, more int) {
	before, _ := b.users.get(string(e.ID))
	switch n := before + more; {
	case n == 0:
		b.users.delete(string(e.ID))
		b.endpoints.delete(string(e.ID))
	case before == 0:
		b.endpoints.set(string(e.ID), e)
		b.users.set(string(e.ID), n)
	case n != before:
		b.users.set(string(e.ID), n)
	}
}

// renew puts deployments in place of those of the same ids, which have the same
// names and models. The lists keep their order, and each is copied once.
func (b *builder) renew(fresh map[id.Deployment]*Deployment) {
	names, moved := make(map[id.ModelName]struct{}), make(map[Endpoint]int)
	for _, d := range fresh {
		old, _ := b.byID.get(string(d.ID))
		if old.Endpoint != d.Endpoint {
			moved[old.Endpoint]--
			moved[d.Endpoint]++
		}
		b.byID.set(string(d.ID), d)
		if !strings.Contains(d.Model, "*") {
			b.byModel.set(d.modelKey(), d)
		}
		if d.origin.stored.Spec.CredentialName != "" {
			b.namers.set(namerKey(d), d)
		}
		if len(d.Guardrails) > 0 {
			b.guarded.set(string(d.ID), d)
		}
		names[d.Name] = struct{}{}
	}
	for e, n := range moved {
		b.count(e, n)
	}
	copied := func(list []*Deployment) []*Deployment {
		out := slices.Clone(list)
		for i, d := range out {
			if again, ok := fresh[d.ID]; ok {
				out[i] = again
			}
		}
		return out
	}
	for name := range names {
		if _, star := cutPattern(string(name)); star {
			w := b.ownWildcard(name)
			w.members = copied(w.members)
			b.own[place{wildList, string(name)}] = struct{}{}
			continue
		}
		list, _ := b.groups.get(string(name))
		b.groups.set(string(name), copied(list))
		b.own[place{groupList, string(name)}] = struct{}{}
	}
}

// insert puts a deployment into a list: those of the file first, in its order,
// then the others by id. So a list depends on what is in it and not on the order
// in which that came, and is the same on every node. The list is copied unless
// this builder made it: 8 bytes a deployment of the group, which for ten thousand
// of them costs less than a tree's many nodes would cost every request.
func (b *builder) insert(at place, list []*Deployment, d *Deployment) []*Deployment {
	i := len(list)
	if !d.Static {
		i, _ = slices.BinarySearchFunc(list, d.ID, func(o *Deployment, want id.Deployment) int {
			if o.Static {
				return -1
			}
			return compare(o.ID, want)
		})
	}
	if _, own := b.own[at]; own {
		return slices.Insert(list, i, d)
	}
	b.own[at] = struct{}{}
	longer := make([]*Deployment, 0, len(list)+1)
	return append(append(append(longer, list[:i]...), d), list[i:]...)
}

// without returns a list without a deployment; it is a new list.
func without(list []*Deployment, d *Deployment) []*Deployment {
	i := slices.Index(list, d)
	if i < 0 {
		return list
	}
	return append(append(make([]*Deployment, 0, len(list)-1), list[:i]...), list[i+1:]...)
}

// ownWildcard returns the wildcard of that name, made or copied so that it may
// be changed.
func (b *builder) ownWildcard(name id.ModelName) *wildcard {
	if !b.wildOwn {
		b.wild, b.wildOwn = slices.Clone(b.wild), true
	}
	i, found := slices.BinarySearchFunc(b.wild, name, func(w *wildcard, want id.ModelName) int {
		if len(w.name) != len(want) {
			return len(want) - len(w.name) // the longest pattern first
		}
		return compare(w.name, want)
	})
	if !found {
		p, _ := cutPattern(string(name))
		b.wild = slices.Insert(b.wild, i, &wildcard{name: name, pattern: p})
	} else if _, own := b.own[place{wildList, string(name)}]; !own {
		w := *b.wild[i]
		b.wild[i] = &w
	}
	return b.wild[i]
}
