package tenancy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// company is an office with an organization, acme, and its team blue, another
// organization with its admin, a team of none, and users of every sort. Each user
// has a key of its own, whose alias is its id.
func company(t *testing.T) *office {
	t.Helper()
	o := newOffice(t)
	for _, org := range []id.Organization{"acme", "other"} {
		o.must(createOrganization(tenancy.Organization{ID: org, Alias: string(org), Models: []string{"gpt-4o", "gpt-mini", "openai/*"}}))
	}
	for _, team := range []tenancy.Team{{ID: "blue", Organization: "acme", Models: []string{"openai/*"}}, {ID: "free", MemberPermissions: []string{"/key/update", "/key/generate"}}} {
		o.must(func(s *tenancy.Set, tx *record.Txn) error { _, err := s.CreateTeam(tx, team); return err })
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
		o.must(createUser(u))
		o.give(tenancy.Key{Alias: string(u.ID), User: u.ID})
	}
	for u, role := range map[id.User]tenancy.Role{"boss": tenancy.RoleOrgAdmin, "lead": tenancy.RoleInternalUser, "mate": tenancy.RoleInternalUser, "watch": tenancy.RoleInternalUserViewer} {
		o.member("acme", u, role)
	}
	o.member("other", "rival", tenancy.RoleOrgAdmin)
	o.place("blue", "lead", tenancy.TeamAdmin)
	o.place("blue", "mate", tenancy.TeamUser)
	o.place("blue", "watch", tenancy.TeamAdmin)
	o.place("free", "alone", tenancy.TeamUser)
	o.give(tenancy.Key{Alias: "bare"})
	o.give(tenancy.Key{Alias: "caller", User: "admin", Type: tenancy.TypeInference})
	o.give(tenancy.Key{Alias: "reader", User: "admin", Type: tenancy.TypeReadOnly})
	o.give(tenancy.Key{Alias: "blue-service", Team: "blue"})
	o.give(tenancy.Key{Alias: "blue-mate", Team: "blue", User: "mate"})
	o.give(tenancy.Key{Alias: "free-service", Team: "free"})
	o.give(tenancy.Key{Alias: "acme-key", Organization: "acme"})
	return o
}

func text(alias string) string { return "sk-the-key-of-" + alias }

func (o *office) give(k tenancy.Key) {
	k.Hash = id.HashKey(text(k.Alias))
	o.must(func(s *tenancy.Set, tx *record.Txn) error { _, err := s.CreateKey(tx, k); return err })
}

func (o *office) member(org id.Organization, u id.User, role tenancy.Role) {
	o.must(func(s *tenancy.Set, tx *record.Txn) error {
		found, _ := s.User(tx, u)
		_, err := s.AddOrganizationMember(tx, found, tenancy.OrganizationMember{Organization: org, Role: role})
		return err
	})
}

func (o *office) place(team id.Team, u id.User, role string) {
	o.must(func(s *tenancy.Set, tx *record.Txn) error {
		found, _ := s.User(tx, u)
		in, _ := s.Team(tx, team)
		_, err := s.JoinTeam(tx, in, found, tenancy.TeamMember{Team: team, User: u, Role: role})
		return err
	})
}

func (o *office) who(alias string) tenancy.Principal {
	p, err := o.set.Authenticate(present("x-api-key", text(alias)), o.time)
	if err != nil {
		o.tb.Fatal(alias, err)
	}
	return p
}

