package tenancy

import (
	"slices"
	"strings"
)

// Names with a meaning of their own in a list of models.
const (
	everyModel = "all-proxy-models"  // all that there are
	teamModels = "all-team-models"   // in a list of a key in a team: all that the team may use
	noModel    = "no-default-models" // grants nothing by itself; in a user's list it leaves what teams give alone
)

// allowed is a compiled list of models; nil is everything.
type allowed struct {
	names    map[string]struct{}
	patterns [][2]string // what comes before and after the star, which stands for at least one character
	team     bool        // all-team-models is in it
	personal bool        // no-default-models is in it
}

// compile returns nil for a list that allows everything. bad is the index of a
// pattern with more than one star, or -1.
func compile(models []string) (list *allowed, bad int) {
	if len(models) == 0 {
		return nil, -1
	}
	a := &allowed{names: make(map[string]struct{}, len(models))}
	everything := false
	for i, m := range models {
		prefix, suffix, star := strings.Cut(m, "*")
		switch {
		case strings.Contains(suffix, "*"):
			return nil, i
		case m == everyModel, m == "*":
			everything = true
		case m == teamModels:
			a.team = true
		case m == noModel:
			a.personal = true
		case star:
			a.patterns = append(a.patterns, [2]string{prefix, suffix})
		default:
			a.names[m] = struct{}{}
		}
	}
	if everything {
		return nil, -1
	}
	return a, -1
}

// compiled is the list of models that were checked when they were written; one
// that cannot be read allows nothing.
func compiled(models []string) *allowed {
	a, bad := compile(models)
	if bad >= 0 {
		return &allowed{}
	}
	return a
}

// in is what a list of a key, or of a member of a team, allows in a team; nil for
// none.
func (a *allowed) in(t *Team) *allowed {
	if a != nil && a.team && t != nil {
		return nil // what the team allows, which bounds it anyway
	}
	return a
}

// at is what a user's list allows the user's keys in a team; nil for none.
func (a *allowed) at(t *Team) *allowed {
	if a != nil && a.personal && t != nil {
		return nil
	}
	return a
}

func (a *allowed) has(model string) bool {
	if a == nil {
		return true
	}
	if _, ok := a.names[model]; ok {
		return true
	}
	for _, p := range a.patterns {
		if matches(p, model) {
			return true
		}
	}
	return false
}

func matches(p [2]string, model string) bool {
	return len(model) > len(p[0])+len(p[1]) && strings.HasPrefix(model, p[0]) && strings.HasSuffix(model, p[1])
}

// covers reports whether a allows all that a pattern allows. One of a's patterns
// must do so alone: what stands for the star can be chosen so that no name and no
// narrower pattern fits.
func (a *allowed) covers(p [2]string) bool {
	return a == nil || slices.ContainsFunc(a.patterns, func(q [2]string) bool {
		return strings.HasPrefix(p[0], q[0]) && strings.HasSuffix(p[1], q[1])
	})
}

// bounds are lists of models all of which must allow a model. nil lists are left
// out, so the empty bounds allow everything.
type bounds []*allowed

// and adds a list.
func (b bounds) and(a *allowed) bounds {
	if a == nil {
		return b
	}
	return append(b, a)
}

func (b bounds) has(model string) bool {
	for _, a := range b {
		if !a.has(model) {
			return false
		}
	}
	return true
}

// within reports whether b allows no model that o does not. It may say no where the
// lists of b allow less together than each of them alone, never yes where it is no.
func (b bounds) within(o bounds) bool {
	for _, outer := range o {
		if !slices.ContainsFunc(b, func(inner *allowed) bool { return b.covered(inner, outer) }) {
			return false
		}
	}
	return true
}

// covered reports whether all that is in the list inner, and that b allows, is in
// the list outer.
func (b bounds) covered(inner, outer *allowed) bool {
	for name := range inner.names {
		if !outer.has(name) && b.has(name) {
			return false
		}
	}
	for _, p := range inner.patterns {
		if !outer.covers(p) {
			return false
		}
	}
	return true
}
