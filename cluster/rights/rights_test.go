package rights_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// TestRoles is who may do what: by the alias of the key that asks.
func TestRoles(t *testing.T) {
	t.Parallel()
	o := tenancytest.Company(t)
	user := func(u id.User) *tenancy.User { found, _ := o.Set.User(nil, u); return found }
	team := func(of id.Team) *tenancy.Team { found, _ := o.Set.Team(nil, of); return found }
	org := func(of id.Organization) *tenancy.Organization { found, _ := o.Set.Organization(nil, of); return found }
	key := func(alias string) *tenancy.Key { found, _ := tenancytest.TheOne(o.Set, alias); return found }
	changedUser := func(u id.User, change func(*tenancy.User)) func(*rights.Rights) error {
		after := *user(u)
		change(&after)
		return func(r *rights.Rights) error { return r.MayGrantUser(user(u), &after) }
	}
	changedTeam := func(of id.Team, change func(*tenancy.Team)) func(*rights.Rights) error {
		after := *team(of)
		change(&after)
		return func(r *rights.Rights) error { return r.MayGrantTeam(team(of), &after) }
	}
	newKey := func(op string, k tenancy.Key) func(*rights.Rights) error {
		k.Hash = id.HashKey("sk-not-there-before")
		return func(r *rights.Rights) error { return r.MayGrantKey(op, &k) }
	}
	newTeam := func(in id.Organization) func(*rights.Rights) error {
		return func(r *rights.Rights) error { return r.MayGrantTeam(nil, &tenancy.Team{ID: "new", Organization: in}) }
	}
	newUser := func(role tenancy.Role) func(*rights.Rights) error {
		return func(r *rights.Rights) error { return r.MayGrantUser(nil, &tenancy.User{ID: "new", Role: role}) }
	}
	see := func(may func(*rights.Rights) bool) func(*rights.Rights) error {
		return func(r *rights.Rights) error {
			if !may(r) {
				return fault.New(fault.Denied, "insufficient_permissions", "not visible")
			}
			return nil
		}
	}
	askers := []string{"admin", "viewer", "boss", "rival", "lead", "mate", "watch", "alone", "bare", "caller", "reader", "blue-service"}
	for _, test := range []struct {
		what string
		may  func(*rights.Rights) error
		want string // the aliases of keys that may
	}{
		{"see the user mate", see(func(r *rights.Rights) bool { return r.MaySeeUser(user("mate")) }), "admin viewer boss mate reader"},
		{"see the user alone", see(func(r *rights.Rights) bool { return r.MaySeeUser(user("alone")) }), "admin viewer alone reader"},
		{"see blue", see(func(r *rights.Rights) bool { return r.MaySeeTeam(team("blue")) }), "admin viewer boss lead mate watch reader"},
		{"see free", see(func(r *rights.Rights) bool { return r.MaySeeTeam(team("free")) }), "admin viewer alone reader"},
		{"see acme", see(func(r *rights.Rights) bool { return r.MaySeeOrganization(org("acme")) }), "admin viewer boss lead mate watch reader"},
		{"see mate's key", see(func(r *rights.Rights) bool { return r.MaySeeKey(key("mate")) }), "admin viewer mate reader"},
		{"see a key of blue", see(func(r *rights.Rights) bool { return r.MaySeeKey(key("blue-service")) }), "admin viewer boss lead mate watch reader blue-service"},
		{"see a key of free", see(func(r *rights.Rights) bool { return r.MaySeeKey(key("free-service")) }), "admin viewer reader"},
		{"see a key of acme", see(func(r *rights.Rights) bool { return r.MaySeeKey(key("acme-key")) }), "admin viewer boss reader"},
		{"see the key bare", see(func(r *rights.Rights) bool { return r.MaySeeKey(key("bare")) }), "admin viewer bare reader"},
		{"use what is acme's", see(func(r *rights.Rights) bool { return r.MayUseResource("acme") }), "admin viewer boss lead mate watch reader blue-service"},
		{"use what is everybody's", see(func(r *rights.Rights) bool { return r.MayUseResource("") }), strings.Join(askers, " ")},

		{"change mate's key", func(r *rights.Rights) error { return r.MayChangeKey("/key/delete", key("mate")) }, "admin mate"},
		{"delete mate's key in blue", func(r *rights.Rights) error { return r.MayChangeKey("/key/delete", key("blue-mate")) }, "admin boss lead"},
		{"delete a key of blue", func(r *rights.Rights) error { return r.MayChangeKey("/key/delete", key("blue-service")) }, "admin boss lead"},
		{"update a key of free", func(r *rights.Rights) error { return r.MayChangeKey("/key/update", key("free-service")) }, "admin alone"},
		{"delete a key of free", func(r *rights.Rights) error { return r.MayChangeKey("/key/delete", key("free-service")) }, "admin"},
		{"block a key of acme", func(r *rights.Rights) error { return r.MayChangeKey("/key/block", key("acme-key")) }, "admin boss"},

		{"make a key for mate", newKey("/key/generate", tenancy.Key{User: "mate"}), "admin mate"},
		{"make a key for alone", newKey("/key/generate", tenancy.Key{User: "alone"}), "admin alone"},
		{"make a key for nobody", newKey("/key/generate", tenancy.Key{}), "admin"},
		{"make a key for admin", newKey("/key/generate", tenancy.Key{User: "admin"}), "admin"},
		{"make a key for mate in blue", newKey("/key/generate", tenancy.Key{User: "mate", Team: "blue"}), "admin boss"},
		{"make a key for mate in blue for inference", newKey("/key/generate", tenancy.Key{User: "mate", Team: "blue", Type: access.TypeInference}), "admin boss lead"},
		{"make a key for lead in blue", newKey("/key/generate", tenancy.Key{User: "lead", Team: "blue"}), "admin boss lead"},
		{"make a service's key in blue", newKey("/key/service-account/generate", tenancy.Key{Team: "blue"}), "admin boss lead"},
		{"make a key of acme", newKey("/key/generate", tenancy.Key{Organization: "acme"}), "admin boss"},
		{"make a key for alone in free", newKey("/key/generate", tenancy.Key{User: "alone", Team: "free"}), "admin alone"},
		{"make a key for nobody in free", newKey("/key/generate", tenancy.Key{Team: "free"}), "admin"},
		{"make a key for alone in other", newKey("/key/generate", tenancy.Key{User: "alone", Organization: "other"}), "admin"},
		{"make a key for all models", newKey("/key/generate", tenancy.Key{User: "alone", Models: []string{"*"}}), "admin"},
		{"make a key in blue for its models", newKey("/key/generate", tenancy.Key{User: "lead", Team: "blue", Models: []string{"openai/a", "openai/x*"}}), "admin boss lead"},
		{"make a key in blue for others", newKey("/key/generate", tenancy.Key{User: "lead", Team: "blue", Models: []string{"gpt-4o"}}), ""},

		{"make a team in acme", newTeam("acme"), "admin boss"},
		{"make a team of none", newTeam(""), "admin"},
		{"manage blue", func(r *rights.Rights) error { return r.MayManageTeam(team("blue")) }, "admin boss lead"},
		{"manage free", func(r *rights.Rights) error { return r.MayManageTeam(team("free")) }, "admin"},
		{"rename blue", changedTeam("blue", func(t *tenancy.Team) { t.Alias = "Blue" }), "admin boss lead"},
		{"narrow blue", changedTeam("blue", func(t *tenancy.Team) { t.Models = []string{"openai/a"} }), "admin boss"},
		{"block blue", changedTeam("blue", func(t *tenancy.Team) { t.Blocked = true }), "admin boss"},
		{"bound blue", changedTeam("blue", func(t *tenancy.Team) { t.Limits.RPM = new(uint32(1)) }), "admin boss"},
		{"alias models in blue", changedTeam("blue", func(t *tenancy.Team) { t.ModelAliases = map[string]string{"a": "b"} }), "admin boss"},
		{"give blue models that acme has not", changedTeam("blue", func(t *tenancy.Team) { t.Models = []string{"azure/*"} }), ""},
		{"move blue", changedTeam("blue", func(t *tenancy.Team) { t.Organization, t.Models = "other", nil }), "admin"},
		{"take free", changedTeam("free", func(t *tenancy.Team) { t.Organization = "acme" }), "admin"},
		{"make mate an admin of blue", func(r *rights.Rights) error {
			return r.MayGrantTeamMember(team("blue"), &tenancy.TeamMember{Team: "blue", User: "mate", Role: tenancy.TeamAdmin})
		}, "admin boss lead"},

		{"make a user", newUser(tenancy.RoleInternalUser), "admin boss rival"},
		{"make an admin", newUser(tenancy.RoleProxyAdmin), "admin"},
		{"make a viewer of all", newUser(tenancy.RoleProxyAdminViewer), "admin"},
		{"bound mate", changedUser("mate", func(u *tenancy.User) { u.Limits.RPM = new(uint32(1)) }), "admin boss"},
		{"make mate an admin", changedUser("mate", func(u *tenancy.User) { u.Role = tenancy.RoleProxyAdmin }), "admin"},
		{"rename mate", changedUser("mate", func(u *tenancy.User) { u.Alias = "Matt" }), "admin boss mate"},
		{"rename watch", changedUser("watch", func(u *tenancy.User) { u.Alias = "W" }), "admin boss"},
		{"rename alone", changedUser("alone", func(u *tenancy.User) { u.Alias = "A" }), "admin alone"},
		{"make oneself an admin", changedUser("alone", func(u *tenancy.User) { u.Role = tenancy.RoleProxyAdmin }), "admin"},
		{"have more of oneself", changedUser("alone", func(u *tenancy.User) { u.Limits.RPM = new(uint32(1)) }), "admin"},
		{"delete mate", func(r *rights.Rights) error { return r.MayDeleteUser(user("mate")) }, "admin boss"},
		{"delete boss", func(r *rights.Rights) error { return r.MayDeleteUser(user("boss")) }, "admin"},
		{"delete alone", func(r *rights.Rights) error { return r.MayDeleteUser(user("alone")) }, "admin"},

		{"change acme's members", func(r *rights.Rights) error { return r.MayManageOrganization(org("acme")) }, "admin boss"},
		{"change acme", func(r *rights.Rights) error { return r.MayGrantOrganization(org("acme"), org("acme")) }, "admin"},
		{"change what is acme's", func(r *rights.Rights) error { return r.MayChangeResource("acme") }, "admin boss"},
		{"change what is everybody's", func(r *rights.Rights) error { return r.MayChangeResource("") }, "admin"},
	} {
		var got []string
		for _, alias := range askers {
			err := test.may(rights.Of(o.Set, o.Begin(), o.Who(alias)))
			if err == nil {
				got = append(got, alias)
			} else if f := fault.From(err); f.Kind != fault.Denied || f.Detail == "" || f.Code != "insufficient_permissions" && f.Code != "model_access_denied" {
				t.Errorf("%s by %s: %v is no refusal", test.what, alias, err)
			}
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("who may %s (-want +got):\n%s", test.what, diff)
		}
	}
}

