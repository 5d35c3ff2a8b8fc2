package tenancytest

import (
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// Company returns an office with an organization, acme, and its team blue, another
// organization with its admin, a team of none, and users of every sort. Each user
// has a key of its own, whose alias is its id.
func Company(tb rapid.TB) *Office {
	tb.Helper()
	o := NewOffice(tb)
	for _, org := range []id.Organization{"acme", "other"} {
		o.Must(CreateOrganization(tenancy.Organization{ID: org, Alias: string(org), Models: []string{"gpt-4o", "gpt-mini", "openai/*"}}))
	}
	for _, team := range []tenancy.Team{{ID: "blue", Organization: "acme", Models: []string{"openai/*"}}, {ID: "free", MemberPermissions: []string{"/key/update", "/key/generate"}}} {
		o.Must(func(s *tenancy.Set, tx *record.Txn) error { _, err := s.CreateTeam(tx, team); return err })
	}
	for _, u := range []tenancy.User{
		{ID: "admin", Role: tenancy.RoleProxyAdmin},
		{ID: "viewer", Role: tenancy.RoleProxyAdminViewer},
		{ID: "boss", Role: tenancy.RoleInternalUser},
		{ID: "rival", Role: tenancy.RoleInternalUser},
		{ID: "lead", Role: tenancy.RoleInternalUser},
		{ID: "mate", Role: tenancy.RoleInternalUser},
		{ID: "watch", Role: tenancy.RoleInternalUserViewer},
		{ID: "alone", Role: tenancy.RoleInternalUser},
	} {
		o.Must(CreateUser(u))
		o.Give(tenancy.Key{Alias: string(u.ID), User: u.ID})
	}
	for u, role := range map[id.User]tenancy.Role{"boss": tenancy.RoleOrgAdmin, "lead": tenancy.RoleInternalUser, "mate": tenancy.RoleInternalUser, "watch": tenancy.RoleInternalUserViewer} {
		o.Member("acme", u, role)
	}
	o.Member("other", "rival", tenancy.RoleOrgAdmin)
	o.Place("blue", "lead", tenancy.TeamAdmin)
	o.Place("blue", "mate", tenancy.TeamUser)
	o.Place("blue", "watch", tenancy.TeamAdmin)
	o.Place("free", "alone", tenancy.TeamUser)
	o.Give(tenancy.Key{Alias: "bare"})
	o.Give(tenancy.Key{Alias: "caller", User: "admin", Type: access.TypeInference})
	o.Give(tenancy.Key{Alias: "reader", User: "admin", Type: access.TypeReadOnly})
	o.Give(tenancy.Key{Alias: "blue-service", Team: "blue"})
	o.Give(tenancy.Key{Alias: "blue-mate", Team: "blue", User: "mate"})
	o.Give(tenancy.Key{Alias: "free-service", Team: "free"})
	o.Give(tenancy.Key{Alias: "acme-key", Organization: "acme"})
	return o
}

// Text returns the key of an alias.
func Text(alias string) string { return "sk-the-key-of-" + alias }

// Give adds a key, whose text is that of its alias.
func (o *Office) Give(k tenancy.Key) {
	k.Hash = id.HashKey(Text(k.Alias))
	o.Must(func(s *tenancy.Set, tx *record.Txn) error { _, err := s.CreateKey(tx, k); return err })
}

// Member puts a user into an organization.
func (o *Office) Member(org id.Organization, u id.User, role tenancy.Role) {
	o.Must(func(s *tenancy.Set, tx *record.Txn) error {
		found, _ := s.User(tx, u)
		_, err := s.AddOrganizationMember(tx, found, tenancy.OrganizationMember{Organization: org, Role: role})
		return err
	})
}

// Place puts a user into a team.
func (o *Office) Place(team id.Team, u id.User, role string) {
	o.Must(func(s *tenancy.Set, tx *record.Txn) error {
		found, _ := s.User(tx, u)
		in, _ := s.Team(tx, team)
		_, err := s.JoinTeam(tx, in, found, tenancy.TeamMember{Team: team, User: u, Role: role})
		return err
	})
}

// Who returns who presents the key of an alias.
func (o *Office) Who(alias string) tenancy.Principal {
	p, err := o.Set.Authenticate(Present("x-api-key", Text(alias)), o.Time)
	if err != nil {
		o.TB.Fatal(alias, err)
	}
	return p
}
