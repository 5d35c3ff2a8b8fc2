package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Names with a meaning of their own in a list of models.
const (
	EveryModel = "all-proxy-models"  // all that there are
	TeamModels = "all-team-models"   // in a list of a key in a team: all that the team may use
	NoModel    = "no-default-models" // grants nothing by itself; in a user's list it leaves what teams give alone
)

// Models is a compiled list of models; nil is everything.
type Models struct {
	names    map[string]struct{}
	patterns [][2]string // what comes before and after the star, which stands for at least one character
	team     bool        // all-team-models is in it
	personal bool        // no-default-models is in it
}

// Compile returns nil for a list that allows everything. bad is the index of a
// pattern with more than one star, or -1.
func Compile(models []string) (list *Models, bad int) {
	if len(models) == 0 {
		return nil, -1
	}
	a := &Models{names: make(map[string]struct{}, len(models))}
	everything := false
	for i, m := range models {
		prefix, suffix, star := strings.Cut(m, "*")
		switch {
		case strings.Contains(suffix, "*"):
			return nil, i
		case m == EveryModel, m == "*":
			everything = true
		case m == TeamModels:
			a.team = true
		case m == NoModel:
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

// BadPattern is the error for the pattern that Compile rejects, by its index; at is what comes before
// the name of the list, empty or ending with a dot.
func BadPattern(at string, i int) *fault.Error {
	return fault.Field(fmt.Sprintf("%smodels[%d]", at, i), "invalid_value", "A model pattern has at most one star, such as openai/*.")
}

// Compiled is the list of models that were checked when they were written; one
// that cannot be read allows nothing.
func Compiled(models []string) *Models {
	a, bad := Compile(models)
	if bad >= 0 {
		return &Models{}
	}
	return a
}

// InTeam returns what a list of a key, or of a member of a team, allows in the team. It is nil
// where all-team-models leaves it to the team, whose own list bounds it anyway.
func (a *Models) InTeam() *Models {
	if a != nil && a.team {
		return nil
	}
	return a
}

// OfUserInTeam returns what a user's list allows the user's keys in teams. It is nil for a list with
// no-default-models.
func (a *Models) OfUserInTeam() *Models {
	if a.Personal() {
		return nil
	}
	return a
}

// Personal reports whether a user's list bounds only the keys outside of teams: it has
// no-default-models.
func (a *Models) Personal() bool { return a != nil && a.personal }

// Has reports whether the list allows a model.
func (a *Models) Has(model string) bool {
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
func (a *Models) covers(p [2]string) bool {
	return a == nil || slices.ContainsFunc(a.patterns, func(q [2]string) bool {
		return strings.HasPrefix(p[0], q[0]) && strings.HasSuffix(p[1], q[1])
	})
}

// Intersection are lists of models all of which must allow a model. nil lists are left out, so the
// empty Intersection allows everything.
type Intersection []*Models

// And adds a list.
func (b Intersection) And(a *Models) Intersection {
	if a == nil {
		return b
	}
	return append(b, a)
}

// Has reports whether all lists allow a model.
func (b Intersection) Has(model string) bool {
	for _, a := range b {
		if !a.Has(model) {
			return false
		}
	}
	return true
}

// Within reports whether b allows no model that o does not. It may say no where the
// lists of b allow less together than each of them alone, never yes where it is no.
func (b Intersection) Within(o Intersection) bool {
	for _, outer := range o {
		if !slices.ContainsFunc(b, func(inner *Models) bool { return b.covered(inner, outer) }) {
			return false
		}
	}
	return true
}

// covered reports whether all that is in the list inner, and that b allows, is in
// the list outer.
func (b Intersection) covered(inner, outer *Models) bool {
	for name := range inner.names {
		if !outer.Has(name) && b.Has(name) {
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