// TestRightsFollowTheState: what was taken away since a key was looked up is gone,
// and a transaction that has read it is stale.
func TestRightsFollowTheState(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what   string
		change func(*tenancy.Set, *record.Txn) error
	}{
		{"the role", func(s *tenancy.Set, tx *record.Txn) error {
			_, err := s.UpdateOrganizationMember(tx, tenancy.OrganizationMember{Organization: "acme", User: "boss", Role: tenancy.RoleInternalUser}, 0)
			return err
		}},
		{"the user", tenancytest.DeleteUser("boss")},
		{"the key", func(s *tenancy.Set, tx *record.Txn) error {
			return s.DeleteKeys(tx, []id.KeyHash{id.HashKey(tenancytest.Text("boss"))})
		}},
		{"that it is not blocked", tenancytest.UpdateUser(tenancy.User{ID: "boss", Role: tenancy.RoleInternalUser, Blocked: true}, 0)},
		{"the organization", tenancytest.DeleteOrganization("acme")},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			o := tenancytest.Company(t)
			boss := o.Who("boss")
			acme, _ := o.Set.Organization(nil, "acme")
			waiting := o.Begin()
			if err := rights.Of(o.Set, waiting, boss).MayManageOrganization(acme); err != nil {
				t.Fatal(err)
			}
			if _, err := o.Set.CreateOrganization(waiting, tenancy.Organization{ID: "new", Alias: "new"}); err != nil {
				t.Fatal(err)
			}
			o.Must(test.change)
			if rights.Of(o.Set, o.Begin(), boss).MayManageOrganization(acme) == nil {
				t.Error("the right is there still")
			}
			if _, err := o.Commit(waiting); fault.From(err) == nil || fault.From(err).Code != record.CodeStale {
				t.Errorf("a transaction that has read it is committed: %v", err)
			}
		})
	}
}

