package rights

import (
	"maps"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// MayManageTeam refuses who may not change a team's settings and members: others
// than its team admins, an org_admin of its organization, and proxy_admin.
func (r *Rights) MayManageTeam(t *tenancy.Team) error {
	if err := r.checkReach(t.Organization); err != nil {
		return err
	}
	if r.Admin() || r.runs(t.Organization) || r.leads(t.ID) {
		return nil
	}
	return denied("team_id", "Only a team admin, an org_admin of the team's organization, or a proxy_admin may do that.")
}

// MayGrantTeam refuses a team, as the operation would leave it, if the caller may
// not make it so. before is nil for one that is new. Models, aliases of models, limits,
// prompts, guardrails, the organization and blocked are for those above the team. Models that the
// organization has not are model_access_denied for every caller.
func (r *Rights) MayGrantTeam(before, after *tenancy.Team) error {
	if r.Admin() {
		return r.organizationHas(before, after)
	}
	if err := r.checkReach(after.Organization); err != nil {
		return err
	}
	had := id.Budget("")
	if before != nil {
		had = before.Limits.Budget
	}
	switch {
	case r.runs(after.Organization) && (before == nil || before.Organization == after.Organization || r.runs(before.Organization)):
		if err := r.checkBudget(had, after.Limits.Budget); err != nil {
			return err
		}
		if err := r.organizationHas(before, after); err != nil {
			return err
		}
		return r.teamWithin(before, after)
	case before == nil:
		return denied("organization_id", "Only an org_admin, in the organization, or a proxy_admin may make a team.")
	}
	if err := r.MayManageTeam(before); err != nil {
		return err
	}
	field := ""
	switch {
	case before.Organization != after.Organization:
		field = "organization_id"
	case !slices.Equal(before.Models, after.Models):
		field = "models"
	case !maps.Equal(before.ModelAliases, after.ModelAliases):
		field = "model_aliases"
	case before.Blocked != after.Blocked:
		field = "blocked"
	case !before.Limits.Same(after.Limits):
		field = "limits"
	case before.Prompts.Differing(after.Prompts) != "":
		field = before.Prompts.Differing(after.Prompts)
	case !slices.Equal(before.Guardrails, after.Guardrails):
		field = tenancy.FieldGuardrails
	default:
		return r.checkDefaults(before, after)
	}
	return denied(field, "A team admin may not change the team's %s. An org_admin of its organization, or a proxy_admin, may.", field)
}

// checkDefaults denies a team admin's change of what members without bounds of their
// own get, if it is looser than what the admin has in the team. The admin may have it
// by those defaults.
func (r *Rights) checkDefaults(before, after *tenancy.Team) error {
	p, ok := r.place(before.ID)
	if !ok {
		return nil // MayManageTeam has denied it
	}
	held, field := p.LimitsIn(before), ""
	switch {
	case raised(before.MemberBudget, after.MemberBudget, held.MaxBudget):
		field = "team_member_budget"
	case held.MaxBudget != nil && before.MemberBudgetDuration != after.MemberBudgetDuration && period.ResetsSooner(after.MemberBudgetDuration, held.BudgetDuration):
		field = "team_member_budget_duration"
	case raised(before.MemberRPM, after.MemberRPM, held.RPM):
		field = "team_member_rpm_limit"
	case raised(before.MemberTPM, after.MemberTPM, held.TPM):
		field = "team_member_tpm_limit"
	}
	if field != "" {
		return denied(field, "A team admin may not raise %s above what the admin has in the team. An org_admin of its organization, or a proxy_admin, may.", field)
	}
	if before.MemberKeyDuration != "" && before.MemberKeyDuration != after.MemberKeyDuration &&
		(after.MemberKeyDuration == "" || !period.Lasts(before.MemberKeyDuration, after.MemberKeyDuration)) {
		return denied("team_member_key_duration", "A team admin may shorten team_member_key_duration only. An org_admin of the team's organization, or a proxy_admin, may lengthen it.")
	}
	return nil
}

// raised reports whether a change of a bound exceeds another bound, held. Lowering a
// bound that is above it does not.
func raised[T money.Pico | uint32](before, after, held *T) bool {
	same := before == nil && after == nil || before != nil && after != nil && *before == *after
	return !same && more(after, held) && (before == nil || more(after, before))
}

// placeIn returns a place in a team with the team's defaults in it.
func placeIn(t *tenancy.Team, m *tenancy.TeamMember) *tenancy.TeamMember {
	l := m.LimitsIn(t)
	return &tenancy.TeamMember{MaxBudget: l.MaxBudget, BudgetDuration: l.BudgetDuration, RPM: l.RPM, TPM: l.TPM}
}

// organizationHas refuses models of a team that its organization has not.
func (r *Rights) organizationHas(before, after *tenancy.Team) error {
	if after.Organization == "" || len(after.Models) == 0 ||
		before != nil && before.Organization == after.Organization && slices.Equal(before.Models, after.Models) {
		return nil
	}
	list, bad := access.Compile(after.Models)
	if bad >= 0 {
		return access.BadPattern("", bad)
	}
	if o, ok := r.set.Organization(r.tx, after.Organization); ok && !(access.Intersection{}).And(list).Within((access.Intersection{}).And(o.Allowed())) {
		return modelsDenied("The organization may not use all of these models. Leave out those that it has not, or add them to the organization first.")
	}
	return nil
}

// teamWithin refuses a team with more than the asking key has and the team had.
func (r *Rights) teamWithin(before, after *tenancy.Team) error {
	own, has, prompts := effectiveOf(r.set, r.tx, r.key), r.teamBounds(after), r.teamPrompts(after)
	limits := r.set.TeamTerms(r.tx, after)
	what, guards := prompts.exceeding(own.prompts), r.teamGuardrails(after)
	if what == "" {
		what = guards.exceeding(own.guards)
	}
	if !has.Within(own.inTeams()) {
		what = "models"
	}
	if what != "" && (before == nil || !has.Within(r.teamBounds(before)) || prompts.exceeding(r.teamPrompts(before)) != "" ||
		guards.exceeding(r.teamGuardrails(before)) != "") {
		return exceeds(what)
	}
	if what = exceedingLimit(limits, own.limits); what != "" && (before == nil || exceedingLimit(limits, r.set.TeamTerms(r.tx, before)) != "") {
		return exceeds(what)
	}
	return nil
}

// teamBounds are the lists of models that bound every key of a team.
func (r *Rights) teamBounds(t *tenancy.Team) access.Intersection {
	b := (access.Intersection{}).And(access.Compiled(t.Models))
	if o, ok := r.set.Organization(r.tx, t.Organization); ok && t.Organization != "" {
		b = b.And(o.Allowed())
	}
	return b
}

// MayGrantTeamMember refuses a place in a team, as the operation would leave it, if
// the caller may not grant it: with models or bounds beyond those of the asking key
// and, for a team admin, of the admin's own place.
func (r *Rights) MayGrantTeamMember(t *tenancy.Team, m *tenancy.TeamMember) error {
	if err := r.MayManageTeam(t); err != nil || r.Admin() {
		return err
	}
	before, there := r.set.TeamMember(r.tx, t.ID, m.User)
	has := func(of *tenancy.TeamMember) access.Intersection {
		return r.teamBounds(t).And(access.Compiled(of.AllowedModels).InTeam())
	}
	own := effectiveOf(r.set, r.tx, r.key).inTeams()
	if !r.runs(t.Organization) {
		if p, ok := r.place(t.ID); ok {
			own = slices.Clip(own).And(p.Allowed().InTeam())
			given, held := placeIn(t, m), placeIn(t, p)
			if what := exceedingPlace(given, held); what != "" && (!there || exceedingPlace(given, placeIn(t, before)) != "") {
				return denied(what, "This API key's user has a %s in the team, and places that it gives need one that does not exceed it.", what)
			}
		}
	}
	if !has(m).Within(own) && (!there || !has(m).Within(has(before))) {
		return modelsDenied("The place includes models that this API key may not use. Name in allowed_models only such as it may.")
	}
	return nil
}

// exceedingPlace names the first bound of a place in a team that another does not
// keep; empty for none.
func exceedingPlace(m, o *tenancy.TeamMember) string {
	switch {
	case more(m.MaxBudget, o.MaxBudget):
		return "max_budget_in_team"
	case o.MaxBudget != nil && period.ResetsSooner(m.BudgetDuration, o.BudgetDuration):
		return "budget_duration"
	case more(m.TPM, o.TPM):
		return "tpm_limit"
	case more(m.RPM, o.RPM):
		return "rpm_limit"
	}
	return ""
}
