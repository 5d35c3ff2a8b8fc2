package tenancy

import (
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// effective is all that a key may do, as a value. That is two things: to ask
// models, and to act as a user. They are compared one by one and each as a whole:
// of two keys, one with few models and all routes and one with all models and few
// routes, neither has what a key with all models and all routes has.
type effective struct {
	models   bounds
	personal *allowed // a user's list that does not bound its keys in teams; nil for none
	team     bool     // the key is in a team
	limits   Limits   // the key's own, with the terms of its budget; other bounds are counted anyway
	user     id.User  // that it acts as
	routes   routes
	expires  time.Time
}

// effectiveOf works out what a key may do. What it belongs to and is not there
// bounds nothing: such a key is not made.
func (s *Set) effectiveOf(tx *record.Txn, k *Key) effective {
	e := effective{limits: s.terms(tx, k.Limits), user: k.User, routes: k.access(), expires: k.Expires, team: k.Team != ""}
	organization, t := k.Organization, (*Team)(nil)
	named := naming{key: k.Aliases, operator: s.operator}
	if k.Team != "" {
		if found, ok := find(tx, s.teams, []byte(k.Team)); ok {
			t, organization = found, found.Organization
			e.models, named.team = e.models.and(t.allowed), t.ModelAliases
		}
	}
	e.limits.Models = resolved(e.limits.Models, named, nil, naming{})
	e.models = e.models.and(compiled(k.Models).in(t))
	if u, ok := s.User(tx, k.User); ok && k.User != "" {
		if u.allowed != nil && u.allowed.personal {
			e.personal = u.allowed
		}
		e.models = e.models.and(u.allowed.at(t))
	}
	if m, ok := find(tx, s.teamMembers, record.Join(string(k.Team), string(k.User))); ok {
		e.models = e.models.and(m.allowed.in(t))
	}
	if o, ok := s.Organization(tx, organization); ok && organization != "" {
		e.models = e.models.and(o.allowed)
	}
	return e
}

// terms are limits with those of the budget in them.
func (s *Set) terms(tx *record.Txn, l Limits) Limits {
	if l.Budget == "" {
		return l
	}
	b, ok := find(tx, s.budgets, []byte(l.Budget))
	if !ok {
		return l
	}
	of := b.Limits
	if l.MaxBudget == nil {
		l.MaxBudget = of.MaxBudget
	}
	if l.BudgetDuration == "" {
		l.BudgetDuration = of.BudgetDuration
	}
	l.SoftBudget = or(l.SoftBudget, of.SoftBudget)
	l.MaxParallel, l.TPM, l.RPM, l.TPD = or(l.MaxParallel, of.MaxParallel), or(l.TPM, of.TPM), or(l.RPM, of.RPM), or(l.TPD, of.TPD)
	if l.Models == nil {
		l.Models = of.Models
	}
	return l
}

func or[T any](own, budget *T) *T {
	if own != nil {
		return own
	}
	return budget
}

// exceeding names what of the inference that e has o has not; empty for nothing.
func (e effective) exceeding(o effective) string {
	if !e.routes.infers() {
		return ""
	}
	if !e.routes.infersWithin(o.routes) {
		return "allowed_routes"
	}
	outer := o.models
	if e.team {
		outer = o.inTeams()
	}
	if !e.models.within(outer) {
		return "models"
	}
	if field := exceedingLimit(e.limits, o.limits); field != "" {
		return field
	}
	return e.outlasting(o)
}

// inTeams are the lists of models that bound what is made with e in a team.
func (e effective) inTeams() bounds {
	if e.personal == nil {
		return e.models
	}
	return slices.DeleteFunc(slices.Clone(e.models), func(a *allowed) bool { return a == e.personal })
}

// managesBeyond is exceeding for the management API.
func (e effective) managesBeyond(o effective) string {
	switch {
	case e.user == "" || !e.routes.manages():
		return ""
	case !e.routes.managesWithin(o.routes):
		return "allowed_routes"
	}
	return e.outlasting(o)
}

// outlasting names the end of e if it is later than that of o.
func (e effective) outlasting(o effective) string {
	if !o.expires.IsZero() && (e.expires.IsZero() || e.expires.After(o.expires)) {
		return "duration"
	}
	return ""
}

// exceedingLimit names the first bound of o that l does not keep; empty for none.
func exceedingLimit(l, o Limits) string {
	switch {
	case more(l.MaxBudget, o.MaxBudget):
		return "max_budget"
	case o.MaxBudget != nil && resetsSooner(l.BudgetDuration, o.BudgetDuration):
		return "budget_duration"
	case more(l.MaxParallel, o.MaxParallel):
		return "max_parallel_requests"
	case more(l.TPM, o.TPM):
		return "tpm_limit"
	case more(l.RPM, o.RPM):
		return "rpm_limit"
	case more(l.TPD, o.TPD):
		return "tpd_limit"
	}
	own := map[string]ModelLimits{}
	for _, m := range l.Models {
		own[m.Model] = m
	}
	for _, of := range o.Models {
		m := own[of.Model]
		switch {
		case more(m.MaxBudget, of.MaxBudget), of.MaxBudget != nil && resetsSooner(m.BudgetDuration, of.BudgetDuration),
			more(m.TPM, of.TPM), more(m.RPM, of.RPM):
			return "model_max_budget"
		case more(m.ModelTPM, of.ModelTPM):
			return "model_tpm_limit"
		case more(m.ModelRPM, of.ModelRPM):
			return "model_rpm_limit"
		}
	}
	return ""
}

// more reports whether a bound is none, or higher, where another is.
func more[T money.Pico | uint32](a, b *T) bool { return b != nil && (a == nil || *a > *b) }

// resetsSooner reports whether budget a may reset before budget b. A budget without a period
// never resets.
func resetsSooner(a, b string) bool {
	if a == "" || a == b {
		return false
	}
	if b == "" {
		return true
	}
	// A month is shorter than what it is compared with, or longer: 28 to 31 days.
	shortest, ok := days(a, 28)
	longest, known := days(b, 31)
	return !ok || !known || shortest < longest
}

// lasts reports whether a duration is at least as long as another, whatever months it
// falls into.
func lasts(a, b string) bool {
	shortest, ok := days(a, 28)
	longest, known := days(b, 31)
	return a == b || ok && known && shortest >= longest
}

// days is how long a duration is, with months of so many days.
func days(text string, month int) (time.Duration, bool) {
	switch text {
	case "hourly":
		text = "1h"
	case "daily":
		text = "1d"
	case "weekly":
		text = "7d"
	case "monthly":
		text = "30d"
	}
	d, err := ParseDuration("", text)
	if err != nil {
		return 0, false
	}
	return d.exact + time.Duration(d.months*month)*24*time.Hour, true
}
