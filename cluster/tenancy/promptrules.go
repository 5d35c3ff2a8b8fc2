package tenancy

import (
	"iter"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// PromptRules say which prompts the requests of a key, or of the keys of a team or an
// organization, use.
type PromptRules struct {
	Allowed  []string // ids of the prompts that requests may name; empty: all that they may use
	Default  string   // id of the prompt of requests that name none; empty for none
	Required bool     // requests must have a prompt, and no instructions of their own
}

// The fields of PromptRules in requests.
const (
	FieldAllowedPrompts = "allowed_prompts"
	FieldDefaultPrompt  = "default_prompt_id"
	FieldRequirePrompt  = "require_prompt"
)

// Differing returns the first field in which two rules differ; empty if they are the same.
func (r PromptRules) Differing(o PromptRules) string {
	switch {
	case !slices.Equal(r.Allowed, o.Allowed):
		return FieldAllowedPrompts
	case r.Default != o.Default:
		return FieldDefaultPrompt
	case r.Required != o.Required:
		return FieldRequirePrompt
	}
	return ""
}

func (r PromptRules) record() *clusterv1.PromptRules {
	if r.Differing(PromptRules{}) == "" {
		return nil
	}
	return &clusterv1.PromptRules{Allowed: r.Allowed, DefaultId: r.Default, Required: r.Required}
}

func promptRulesFrom(r *clusterv1.PromptRules) PromptRules {
	return PromptRules{Allowed: r.GetAllowed(), Default: r.GetDefaultId(), Required: r.GetRequired()}
}

// takes reports whether rules let requests do less than others, or may do so.
func (r PromptRules) takes(before PromptRules) bool {
	return r.Required && !before.Required || len(r.Allowed) > 0 && !slices.Equal(r.Allowed, before.Allowed)
}

// useDefaultPrompt notes that a record gets a default prompt, which the caller has read in the
// same transaction.
func (s *Set) useDefaultPrompt(tx *record.Txn, before, after PromptRules) {
	if after.Default != "" && after.Default != before.Default {
		s.UsePrompt(tx, after.Default)
	}
}

// UsePrompt notes that a transaction makes something that needs a prompt, which the caller has
// read in it: the deletion of the prompt then sees what was made.
func (s *Set) UsePrompt(tx *record.Txn, prompt string) { s.grow(tx, collection{ofPrompt, prompt}) }

// CheckPromptUnused is Conflict if a prompt is the default of a key, a team or an organization. All
// that needs the prompt becomes a precondition of the transaction.
func (s *Set) CheckPromptUnused(tx *record.Txn, prompt string) error {
	s.sawAll(tx, collection{ofPrompt, prompt})
	used := counted(map[string]int{
		"keys":          count(s.keys.By(keyByDefaultPrompt, []byte(prompt))),
		"teams":         count(s.teams.By(teamByDefaultPrompt, []byte(prompt))),
		"organizations": count(s.organizations.By(organizationByDefaultPrompt, []byte(prompt))),
	})
	if used == "" {
		return nil
	}
	return &fault.Error{
		Kind: fault.Conflict, Code: "prompt_in_use", Param: "name",
		Detail: "The prompt is a default_prompt_id (" + used + "). Change or clear it there first.",
	}
}

func count[T any](all iter.Seq[T]) (n int) {
	for range all {
		n++
	}
	return n
}

// PromptTerms are the rules of a key, of its team and of its organization together.
type PromptTerms struct {
	Default   string // the prompt of requests that name none: that of the key, else of the team, else of the organization
	DefaultOf string // which of them has it: "API key", "team" or "organization"
	Required  bool   // one of them requires a prompt

	allowed [3][]string
}

// Prompts returns which prompts the principal's requests use. The master key has no rules.
func (p Principal) Prompts() PromptTerms {
	var out PromptTerms
	if p.organization != nil {
		out.add(2, "organization", &p.organization.Prompts)
	}
	if p.team != nil {
		out.add(1, "team", &p.team.Prompts)
	}
	if p.key != nil {
		out.add(0, "API key", &p.key.Prompts)
	}
	return out
}

// add adds rules that are narrower than those before them.
func (t *PromptTerms) add(at int, of string, r *PromptRules) {
	if r.Default != "" {
		t.Default, t.DefaultOf = r.Default, of
	}
	t.Required = t.Required || r.Required
	t.allowed[at] = r.Allowed
}

// Limited reports whether requests may not name every prompt.
func (t *PromptTerms) Limited() bool {
	return slices.ContainsFunc(t.allowed[:], func(list []string) bool { return len(list) > 0 })
}

// Allow reports whether requests may name a prompt: whether each list that is not empty has its
// id.
func (t *PromptTerms) Allow(prompt string) bool {
	for _, list := range t.allowed {
		if len(list) > 0 && !slices.Contains(list, prompt) {
			return false
		}
	}
	return true
}
