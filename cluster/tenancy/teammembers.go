package tenancy

import (
	"slices"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// JoinTeam puts a user into a team; the transaction has read both, or makes them.
// It returns Exists for one that is in it already.
func (s *Set) JoinTeam(tx *record.Txn, t *Team, u *User, m TeamMember) (*TeamMember, error) {
	m.Team, m.User = t.ID, u.ID
	if _, ok := s.TeamMember(tx, m.Team, m.User); ok {
		return nil, occupied("user_id", "The user %s is in the team already; use /team/member_update to change what it is there.", fault.Short(string(m.User)))
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	s.grow(tx, collection{ofTeam, string(m.Team)})
	s.grow(tx, collection{ofUser, string(m.User)})
	m.Meta = tx.Stamped(record.Meta{})
	s.teamMembers.Put(tx, &m)
	return &m, nil
}

// Guest is a user who is made by being added to a team. Alone it may use no model: it has only
// what its teams grant.
func Guest(u id.User, email string) User {
	return User{ID: u, Email: email, Role: RoleInternalUser, Models: []string{access.NoModel}}
}

// UpdateTeamMember puts a membership in the place of the one that the user has in
// the team. It returns NotFound if the user has none, and Conflict if
// ifRevision is given and is not its current revision.
func (s *Set) UpdateTeamMember(tx *record.Txn, m TeamMember, ifRevision uint64) (*TeamMember, error) {
	before, err := s.NeedTeamMember(tx, m.Team, m.User)
	if err != nil {
		return nil, err
	}
	if err := record.CheckRevision("record", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if m.Role != before.Role || narrows(before.AllowedModels, m.AllowedModels, before.limits(), m.limits()) {
		tx.RequireFence()
	}
	m.Meta = tx.Stamped(before.Meta)
	s.teamMembers.Put(tx, &m)
	return &m, nil
}

// DeleteTeamMember takes a user out of a team, with the keys that the user has in
// it. It returns the membership as it was.
func (s *Set) DeleteTeamMember(tx *record.Txn, t id.Team, u id.User) (*TeamMember, error) {
	old, err := s.NeedTeamMember(tx, t, u)
	if err != nil {
		return nil, err
	}
	s.sawAll(tx, collection{ofUser, string(u)})
	for k := range s.keys.By(keyByUser, []byte(u)) {
		if k.Team == t {
			s.deleteKey(tx, k)
		}
	}
	s.teamMembers.Delete(tx, old)
	tx.RequireFence()
	return old, nil
}

// NeedTeamMember returns a membership that a request names; its error is that there
// is no such team, or that the user is not in it.
func (s *Set) NeedTeamMember(tx *record.Txn, t id.Team, u id.User) (*TeamMember, error) {
	if _, err := s.NeedTeam(tx, t); err != nil {
		return nil, err
	}
	m, ok := s.TeamMember(tx, t, u)
	if !ok {
		return nil, absent(codeNoMember, "user_id", "The user %s is not in the team.", fault.Short(string(u)))
	}
	return m, nil
}

// check rejects a membership with inconsistent fields.
func (m *TeamMember) check() error {
	var bad int
	if m.allowed, bad = access.Compile(m.AllowedModels); bad >= 0 {
		return fault.Field("allowed_models["+strconv.Itoa(bad)+"]", "invalid_value", "A model pattern has at most one star, such as openai/*.")
	}
	if err := checkAmount("max_budget_in_team", m.MaxBudget); err != nil {
		return err
	}
	return checkPeriod("budget_duration", m.BudgetDuration)
}

// limits are what bounds the user in the team.
func (m *TeamMember) limits() Limits {
	return Limits{MaxBudget: m.MaxBudget, BudgetDuration: m.BudgetDuration, TPM: m.TPM, RPM: m.RPM}
}

// TeamPermissions is everything that members who are no admins can be let do with a
// team's keys.
func TeamPermissions() []string {
	return []string{
		surface.PermitGenerateKey, surface.PermitGenerateServiceAccountKey, surface.PermitUpdateKey, surface.PermitDeleteKeys,
		surface.PermitRegenerateKey, surface.PermitBlockKey, surface.PermitUnblockKey, surface.PermitListKeys,
		surface.PermitGetKey, surface.PermitCheckKeyHealth,
	}
}

// Permissions is what members who are no admins may do with the team's keys; where the team does
// not say, they may only see them.
func (t *Team) Permissions() []string {
	if len(t.MemberPermissions) == 0 {
		return []string{surface.PermitGetKey, surface.PermitCheckKeyHealth}
	}
	return slices.Clone(t.MemberPermissions)
}
