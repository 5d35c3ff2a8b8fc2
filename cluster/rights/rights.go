package rights

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// Rights are what a caller may see and change, by one set. In a transaction, the records from
// which the rights follow are preconditions of its commit: if a role is removed meanwhile, the
// transaction fails.
//
// All errors are Denied with code insufficient_permissions, unless documented otherwise. A caller
// grants no more than it has: a record that a MayGrant method permits has no right that both the
// caller's key and the previous record lack.
type Rights struct {
	set  *tenancy.Set
	tx   *record.Txn
	key  *tenancy.Key  // that asks; nil for the master key and for one that is good no more
	user *tenancy.User // that the key acts as; nil if it acts as nobody
	role tenancy.Role
	org  id.Organization
	// still says that nothing may be changed, whatever the user is in organizations
	// and teams.
	still bool
}

// Of returns what a principal may do. tx is nil for what only reads.
func Of(s *tenancy.Set, tx *record.Txn, p tenancy.Principal) *Rights {
	r := &Rights{set: s, tx: tx}
	if p.Master {
		r.role = tenancy.RoleProxyAdmin
		return r
	}
	k, ok := s.Key(tx, p.Hash)
	if !ok || k.Blocked {
		return r
	}
	if r.org = k.Organization; k.Team != "" {
		t, ok := s.Team(tx, k.Team)
		if !ok || t.Blocked {
			return r
		}
		r.org = t.Organization
	}
	r.key = k
	if k.User == "" || k.Type == access.TypeInference {
		return r
	}
	if u, ok := s.User(tx, k.User); ok && !u.Blocked {
		r.user, r.role = u, u.Role.For(k.Type)
		r.still = k.Type == access.TypeReadOnly || u.Role == tenancy.RoleProxyAdminViewer || u.Role == tenancy.RoleInternalUserViewer
	}
	return r
}

// Admin reports whether everything is allowed: for the master key and for keys of
// users who are proxy_admin.
func (r *Rights) Admin() bool { return r.role == tenancy.RoleProxyAdmin }

// SeesAll reports whether everything may be read.
func (r *Rights) SeesAll() bool { return r.Admin() || r.role == tenancy.RoleProxyAdminViewer }

// User returns the user that the key acts as; none for the master key.
func (r *Rights) User() id.User {
	if r.user == nil {
		return ""
	}
	return r.user.ID
}

// Organization returns the organization of the key.
func (r *Rights) Organization() id.Organization { return r.org }

// administers reports whether the user is org_admin of an organization, to see
// what is there.
func (r *Rights) administers(o id.Organization) bool {
	if o == "" || r.user == nil {
		return false
	}
	m, ok := r.set.OrganizationMember(r.tx, o, r.user.ID)
	return ok && m.Role == tenancy.RoleOrgAdmin
}

// runs reports whether the user is org_admin of an organization that the key reaches, to
// change what is there.
func (r *Rights) runs(o id.Organization) bool { return !r.still && r.reaches(o) && r.administers(o) }

// belongs reports whether the user is a member of an organization.
func (r *Rights) belongs(o id.Organization) bool {
	if o == "" || r.user == nil {
		return false
	}
	_, ok := r.set.OrganizationMember(r.tx, o, r.user.ID)
	return ok
}

// place returns the user's place in a team, if it has one.
func (r *Rights) place(t id.Team) (*tenancy.TeamMember, bool) {
	if t == "" || r.user == nil {
		return nil, false
	}
	return r.set.TeamMember(r.tx, t, r.user.ID)
}

// leads reports whether the user is an admin of a team, to change what is there.
func (r *Rights) leads(t id.Team) bool {
	m, ok := r.place(t)
	return ok && m.Role == tenancy.TeamAdmin && r.role == tenancy.RoleInternalUser
}

// controls reports whether the caller may manage the whole user: a plain one whose memberships
// are all in organizations that the caller administers.
func (r *Rights) controls(u *tenancy.User) bool {
	if r.still || r.user == nil || u == nil || !plain(u.Role) {
		return false
	}
	if r.tx != nil {
		r.set.SawAllOfUser(r.tx, u.ID)
	}
	member := false
	for m := range r.set.OrganizationsOf(u.ID) {
		if !r.runs(m.Organization) {
			return false
		}
		member = true
	}
	for m := range r.set.TeamsOf(u.ID) {
		t, ok := r.set.Team(r.tx, m.Team)
		if !ok || !r.runs(t.Organization) {
			return false
		}
	}
	return member
}

// plain reports whether a role is one that an org_admin may give.
func plain(role tenancy.Role) bool {
	return role == tenancy.RoleInternalUser || role == tenancy.RoleInternalUserViewer
}

// MaySeeUser reports whether a user may be read.
func (r *Rights) MaySeeUser(u *tenancy.User) bool {
	if r.SeesAll() || r.user != nil && r.user.ID == u.ID {
		return true
	}
	for m := range r.set.OrganizationsOf(u.ID) {
		if r.administers(m.Organization) {
			return true
		}
	}
	return false
}