// TestRoles is who may do what: by the alias of the key that asks.
func TestRoles(t *testing.T) {
	t.Parallel()
	o := company(t)
	user := func(u id.User) *tenancy.User { found, _ := o.set.User(nil, u); return found }
	team := func(of id.Team) *tenancy.Team { found, _ := o.set.Team(nil, of); return found }
	org := func(of id.Organization) *tenancy.Organization { found, _ := o.set.Organization(nil, of); return found }
	key := func(alias string) *tenancy.Key { found, _ := theOne(o.set, alias); return found }
	changedUser := func(u id.User, change func(*tenancy.User)) func(*tenancy.Rights) error {
		after := *user(u)
		change(&after)
		return func(r *tenancy.Rights) error { return r.MayGrantUser(user(u), &after) }
	}
	changedTeam := func(of id.Team, change func(*tenancy.Team)) func(*tenancy.Rights) error {
		after := *team(of)
		change(&after)
		return func(r *tenancy.Rights) error { return r.MayGrantTeam(team(of), &after) }
	}
	newKey := func(op string, k tenancy.Key) func(*tenancy.Rights) error {
		k.Hash = id.HashKey("sk-not-there-before")
		return func(r *tenancy.Rights) error { return r.MayGrantKey(op, &k) }
	}
	newTeam := func(in id.Organization) func(*tenancy.Rights) error {
		return func(r *tenancy.Rights) error { return r.MayGrantTeam(nil, &tenancy.Team{ID: "new", Organization: in}) }
	}
	newUser := func(role tenancy.Role) func(*tenancy.Rights) error {
		return func(r *tenancy.Rights) error { return r.MayGrantUser(nil, &tenancy.User{ID: "new", Role: role}) }
	}
	see := func(may func(*tenancy.Rights) bool) func(*tenancy.Rights) error {
		return func(r *tenancy.Rights) error {
			if !may(r) {
				return fault.New(fault.Denied, "insufficient_permissions", "not visible")
			}
			return nil
		}
	}
	askers := []string{"admin", "viewer", "boss", "rival", "lead", "mate", "watch", "alone", "bare", "caller", "reader", "blue-service"}
	for _, test := range []struct {
		what string
		may  func(*tenancy.Rights) error
		want string // the aliases of keys that may
	}{
		{"see the user mate", see(func(r *tenancy.Rights) bool { return r.MaySeeUser(user("mate")) }), "admin viewer boss mate reader"},
		{"see the user alone", see(func(r *tenancy.Rights) bool { return r.MaySeeUser(user("alone")) }), "admin viewer alone reader"},
		{"see blue", see(func(r *tenancy.Rights) bool { return r.MaySeeTeam(team("blue")) }), "admin viewer boss lead mate watch reader"},
		{"see free", see(func(r *tenancy.Rights) bool { return r.MaySeeTeam(team("free")) }), "admin viewer alone reader"},
		{"see acme", see(func(r *tenancy.Rights) bool { return r.MaySeeOrganization(org("acme")) }), "admin viewer boss lead mate watch reader"},
		{"see mate's key", see(func(r *tenancy.Rights) bool { return r.MaySeeKey(key("mate")) }), "admin viewer mate reader"},
		{"see a key of blue", see(func(r *tenancy.Rights) bool { return r.MaySeeKey(key("blue-service")) }), "admin viewer boss lead mate watch reader blue-service"},
		{"see a key of free", see(func(r *tenancy.Rights) bool { return r.MaySeeKey(key("free-service")) }), "admin viewer reader"},
		{"see a key of acme", see(func(r *tenancy.Rights) bool { return r.MaySeeKey(key("acme-key")) }), "admin viewer boss reader"},
		{"see the key bare", see(func(r *tenancy.Rights) bool { return r.MaySeeKey(key("bare")) }), "admin viewer bare reader"},
		{"use what is acme's", see(func(r *tenancy.Rights) bool { return r.MayUseResource("acme") }), "admin viewer boss lead mate watch reader blue-service"},
		{"use what is everybody's", see(func(r *tenancy.Rights) bool { return r.MayUseResource("") }), strings.Join(askers, " ")},

		{"change mate's key", func(r *tenancy.Rights) error { return r.MayChangeKey("/key/delete", key("mate")) }, "admin mate"},
		{"delete mate's key in blue", func(r *tenancy.Rights) error { return r.MayChangeKey("/key/delete", key("blue-mate")) }, "admin boss lead"},
		{"delete a key of blue", func(r *tenancy.Rights) error { return r.MayChangeKey("/key/delete", key("blue-service")) }, "admin boss lead"},
		{"update a key of free", func(r *tenancy.Rights) error { return r.MayChangeKey("/key/update", key("free-service")) }, "admin alone"},
		{"delete a key of free", func(r *tenancy.Rights) error { return r.MayChangeKey("/key/delete", key("free-service")) }, "admin"},
		{"block a key of acme", func(r *tenancy.Rights) error { return r.MayChangeKey("/key/block", key("acme-key")) }, "admin boss"},

		{"make a key for mate", newKey("/key/generate", tenancy.Key{User: "mate"}), "admin mate"},
		{"make a key for alone", newKey("/key/generate", tenancy.Key{User: "alone"}), "admin alone"},
		{"make a key for nobody", newKey("/key/generate", tenancy.Key{}), "admin"},
		{"make a key for admin", newKey("/key/generate", tenancy.Key{User: "admin"}), "admin"},
		{"make a key for mate in blue", newKey("/key/generate", tenancy.Key{User: "mate", Team: "blue"}), "admin boss"},
		{"make a key for mate in blue for inference", newKey("/key/generate", tenancy.Key{User: "mate", Team: "blue", Type: tenancy.TypeInference}), "admin boss lead"},
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
		{"manage blue", func(r *tenancy.Rights) error { return r.MayManageTeam(team("blue")) }, "admin boss lead"},
		{"manage free", func(r *tenancy.Rights) error { return r.MayManageTeam(team("free")) }, "admin"},
		{"rename blue", changedTeam("blue", func(t *tenancy.Team) { t.Alias = "Blue" }), "admin boss lead"},
		{"narrow blue", changedTeam("blue", func(t *tenancy.Team) { t.Models = []string{"openai/a"} }), "admin boss"},
		{"block blue", changedTeam("blue", func(t *tenancy.Team) { t.Blocked = true }), "admin boss"},
		{"bound blue", changedTeam("blue", func(t *tenancy.Team) { t.Limits.RPM = new(uint32(1)) }), "admin boss"},
		{"alias models in blue", changedTeam("blue", func(t *tenancy.Team) { t.ModelAliases = map[string]string{"a": "b"} }), "admin boss"},
		{"give blue models that acme has not", changedTeam("blue", func(t *tenancy.Team) { t.Models = []string{"azure/*"} }), ""},
		{"move blue", changedTeam("blue", func(t *tenancy.Team) { t.Organization, t.Models = "other", nil }), "admin"},
		{"take free", changedTeam("free", func(t *tenancy.Team) { t.Organization = "acme" }), "admin"},
		{"make mate an admin of blue", func(r *tenancy.Rights) error {
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
		{"delete mate", func(r *tenancy.Rights) error { return r.MayDeleteUser(user("mate")) }, "admin boss"},
		{"delete boss", func(r *tenancy.Rights) error { return r.MayDeleteUser(user("boss")) }, "admin"},
		{"delete alone", func(r *tenancy.Rights) error { return r.MayDeleteUser(user("alone")) }, "admin"},

		{"change acme's members", func(r *tenancy.Rights) error { return r.MayManageOrganization(org("acme")) }, "admin boss"},
		{"change acme", func(r *tenancy.Rights) error { return r.MayGrantOrganization(org("acme"), org("acme")) }, "admin"},
		{"change what is acme's", func(r *tenancy.Rights) error { return r.MayChangeResource("acme") }, "admin boss"},
		{"change what is everybody's", func(r *tenancy.Rights) error { return r.MayChangeResource("") }, "admin"},
	} {
		var got []string
		for _, alias := range askers {
			err := test.may(o.set.Rights(o.begin(), o.who(alias)))
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
// and a transaction that rests on it is stale.
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
		{"the user", deleteUser("boss")},
		{"the key", func(s *tenancy.Set, tx *record.Txn) error {
			return s.DeleteKeys(tx, []id.KeyHash{id.HashKey(text("boss"))})
		}},
		{"that it is not blocked", updateUser(tenancy.User{ID: "boss", Role: tenancy.RoleInternalUser, Blocked: true}, 0)},
		{"the organization", deleteOrganization("acme")},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			o := company(t)
			boss := o.who("boss")
			acme, _ := o.set.Organization(nil, "acme")
			waiting := o.begin()
			if err := o.set.Rights(waiting, boss).MayManageOrganization(acme); err != nil {
				t.Fatal(err)
			}
			if _, err := o.set.CreateOrganization(waiting, tenancy.Organization{ID: "new", Alias: "new"}); err != nil {
				t.Fatal(err)
			}
			o.must(test.change)
			if o.set.Rights(o.begin(), boss).MayManageOrganization(acme) == nil {
				t.Error("the right is there still")
			}
			if _, err := o.commit(waiting); fault.From(err) == nil || fault.From(err).Code != record.CodeStale {
				t.Errorf("what rests on it is committed: %v", err)
			}
		})
	}
}

// TestBelonging is what a key is, by whom it belongs to.
func TestBelonging(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what, alias string
		change      func(*office)
		status      int
		code        string
	}{
		{"nothing", "blue-mate", func(*office) {}, 0, ""},
		{"the user is blocked", "blue-mate", func(o *office) {
			o.must(updateUser(tenancy.User{ID: "mate", Role: tenancy.RoleInternalUser, Blocked: true}, 0))
		}, 403, "user_blocked"},
		{"the team is blocked", "blue-service", func(o *office) {
			o.must(func(s *tenancy.Set, tx *record.Txn) error {
				team, _ := s.Team(tx, "blue")
				after := *team
				after.Blocked = true
				_, err := s.UpdateTeam(tx, after, 0)
				return err
			})
		}, 403, "team_blocked"},
		{"the user is gone", "mate", func(o *office) { o.must(deleteUser("mate")) }, 401, "invalid_api_key"},
		{"the organization is gone", "acme-key", func(o *office) { o.must(deleteOrganization("acme")) }, 401, "invalid_api_key"},
	} {
		o := company(t)
		test.change(o)
		_, err := o.set.Authenticate(present("x-api-key", text(test.alias)), o.time)
		if test.code == "" {
			if err != nil {
				t.Errorf("%s: %v", test.what, err)
			}
			continue
		}
		if f := fault.From(err); f == nil || f.HTTPStatus() != test.status || f.Code != test.code || f.Detail == "" {
			t.Errorf("%s: %v, want %d %s", test.what, err, test.status, test.code)
		}
	}
}

