package tenancy

import (
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Defaults are what users and teams get that are created without it. They come from
// the configuration file: a node applies its own to the requests that it answers.
// Records that exist keep what they have.
type Defaults struct {
	User UserDefaults
	Team TeamDefaults
}

// UserDefaults are those of users who are no administrators of the whole gateway.
type UserDefaults struct {
	Role   Role // of users that are created without a role; empty: internal_user
	Models []string
	Limits Limits
}

// TeamDefaults are those of teams.
type TeamDefaults struct {
	Organization id.Organization
	Models       []string
	Permissions  []string // of members who are no admins
	Limits       Limits
}

// Complete returns the user with what it lacks. The models of a guest stay as they
// are: it has none.
func (d UserDefaults) Complete(u User) User {
	if u.Role == RoleProxyAdmin || u.Role == RoleProxyAdminViewer {
		return u
	}
	if len(u.Models) == 0 {
		u.Models = d.Models
	}
	u.Limits = u.Limits.or(d.Limits)
	return u
}

// Complete returns the team with what it lacks.
func (d TeamDefaults) Complete(t Team) Team {
	if t.Organization == "" {
		t.Organization = d.Organization
	}
	if len(t.Models) == 0 {
		t.Models = d.Models
	}
	if len(t.MemberPermissions) == 0 {
		t.MemberPermissions = d.Permissions
	}
	t.Limits = t.Limits.or(d.Limits)
	return t
}

// or returns the limits with those of d where there is none. A limit of its own
// counts before one of the budget that it names, so a default does too.
func (l Limits) or(d Limits) Limits {
	if l.MaxBudget == nil {
		l.MaxBudget = d.MaxBudget
	}
	if l.SoftBudget == nil {
		l.SoftBudget = d.SoftBudget
	}
	if l.BudgetDuration == "" {
		l.BudgetDuration = d.BudgetDuration
	}
	if l.MaxParallel == nil {
		l.MaxParallel = d.MaxParallel
	}
	if l.TPM == nil {
		l.TPM = d.TPM
	}
	if l.RPM == nil {
		l.RPM = d.RPM
	}
	return l
}