// SeesWhole reports whether all memberships and the whole spend of a user may be shown.
// An org_admin sees the whole of a user whose memberships are all in organizations that
// the admin runs. Of a shared user the admin sees only the part in those organizations.
func (r *Rights) SeesWhole(u *tenancy.User) bool {
	if r.SeesAll() || r.user != nil && r.user.ID == u.ID {
		return true
	}
	for m := range r.set.OrganizationsOf(u.ID) {
		if !r.administers(m.Organization) {
			return false
		}
	}
	for m := range r.set.TeamsOf(u.ID) {
		if t, ok := r.set.Team(r.tx, m.Team); !ok || !r.administers(t.Organization) {
			return false
		}
	}
	return true
}

// Administers reports whether the user sees everything, or is org_admin of an organization.
func (r *Rights) Administers(o id.Organization) bool { return r.SeesAll() || r.administers(o) }

// MaySeeTeam reports whether a team may be read.
func (r *Rights) MaySeeTeam(t *tenancy.Team) bool {
	if r.SeesAll() || r.administers(t.Organization) {
		return true
	}
	_, ok := r.place(t.ID)
	return ok
}

// MaySeeOrganization reports whether an organization may be read.
func (r *Rights) MaySeeOrganization(o *tenancy.Organization) bool {
	return r.SeesAll() || r.belongs(o.ID)
}

// MayUseResource reports whether the caller may read and use a prompt or guardrail of an
// organization. Every caller may use those without an organization.
func (r *Rights) MayUseResource(o id.Organization) bool {
	return o == "" || r.SeesAll() || o == r.org || r.belongs(o)
}

// MayChangeResource refuses who may not change the prompts and guardrails of an
// organization, or those of none.
func (r *Rights) MayChangeResource(o id.Organization) error {
	switch {
	case r.Admin(), r.runs(o):
		return nil
	case !r.reaches(o):
		return r.checkReach(o)
	case o == "":
		return denied("", "Only a proxy_admin may change what belongs to no organization. Name the organization with organization_id.")
	}
	return denied("organization_id", "Only an org_admin of the organization, or a proxy_admin, may change what belongs to it.")
}

// MayLabel refuses who may not move the unprotected labels of prompts of an organization: besides
// those who may change its prompts, its members may.
func (r *Rights) MayLabel(o id.Organization) error {
	if r.reaches(o) && !r.still && r.belongs(o) {
		return nil
	}
	return r.MayChangeResource(o)
}

// checkBudget denies naming a budget whose terms a record did not have before. A
// proxy_admin may name any; others those of the API key that makes the request, and of
// its user, team and organization. Unknown budgets and those of others get the same
// response: otherwise it would reveal which budgets exist, and their terms.
func (r *Rights) checkBudget(before, after id.Budget) error {
	if after == "" || after == before || r.Admin() {
		return nil
	}
	if r.key != nil && after == r.key.Limits.Budget || r.user != nil && after == r.user.Limits.Budget {
		return nil
	}
	if r.key != nil && r.key.Team != "" {
		if t, ok := r.set.Team(r.tx, r.key.Team); ok && after == t.Limits.Budget {
			return nil
		}
	}
	if o, ok := r.set.Organization(r.tx, r.org); ok && r.org != "" && after == o.Limits.Budget {
		return nil
	}
	return denied("budget_id", "This API key may name the budgets of itself and of its user, team and organization only. Leave budget_id out, or ask a proxy_admin.")
}

func denied(param, format string, args ...any) error {
	e := fault.New(fault.Denied, "insufficient_permissions", format, args...)
	e.Param = param
	return e
}

// MaySeeKey reports whether a key may be read: the asking key itself, keys of the
// same user, and those of others as far as the team and the organization allow it.
func (r *Rights) MaySeeKey(k *tenancy.Key) bool {
	if r.SeesAll() || r.key != nil && r.key.Hash == k.Hash {
		return true
	}
	if r.user == nil {
		return false
	}
	if k.User == r.user.ID || r.administers(r.organizationOf(k)) {
		return true
	}
	m, ok := r.place(k.Team)
	return ok && (m.Role == tenancy.TeamAdmin || slices.Contains(r.permissions(k.Team), surface.PermitGetKey))
}

// organizationOf returns the organization of a key: that of its team, if it has one.
func (r *Rights) organizationOf(k *tenancy.Key) id.Organization {
	if k.Team == "" {
		return k.Organization
	}
	if t, ok := r.set.Team(r.tx, k.Team); ok {
		return t.Organization
	}
	return ""
}

// permissions are what the members of a team may do with its keys.
func (r *Rights) permissions(t id.Team) []string {
	team, ok := r.set.Team(r.tx, t)
	if !ok {
		return nil
	}
	return team.Permissions()
}