// TestActor is what changes are put down to.
func TestActor(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.must(createUser(tenancy.User{ID: "u", Role: tenancy.RoleInternalUser}))
	for _, test := range []struct {
		key  tenancy.Key
		want string
	}{
		{tenancy.Key{Alias: "app", User: "u", Name: "sk-...1234"}, "key:app"},
		{tenancy.Key{User: "u", Name: "sk-...1234"}, "user:u"},
		{tenancy.Key{Name: "sk-...1234"}, "key:sk-...1234"},
	} {
		name := text(test.want)
		test.key.Hash = id.HashKey(name)
		o.must(func(s *tenancy.Set, tx *record.Txn) error { _, err := s.CreateKey(tx, test.key); return err })
		p, err := o.set.Authenticate(present("x-api-key", name), o.time)
		if err != nil || p.Actor() != test.want {
			t.Errorf("%v is %q, want %q: %v", test.key, p.Actor(), test.want, err)
		}
	}
	if p, err := o.set.Authenticate(present("x-api-key", master), o.time); err != nil || p.Actor() != "master" {
		t.Errorf("the master key is %q: %v", p.Actor(), err)
	}
}

// TestModelsOfAKey is what keys may ask for, by the lists of all they belong to.
func TestModelsOfAKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                            string
		key, member, team, user, organz []string
		alone                           bool // the key is in no team
		want                            string
	}{
		{"no list", nil, nil, nil, nil, nil, false, "a b c"},
		{"each bounds", []string{"a", "b"}, nil, []string{"b", "c"}, nil, nil, false, "b"},
		{"the place in the team bounds", nil, []string{"c"}, []string{"b", "c"}, nil, nil, false, "c"},
		{"the user bounds", nil, nil, nil, []string{"a"}, nil, false, "a"},
		{"the organization bounds", []string{"all-proxy-models"}, nil, nil, nil, []string{"a", "c"}, false, "a c"},
		{"all of the team", []string{"all-team-models"}, nil, []string{"b"}, nil, nil, false, "b"},
		{"all of the team, of all that it may", []string{"all-team-models"}, nil, nil, nil, []string{"a"}, false, "a"},
		{"all of no team", []string{"all-team-models", "c"}, nil, nil, nil, nil, true, "c"},
		{"none of the user's own", nil, nil, []string{"b"}, []string{"no-default-models"}, nil, false, "b"},
		{"none of the user's own, for a key of its own", nil, nil, nil, []string{"no-default-models"}, nil, true, ""},
		{"none of the key's own", []string{"no-default-models"}, nil, nil, nil, nil, false, ""},
	} {
		o := newOffice(t)
		o.must(createOrganization(tenancy.Organization{ID: "o", Alias: "o", Models: test.organz}))
		o.must(createUser(tenancy.User{ID: "u", Role: tenancy.RoleInternalUser, Models: test.user}))
		o.member("o", "u", tenancy.RoleInternalUser)
		k := tenancy.Key{Alias: "k", User: "u", Models: test.key}
		if !test.alone {
			k.Team = "t"
			o.must(func(s *tenancy.Set, tx *record.Txn) error {
				_, err := s.CreateTeam(tx, tenancy.Team{ID: "t", Organization: "o", Models: test.team})
				return err
			})
			o.must(func(s *tenancy.Set, tx *record.Txn) error {
				u, _ := s.User(tx, "u")
				team, _ := s.Team(tx, "t")
				_, err := s.JoinTeam(tx, team, u, tenancy.TeamMember{Team: "t", User: "u", Role: tenancy.TeamUser, AllowedModels: test.member})
				return err
			})
		}
		o.give(k)
		var got []string
		for _, m := range []string{"a", "b", "c"} {
			if o.who("k").Allows(id.ModelName(m)) {
				got = append(got, m)
			}
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestMayUse is what types of keys and lists of routes are for.
func TestMayUse(t *testing.T) {
	t.Parallel()
	requests := []string{
		"POST /v1/chat/completions", "POST /chat/completions", "GET /v1/models", "GET /v1/models/gpt-4o", "GET /key/info", "POST /key/health",
		"GET /key/list", "POST /key/generate", "POST /v2/key/info", "GET /team/info", "POST /prompts/p/render", "POST /prompts", "DELETE /prompts/p",
	}
	own := requests[2:6]
	for _, test := range []struct {
		of     string
		routes []string
		want   []string
	}{
		{tenancy.TypeDefault, nil, requests},
		{tenancy.TypeInference, nil, requests[:6]},
		{tenancy.TypeManagement, nil, requests[2:]},
		{tenancy.TypeReadOnly, nil, []string{requests[2], requests[3], requests[4], requests[5], requests[6], requests[8], requests[9], requests[10]}},
		{tenancy.TypeDefault, []string{"llm_api_routes"}, requests[:2]},
		{tenancy.TypeDefault, []string{"management_routes"}, requests[2:]},
		{tenancy.TypeDefault, []string{"info_routes"}, append(slices.Clone(own), requests[6], requests[8], requests[9])},
		{tenancy.TypeDefault, []string{"/key/*"}, []string{requests[4], requests[5], requests[6], requests[7]}},
		{tenancy.TypeDefault, []string{"/key/generate", "/v1/chat/completions"}, []string{requests[0], requests[7]}},
		{tenancy.TypeReadOnly, []string{"/key/*"}, []string{requests[4], requests[5], requests[6]}},
		{tenancy.TypeInference, []string{"management_routes"}, own},
		{tenancy.TypeDefault, []string{"*"}, requests},
	} {
		s := set(t, tenancy.Key{Hash: id.HashKey(good), Type: test.of, AllowedRoutes: test.routes})
		p, err := s.Authenticate(present("x-api-key", good), now())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range requests {
			method, path, _ := strings.Cut(r, " ")
			err := p.MayUse(method, path)
			if err == nil {
				got = append(got, r)
			} else if f := fault.From(err); f.HTTPStatus() != 403 || f.Code != "route_not_allowed" {
				t.Errorf("%s: %v", r, err)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q with %q (-want +got):\n%s", test.of, test.routes, diff)
		}
	}
	for _, bad := range []string{"", "key/info", "/key/*/x", "llm", "/a**"} {
		if f := fault.From(tenancy.CheckRoutes("allowed_routes", []string{"/key/*", bad})); f == nil || f.Param != "allowed_routes[1]" {
			t.Errorf("the route %q is taken: %v", bad, f)
		}
	}
	if err := tenancy.CheckRoutes("allowed_routes", []string{"*", "/*", "info_routes", "/v1/models"}); err != nil {
		t.Error(err)
	}
}

// TestRefusalsNameTheField is every bound on its own, for what the refusal says.
func TestRefusalsNameTheField(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	end := o.time.Add(time.Hour)
	o.must(createUser(tenancy.User{ID: "u", Role: tenancy.RoleInternalUser}))
	o.give(tenancy.Key{
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
		f := fault.From(o.set.Rights(o.begin(), o.who("bound")).MayGrantKey("/key/generate", &k))
		if (f == nil) != (test.param == "") || f != nil && (f.Param != test.param || f.Kind != fault.Denied) {
			t.Errorf("%s: %v, want it refused for %q", fmt.Sprint(k.Models, k.AllowedRoutes, k.Limits.RPM, k.Expires), f, test.param)
		}
	}
}
