package tenancy

import (
	"github.com/modelgateway/modelgateway/cluster/event"
)

// bounds returns the limits as the audit log records them.
func (l Limits) bounds() event.Bounds {
	out := event.Bounds{}.Money("max_budget", l.MaxBudget).Money("soft_budget", l.SoftBudget).Text("budget_duration", l.BudgetDuration).
		Count("max_parallel_requests", l.MaxParallel).Count("tpm_limit", l.TPM).Count("rpm_limit", l.RPM).Count("tpd_limit", l.TPD).
		Text("budget_id", string(l.Budget))
	for _, m := range l.Models {
		at := "model_max_budget." + m.Model + "."
		out.Money(at+"max_budget", m.MaxBudget).Text(at+"budget_duration", m.BudgetDuration).
			Count(at+"tpm_limit", m.TPM).Count(at+"rpm_limit", m.RPM).
			Count("model_tpm_limit."+m.Model, m.ModelTPM).Count("model_rpm_limit."+m.Model, m.ModelRPM)
	}
	return out
}

func (t *Team) bounds() event.Bounds {
	return t.Limits.bounds().
		Money("team_member_budget", t.MemberBudget).Text("team_member_budget_duration", t.MemberBudgetDuration).
		Count("team_member_rpm_limit", t.MemberRPM).Count("team_member_tpm_limit", t.MemberTPM)
}

func (m *TeamMember) bounds() event.Bounds {
	return event.Bounds{}.Money("max_budget_in_team", m.MaxBudget).Text("budget_duration", m.BudgetDuration).
		Count("tpm_limit", m.TPM).Count("rpm_limit", m.RPM)
}

// placeOf returns the place of a key for its events: a key of a team is in the
// organization of the team.
func (s *Set) placeOf(k *Key) event.Place {
	in := event.Place{Organization: k.Organization, Team: k.Team}
	if t, ok := s.Team(nil, k.Team); ok && k.Team != "" {
		in.Organization = t.Organization
	}
	return in
}
