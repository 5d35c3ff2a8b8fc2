package tenancy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// FieldGuardrails is the field of requests with the guardrails of a key, a team or an organization.
const FieldGuardrails = "guardrails"

// takesGuardrails reports whether a list has a guardrail that the one before has not.
func takesGuardrails(before, after []string) bool {
	return slices.ContainsFunc(after, func(g string) bool { return !slices.Contains(before, g) })
}

// UseGuardrails notes that a record gets guardrails, which the caller has read in the same
// transaction.
func (s *Set) UseGuardrails(tx *record.Txn, before, after []string) {
	for _, g := range after {
		if !slices.Contains(before, g) {
			s.grow(tx, collection{ofGuardrail, g})
		}
	}
}

// CheckGuardrailUnused is Conflict if a guardrail always applies to the requests of a key, a team or
// an organization, or to those for deployments, of which the caller knows the number. All that has the
// guardrail becomes a precondition of the transaction.
func (s *Set) CheckGuardrailUnused(tx *record.Txn, guardrail string, deployments int) error {
	s.sawAll(tx, collection{ofGuardrail, guardrail})
	used := counted(map[string]int{
		"keys":          count(s.keys.By(keyByGuardrail, []byte(guardrail))),
		"teams":         count(s.teams.By(teamByGuardrail, []byte(guardrail))),
		"organizations": count(s.organizations.By(organizationByGuardrail, []byte(guardrail))),
		"deployments":   deployments,
	})
	if used == "" {
		return nil
	}
	return &fault.Error{
		Kind: fault.Conflict, Code: "guardrail_in_use", Param: "guardrail_id",
		Detail: "The guardrail always applies to requests (" + used + "). Remove it from guardrails there first.",
	}
}

// counted says how many of what there are; empty for none.
func counted(of map[string]int) string {
	var out []string
	for noun, n := range of {
		if n > 0 {
			out = append(out, noun+": "+strconv.Itoa(n))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// guardrailKeys are the values of the index of records by guardrail.
func guardrailKeys(guardrails []string) [][]byte {
	if len(guardrails) == 0 {
		return nil
	}
	out := make([][]byte, len(guardrails))
	for i, g := range guardrails {
		out[i] = []byte(g)
	}
	return out
}

// BoundGuardrails are guardrails that always apply to a principal's requests.
type BoundGuardrails struct {
	Of  string   // what has them: "API key", "team" or "organization"
	IDs []string // not to be changed
}

// Guardrails returns the guardrails that always apply to the principal's requests: those of the
// key, of its team and of its organization. The master key has none.
func (p Principal) Guardrails() [3]BoundGuardrails {
	var out [3]BoundGuardrails
	if p.key != nil {
		out[0] = BoundGuardrails{"API key", p.key.Guardrails}
	}
	if p.team != nil {
		out[1] = BoundGuardrails{"team", p.team.Guardrails}
	}
	if p.organization != nil {
		out[2] = BoundGuardrails{"organization", p.organization.Guardrails}
	}
	return out
}
