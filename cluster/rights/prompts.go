package rights

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// promptBounds are what bounds the prompts of a key's requests: the rules of the key, its team and
// its organization together.
type promptBounds struct {
	lists    [][]string // all of them hold; none: every prompt
	required bool
}

func (b promptBounds) and(r tenancy.PromptRules) promptBounds {
	if len(r.Allowed) > 0 {
		b.lists = append(slices.Clip(b.lists), r.Allowed)
	}
	b.required = b.required || r.Required
	return b
}

// exceeding names the first field by which b allows what o does not; empty for none.
func (b promptBounds) exceeding(o promptBounds) string {
	switch {
	case o.required && !b.required:
		return tenancy.FieldRequirePrompt
	case len(o.lists) == 0:
		return ""
	case len(b.lists) == 0:
		return tenancy.FieldAllowedPrompts
	}
	for _, prompt := range b.lists[0] {
		if b.has(prompt) && !o.has(prompt) {
			return tenancy.FieldAllowedPrompts
		}
	}
	return ""
}

func (b promptBounds) has(prompt string) bool {
	return !slices.ContainsFunc(b.lists, func(list []string) bool { return !slices.Contains(list, prompt) })
}

// teamPrompts are the rules that bound every key of a team.
func (r *Rights) teamPrompts(t *tenancy.Team) promptBounds {
	b := promptBounds{}.and(t.Prompts)
	if o, ok := r.set.Organization(r.tx, t.Organization); ok && t.Organization != "" {
		b = b.and(o.Prompts)
	}
	return b
}
