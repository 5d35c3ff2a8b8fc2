package tenancy

import (
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// AddOrganizationMember puts a user into an organization, one that the transaction
// has read or made. It returns Exists for one that is in it already.
func (s *Set) AddOrganizationMember(tx *record.Txn, u *User, m OrganizationMember) (*OrganizationMember, error) {
	if _, err := s.needOrganization(tx, m.Organization); err != nil {
		return nil, err
	}
	m.User = u.ID
	if _, ok := s.OrganizationMember(tx, m.Organization, m.User); ok {
		return nil, occupied("user_id", "The user %s is in the organization already; use /organization/member_update to change what it is there.", short(string(m.User)))
	}
	s.grow(tx, collection{ofOrganization, string(m.Organization)})
	s.grow(tx, collection{ofUser, string(m.User)})
	m.Meta = tx.Stamped(record.Meta{})
	s.organizationMembers.Put(tx, &m)
	return &m, nil
}

// UpdateOrganizationMember puts a membership in the place of the one that the user
// has in the organization. It returns NotFound if the user has none, and
// Conflict if ifRevision is given and is not its current revision.
func (s *Set) UpdateOrganizationMember(tx *record.Txn, m OrganizationMember, ifRevision uint64) (*OrganizationMember, error) {
	before, err := s.needOrganizationMember(tx, m.Organization, m.User)
	if err != nil {
		return nil, err
	}
	if err := record.CheckRevision("record", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	if m.Role != before.Role || m.MaxBudget != nil {
		tx.RequireFence()
	}
	m.Meta = tx.Stamped(before.Meta)
	s.organizationMembers.Put(tx, &m)
	return &m, nil
}

// DeleteOrganizationMember takes a user out of an organization, with the keys that
// the user has in it and the user's places in its teams. It returns the membership
// as it was.
func (s *Set) DeleteOrganizationMember(tx *record.Txn, o id.Organization, u id.User) (*OrganizationMember, error) {
	old, err := s.needOrganizationMember(tx, o, u)
	if err != nil {
		return nil, err
	}
	s.sawAll(tx, collection{ofUser, string(u)})
	for k := range s.keys.By(keyByUser, []byte(u)) {
		if k.Organization == o {
			s.deleteKey(tx, k)
		}
	}
	for m := range s.teamMembers.By(teamMemberByUser, []byte(u)) {
		// A team that joins another organization meanwhile is read for that.
		if t, ok := s.teams.Read(tx, []byte(m.Team)); ok && t.Organization == o {
			s.teamMembers.Delete(tx, m)
		}
	}
	s.organizationMembers.Delete(tx, old)
	tx.RequireFence()
	return old, nil
}

func (s *Set) needOrganizationMember(tx *record.Txn, o id.Organization, u id.User) (*OrganizationMember, error) {
	if _, err := s.needOrganization(tx, o); err != nil {
		return nil, err
	}
	m, ok := s.OrganizationMember(tx, o, u)
	if !ok {
		return nil, absent(codeNoMember, "user_id", "The user %s is not in the organization.", short(string(u)))
	}
	return m, nil
}
