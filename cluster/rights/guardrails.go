package rights

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// guardrailBounds are the guardrails that always apply to a key's requests: those of the key, its
// team and its organization.
type guardrailBounds []string

func (b guardrailBounds) and(ids []string) guardrailBounds { return append(slices.Clip(b), ids...) }

// exceeding names the field by which o has a guardrail that b has not; empty if b has all.
func (b guardrailBounds) exceeding(o guardrailBounds) string {
	if slices.ContainsFunc(o, func(g string) bool { return !slices.Contains(b, g) }) {
		return tenancy.FieldGuardrails
	}
	return ""
}

// teamGuardrails are the guardrails that apply to requests of every key of a team.
func (r *Rights) teamGuardrails(t *tenancy.Team) guardrailBounds {
	b := guardrailBounds(nil).and(t.Guardrails)
	if o, ok := r.set.Organization(r.tx, t.Organization); ok && t.Organization != "" {
		b = b.and(o.Guardrails)
	}
	return b
}