// TestRefusalsNameTheField is every bound on its own, for what the refusal says.
func TestRefusalsNameTheField(t *testing.T) {
	t.Parallel()
	o := tenancytest.NewOffice(t)
	end := o.Time.Add(time.Hour)
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "u", Role: tenancy.RoleInternalUser}))
	o.Give(tenancy.Key{
		Alias: "bound", User: "u", Models: []string{"a", "openai/*"}, Expires: end,
		Limits: tenancy.Limits{RPM: new(uint32(10))}, AllowedRoutes: []string{"/key/*", "llm_api_routes"},
	})
	fits := tenancy.Key{User: "u", Models: []string{"a"}, Expires: end, Limits: tenancy.Limits{RPM: new(uint32(10))}, AllowedRoutes: []string{"/key/*"}}
	for _, test := range []struct {
		change func(*tenancy.Key)
		param  string
	}{
		{func(*tenancy.Key) {}, ""},
		{func(k *tenancy.Key) { k.Models = []string{"openai/x", "openai/b*"} }, ""},
		{func(k *tenancy.Key) { k.AllowedRoutes = []string{"/key/info", "llm_api_routes"} }, ""},
		{func(k *tenancy.Key) { k.Models = nil }, "models"},
		{func(k *tenancy.Key) { k.Models = []string{"b"} }, "models"},
		{func(k *tenancy.Key) { k.Models = []string{"open*"} }, "models"},
		{func(k *tenancy.Key) { k.Expires = time.Time{} }, "duration"},
		{func(k *tenancy.Key) { k.Expires = k.Expires.Add(1) }, "duration"},
		{func(k *tenancy.Key) { k.Limits = tenancy.Limits{} }, "rpm_limit"},
		{func(k *tenancy.Key) { k.Limits.RPM = new(uint32(11)) }, "rpm_limit"},
		{func(k *tenancy.Key) { k.AllowedRoutes = nil }, "allowed_routes"},
		{func(k *tenancy.Key) { k.AllowedRoutes = []string{"/team/new"} }, "allowed_routes"},
	} {
		k := fits
		k.Hash = id.HashKey("sk-not-there-before")
		test.change(&k)
		f := fault.From(rights.Of(o.Set, o.Begin(), o.Who("bound")).MayGrantKey("/key/generate", &k))
		if (f == nil) != (test.param == "") || f != nil && (f.Param != test.param || f.Kind != fault.Denied) {
			t.Errorf("%s: %v, want it refused for %q", fmt.Sprint(k.Models, k.AllowedRoutes, k.Limits.RPM, k.Expires), f, test.param)
		}
	}
}
