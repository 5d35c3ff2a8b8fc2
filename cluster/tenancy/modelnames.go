package tenancy

import (
	"cmp"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// A limit of a model may be given under an alias. It is kept under the model that the
// alias resolves to at that time, so that changing the alias later does not lift it.

// Named returns the set with the operator's aliases, by which it resolves the models of
// limits that are written from then on.
func (s *Set) Named(operator Aliases) *Set {
	next := *s
	next.operator = operator
	return &next
}

// naming resolves what a limit or a request calls a model.
type naming struct {
	key, team map[string]string // may be nil
	operator  Aliases           // nil: nothing resolves, because nothing is known to be served
}

// model returns the served model that a name resolves to; false for a name of none.
func (n naming) model(name string) (string, bool) {
	if n.operator == nil {
		return name, false
	}
	to, ok := n.key[name]
	if !ok {
		to, ok = n.team[name]
	}
	if !ok {
		to = name
	}
	model := n.operator.Alias(id.ModelName(to))
	return string(model), n.operator.Serves(model)
}

// resolved returns limits by the models that their names resolve to, sorted. before
// are the names that applied to the limits that are in kept already: an alias that goes
// with this change still says what they limit. A name of no served model stays as it
// is, and is resolved by a later change or by each request.
func resolved(limits []ModelLimits, after naming, kept []ModelLimits, before naming) []ModelLimits {
	if !slices.ContainsFunc(limits, func(m ModelLimits) bool { return !m.Resolved }) {
		return limits
	}
	out := make([]ModelLimits, 0, len(limits))
	for _, m := range limits {
		if !m.Resolved {
			known := slices.ContainsFunc(kept, func(k ModelLimits) bool { return k.Model == m.Model && !k.Resolved })
			model, ok := "", false
			if known {
				model, ok = before.model(m.Model)
			}
			if !ok {
				model, ok = after.model(m.Model)
			}
			if ok {
				m.Model, m.Resolved = model, true
			}
		}
		if i := slices.IndexFunc(out, func(o ModelLimits) bool { return o.Model == m.Model }); i >= 0 {
			merge(&out[i], &m)
			continue
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b ModelLimits) int { return cmp.Compare(a.Model, b.Model) })
	return out
}

// merge adds to m another limit of the same model: the tighter one of each holds. An
// account has one window, so of two budgets the smaller one holds, with its own duration.
func merge(m, o *ModelLimits) {
	switch {
	case o.MaxBudget != nil && (m.MaxBudget == nil || *o.MaxBudget < *m.MaxBudget):
		m.MaxBudget, m.BudgetDuration = o.MaxBudget, o.BudgetDuration
	case m.MaxBudget == nil && m.BudgetDuration == "":
		m.BudgetDuration = o.BudgetDuration
	}
	m.RPM, m.TPM = tighter(m.RPM, o.RPM), tighter(m.TPM, o.TPM)
	m.ModelRPM, m.ModelTPM = tighter(m.ModelRPM, o.ModelRPM), tighter(m.ModelTPM, o.ModelTPM)
	m.Resolved = m.Resolved || o.Resolved
}

// namesOf are the names that a key's requests and limits use.
func (s *Set) namesOf(tx *record.Txn, k *Key) naming {
	n := naming{key: k.Aliases, operator: s.operator}
	if k.Team != "" {
		if t, ok := find(tx, s.teams, []byte(k.Team)); ok {
			n.team = t.ModelAliases
		}
	}
	return n
}

// keyModels returns the limits of a key's models as they are kept; before is the key
// as it is, empty for a new one.
func (s *Set) keyModels(tx *record.Txn, before, k *Key) []ModelLimits {
	if len(k.Limits.Models) == 0 {
		return k.Limits.Models
	}
	return resolved(k.Limits.Models, s.namesOf(tx, k), before.Limits.Models, s.namesOf(tx, before))
}

// teamModels is keyModels for a team.
func (s *Set) teamModels(before, t *Team) []ModelLimits {
	return resolved(t.Limits.Models, naming{team: t.ModelAliases, operator: s.operator}, before.Limits.Models, naming{team: before.ModelAliases, operator: s.operator})
}

// models is keyModels for everything that has no aliases of its own.
func (s *Set) models(l Limits) []ModelLimits {
	return resolved(l.Models, naming{operator: s.operator}, nil, naming{})
}
