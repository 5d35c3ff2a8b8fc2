package listing_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/listing"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

func TestUserLists(t *testing.T) {
	t.Parallel()
	o := tenancytest.NewOffice(t)
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
	for _, u := range []tenancy.User{
		{ID: "c", Email: "B@x.org", Alias: "Zoe", Role: tenancy.RoleProxyAdmin},
		{ID: "a", Email: "c@x.org", Alias: "Yan", Role: tenancy.RoleInternalUser, SSO: "s1"},
		{ID: "b", Alias: "Xi", Role: tenancy.RoleInternalUser, SSO: "s2"},
	} {
		o.Must(tenancytest.CreateUser(u))
	}
	o.Must(tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "a", Role: tenancy.RoleInternalUser}))
	o.Must(tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "c", Role: tenancy.RoleInternalUser}))
	for _, test := range []struct {
		name  string
		query listing.UserQuery
		want  string
		total int
	}{
		{"all", listing.UserQuery{Limit: 10}, "cab", 3},
		{"newest first", listing.UserQuery{Limit: 10, Descending: true}, "bac", 3},
		{"second", listing.UserQuery{Limit: 1, Offset: 1}, "a", 3},
		{"second, newest first", listing.UserQuery{Limit: 1, Offset: 2, Descending: true}, "c", 3},
		{"behind the end", listing.UserQuery{Limit: 5, Offset: 5}, "", 3},
		{"by id", listing.UserQuery{Limit: 2, Sort: listing.UsersByID}, "ab", 3},
		{"by id, last first", listing.UserQuery{Limit: 2, Sort: listing.UsersByID, Descending: true}, "cb", 3},
		{"by address", listing.UserQuery{Limit: 9, Sort: listing.UsersByEmail}, "bca", 3},
		{"by name", listing.UserQuery{Limit: 9, Sort: listing.UsersByAlias}, "bac", 3},
		{"by role", listing.UserQuery{Limit: 9, Sort: listing.UsersByRole}, "abc", 3},
		{"of a role", listing.UserQuery{Limit: 9, Role: tenancy.RoleInternalUser}, "ab", 2},
		{"of ids", listing.UserQuery{Limit: 9, IDs: []id.User{"b", "x", "b"}}, "b", 1},
		{"of sso", listing.UserQuery{Limit: 9, SSO: []string{"s2", "s1"}}, "ab", 2},
		{"of an address", listing.UserQuery{Limit: 9, Email: "b@X"}, "c", 1},
		{"search", listing.UserQuery{Limit: 9, Search: "YA"}, "a", 1},
		{"search in address", listing.UserQuery{Limit: 9, Search: "x.org"}, "ca", 2},
		{"of an organization", listing.UserQuery{Limit: 9, Organizations: []id.Organization{"none", "acme"}}, "ca", 2},
		{"of no organization", listing.UserQuery{Limit: 9, Organizations: []id.Organization{"none"}}, "", 0},
		{"of a team", listing.UserQuery{Limit: 9, Team: "none"}, "", 0},
		{"seen", listing.UserQuery{Limit: 9, May: func(u *tenancy.User) bool { return u.ID != "a" }, Near: []id.User{"a", "b"}}, "b", 1},
		{"not near", listing.UserQuery{Limit: 9, May: func(*tenancy.User) bool { return true }}, "", 0},
		{"ids that are not to be seen", listing.UserQuery{Limit: 9, IDs: []id.User{"a", "b"}, May: func(u *tenancy.User) bool { return u.ID == "b" }}, "b", 1},
	} {
		page, total := listing.Users(o.Set, test.query)
		got := ""
		for _, u := range page {
			got += string(u.ID)
		}
		if got != test.want || total != test.total {
			t.Errorf("%s: %q of %d, want %q of %d", test.name, got, total, test.want, test.total)
		}
	}
}
