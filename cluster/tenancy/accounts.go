package tenancy

import (
	"iter"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// The reads of users and organizations. With a transaction, a read is a precondition of its
// commit; without one it only serves a response.

// User returns a user.
func (s *Set) User(tx *record.Txn, u id.User) (*User, bool) { return find(tx, s.users, []byte(u)) }

// UsersByEmail returns the users of an address, whatever its case, at most one of each
// directory.
func (s *Set) UsersByEmail(tx *record.Txn, address string) iter.Seq[*User] {
	return func(yield func(*User) bool) {
		for found := range s.users.By(userByEmail, []byte(emailKey(address))) {
			if u, ok := s.User(tx, found.ID); ok && !yield(u) {
				return
			}
		}
	}
}

// Organization returns an organization.
func (s *Set) Organization(tx *record.Txn, o id.Organization) (*Organization, bool) {
	return find(tx, s.organizations, []byte(o))
}

// Organizations returns all organizations, ordered by name.
func (s *Set) Organizations() iter.Seq[*Organization] {
	return s.organizations.Sorted(organizationByAlias, 0)
}

// OrganizationMember returns the membership of a user in an organization.
func (s *Set) OrganizationMember(tx *record.Txn, o id.Organization, u id.User) (*OrganizationMember, bool) {
	return find(tx, s.organizationMembers, record.Join(string(o), string(u)))
}

// OrganizationMembers returns who is in an organization, ordered by id.
func (s *Set) OrganizationMembers(o id.Organization) iter.Seq[*OrganizationMember] {
	return s.organizationMembers.By(organizationMemberByOrganization, []byte(o))
}

// OrganizationsOf returns the memberships of a user in organizations, ordered by
// organization.
func (s *Set) OrganizationsOf(u id.User) iter.Seq[*OrganizationMember] {
	return s.organizationMembers.By(organizationMemberByUser, []byte(u))
}

// Team returns a team.
func (s *Set) Team(tx *record.Txn, t id.Team) (*Team, bool) { return find(tx, s.teams, []byte(t)) }

// TeamsIn returns the teams of an organization, ordered by id.
func (s *Set) TeamsIn(o id.Organization) iter.Seq[*Team] {
	return s.teams.By(teamByOrganization, []byte(o))
}

// TeamMember returns the membership of a user in a team.
func (s *Set) TeamMember(tx *record.Txn, t id.Team, u id.User) (*TeamMember, bool) {
	return find(tx, s.teamMembers, record.Join(string(t), string(u)))
}

// TeamMembers returns who is in a team, ordered by id.
func (s *Set) TeamMembers(t id.Team) iter.Seq[*TeamMember] {
	return s.teamMembers.By(teamMemberByTeam, []byte(t))
}

// TeamsOf returns the memberships of a user in teams, ordered by team.
func (s *Set) TeamsOf(u id.User) iter.Seq[*TeamMember] {
	return s.teamMembers.By(teamMemberByUser, []byte(u))
}

// KeysOf returns the keys of a user, ordered by hash.
func (s *Set) KeysOf(u id.User) iter.Seq[*Key] { return s.keys.By(keyByUser, []byte(u)) }

// TeamKeys returns the keys of a team, in no order that says anything.
func (s *Set) TeamKeys(t id.Team) iter.Seq[*Key] { return s.keys.By(keyByTeam, []byte(t)) }
