package rights

import (
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// effective is all that a key may do, as a value. That is two things: to ask
// models, and to act as a user. They are compared one by one and each as a whole:
// of two keys, one with few models and all routes and one with all models and few
// routes, neither has what a key with all models and all routes has.
type effective struct {
	models   access.Intersection
	personal *access.Models // a user's list that does not bound its keys in teams; nil for none
	team     bool           // the key is in a team
	limits   tenancy.Limits // the key's own, with the terms of its budget; other bounds are counted anyway
	user     id.User        // that it acts as
	routes   access.Routes
	prompts  promptBounds
	guards   guardrailBounds
	expires  time.Time
}

// effectiveOf works out what a key may do. What it belongs to and is not there
// bounds nothing: such a key is not made.
func effectiveOf(s *tenancy.Set, tx *record.Txn, k *tenancy.Key) effective {
	e := effective{limits: s.KeyTerms(tx, k), user: k.User, routes: k.Routes(), expires: k.Expires, team: k.Team != ""}
	organization, t := k.Organization, (*tenancy.Team)(nil)
	if k.Team != "" {
		if found, ok := s.Team(tx, k.Team); ok {
			t, organization = found, found.Organization
			e.models = e.models.And(t.Allowed())
			e.prompts, e.guards = e.prompts.and(t.Prompts), e.guards.and(t.Guardrails)
		}
	}
	e.models = e.models.And(t.ModelsOf(access.Compiled(k.Models)))
	e.prompts, e.guards = e.prompts.and(k.Prompts), e.guards.and(k.Guardrails)
	if u, ok := s.User(tx, k.User); ok && k.User != "" {
		if u.Allowed().Personal() {
			e.personal = u.Allowed()
		}
		e.models = e.models.And(t.ModelsOfUser(u.Allowed()))
	}
	if m, ok := s.TeamMember(tx, k.Team, k.User); ok {
		e.models = e.models.And(t.ModelsOf(m.Allowed()))
	}
	if o, ok := s.Organization(tx, organization); ok && organization != "" {
		e.models = e.models.And(o.Allowed())
		e.prompts, e.guards = e.prompts.and(o.Prompts), e.guards.and(o.Guardrails)
	}
	return e
}

// exceeding names what of the inference that e has o has not; empty for nothing.
func (e effective) exceeding(o effective) string {
	if !e.routes.Infers() {
		return ""
	}
	if !e.routes.InfersWithin(o.routes) {
		return "allowed_routes"
	}
	outer := o.models
	if e.team {
		outer = o.inTeams()
	}
	if !e.models.Within(outer) {
		return "models"
	}
	if field := e.prompts.exceeding(o.prompts); field != "" {
		return field
	}
	if field := e.guards.exceeding(o.guards); field != "" {
		return field
	}
	if field := exceedingLimit(e.limits, o.limits); field != "" {
		return field
	}
	return e.outlasting(o)
}

// inTeams are the lists of models that bound what is made with e in a team.
func (e effective) inTeams() access.Intersection {
	if e.personal == nil {
		return e.models
	}
	return slices.DeleteFunc(slices.Clone(e.models), func(a *access.Models) bool { return a == e.personal })
}

// managesBeyond is exceeding for the management API.
func (e effective) managesBeyond(o effective) string {
	switch {
	case e.user == "" || !e.routes.Manages():
		return ""
	case !e.routes.ManagesWithin(o.routes):
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
func exceedingLimit(l, o tenancy.Limits) string {
	switch {
	case more(l.MaxBudget, o.MaxBudget):
		return "max_budget"
	case o.MaxBudget != nil && period.ResetsSooner(l.BudgetDuration, o.BudgetDuration):
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
	own := map[string]tenancy.ModelLimits{}
	for _, m := range l.Models {
		own[m.Model] = m
	}
	for _, of := range o.Models {
		m := own[of.Model]
		switch {
		case more(m.MaxBudget, of.MaxBudget), of.MaxBudget != nil && period.ResetsSooner(m.BudgetDuration, of.BudgetDuration),
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
