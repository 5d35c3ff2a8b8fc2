package tenancytest

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// Operation is one change of the state, decided by a set.
type Operation = func(s *tenancy.Set, tx *record.Txn) error

// CreateOrganization adds an organization.
func CreateOrganization(org tenancy.Organization) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.CreateOrganization(tx, org)
		return err
	}
}

// UpdateOrganization puts an organization in the place of the one with its id.
func UpdateOrganization(org tenancy.Organization, ifRevision uint64) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateOrganization(tx, org, ifRevision)
		return err
	}
}

// DeleteOrganization deletes an organization.
func DeleteOrganization(org id.Organization) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteOrganization(tx, org)
		return err
	}
}

// CreateUser adds a user.
func CreateUser(u tenancy.User) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UserBatch(tx).Create(u)
		return err
	}
}

// UpdateUser puts a user in the place of the one with its id.
func UpdateUser(u tenancy.User, ifRevision uint64) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UserBatch(tx).Update(u, ifRevision)
		return err
	}
}

// DeleteUser deletes a user.
func DeleteUser(u id.User) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteUser(tx, u)
		return err
	}
}

// JoinOrganization puts a user into an organization.
func JoinOrganization(m tenancy.OrganizationMember) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		u, ok := s.User(tx, m.User)
		if !ok {
			return fault.New(fault.NotFound, "user_not_found", "There is no such user.")
		}
		_, err := s.AddOrganizationMember(tx, u, m)
		return err
	}
}

// LeaveOrganization takes a user out of an organization.
func LeaveOrganization(org id.Organization, u id.User) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteOrganizationMember(tx, org, u)
		return err
	}
}

// JoinTeam puts a user into a team.
func JoinTeam(m tenancy.TeamMember) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		u, ok := s.User(tx, m.User)
		if !ok {
			return fault.New(fault.NotFound, "user_not_found", "There is no such user.")
		}
		t, err := s.NeedTeam(tx, m.Team)
		if err == nil {
			_, err = s.JoinTeam(tx, t, u, m)
		}
		return err
	}
}

// CreateTeam adds a team.
func CreateTeam(team tenancy.Team) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.CreateTeam(tx, team)
		return err
	}
}

// CreateKey adds a key.
func CreateKey(k tenancy.Key) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.CreateKey(tx, k)
		return err
	}
}

// UpdateTeam puts a team in the place of the one with its id.
func UpdateTeam(t tenancy.Team, ifRevision uint64) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateTeam(tx, t, ifRevision)
		return err
	}
}

// DeleteTeam deletes a team.
func DeleteTeam(t id.Team) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, _, err := s.DeleteTeam(tx, t)
		return err
	}
}

// LeaveTeam takes a user out of a team.
func LeaveTeam(t id.Team, u id.User) Operation {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteTeamMember(tx, t, u)
		return err
	}
}
