package tenancy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

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
			o.Must(tenancytest.UpdateUser(tenancy.User{ID: "mate", Role: tenancy.RoleInternalUser, Blocked: true}, 0))
		}, 403, "user_blocked"},
		{"the team is blocked", "blue-service", func(o *office) {
			o.Must(func(s *tenancy.Set, tx *record.Txn) error {
				team, _ := s.Team(tx, "blue")
				after := *team
				after.Blocked = true
				_, err := s.UpdateTeam(tx, after, 0)
				return err
			})
		}, 403, "team_blocked"},
		{"the user is gone", "mate", func(o *office) { o.Must(tenancytest.DeleteUser("mate")) }, 401, "invalid_api_key"},
		{"the organization is gone", "acme-key", func(o *office) { o.Must(tenancytest.DeleteOrganization("acme")) }, 401, "invalid_api_key"},
	} {
		o := &office{tenancytest.Company(t)}
		test.change(o)
		_, err := o.Set.Authenticate(tenancytest.Present("x-api-key", tenancytest.Text(test.alias)), o.Time)
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
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "u", Role: tenancy.RoleInternalUser}))
	for _, test := range []struct {
		key  tenancy.Key
		want string
	}{
		{tenancy.Key{Alias: "app", User: "u", Name: "sk-...1234"}, "key:app"},
		{tenancy.Key{User: "u", Name: "sk-...1234"}, "user:u"},
		{tenancy.Key{Name: "sk-...1234"}, "key:sk-...1234"},
	} {
		name := tenancytest.Text(test.want)
		test.key.Hash = id.HashKey(name)
		o.Must(func(s *tenancy.Set, tx *record.Txn) error { _, err := s.CreateKey(tx, test.key); return err })
		p, err := o.Set.Authenticate(tenancytest.Present("x-api-key", name), o.Time)
		if err != nil || p.Actor() != test.want {
			t.Errorf("%v is %q, want %q: %v", test.key, p.Actor(), test.want, err)
		}
	}
	if p, err := o.Set.Authenticate(tenancytest.Present("x-api-key", tenancytest.Master), o.Time); err != nil || p.Actor() != "master" {
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
		o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "o", Alias: "o", Models: test.organz}))
		o.Must(tenancytest.CreateUser(tenancy.User{ID: "u", Role: tenancy.RoleInternalUser, Models: test.user}))
		o.Member("o", "u", tenancy.RoleInternalUser)
		k := tenancy.Key{Alias: "k", User: "u", Models: test.key}
		if !test.alone {
			k.Team = "t"
			o.Must(func(s *tenancy.Set, tx *record.Txn) error {
				_, err := s.CreateTeam(tx, tenancy.Team{ID: "t", Organization: "o", Models: test.team})
				return err
			})
			o.Must(func(s *tenancy.Set, tx *record.Txn) error {
				u, _ := s.User(tx, "u")
				team, _ := s.Team(tx, "t")
				_, err := s.JoinTeam(tx, team, u, tenancy.TeamMember{Team: "t", User: "u", Role: tenancy.TeamUser, AllowedModels: test.member})
				return err
			})
		}
		o.Give(k)
		var got []string
		for _, m := range []string{"a", "b", "c"} {
			if o.Who("k").Allows(id.ModelName(m)) {
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
		{access.TypeDefault, nil, requests},
		{access.TypeInference, nil, requests[:6]},
		{access.TypeManagement, nil, requests[2:]},
		{access.TypeReadOnly, nil, []string{requests[2], requests[3], requests[4], requests[5], requests[6], requests[8], requests[9], requests[10]}},
		{access.TypeDefault, []string{"llm_api_routes"}, requests[:2]},
		{access.TypeDefault, []string{"management_routes"}, requests[2:]},
		{access.TypeDefault, []string{"info_routes"}, append(slices.Clone(own), requests[6], requests[8], requests[9])},
		{access.TypeDefault, []string{"/key/*"}, []string{requests[4], requests[5], requests[6], requests[7]}},
		{access.TypeDefault, []string{"/key/generate", "/v1/chat/completions"}, []string{requests[0], requests[7]}},
		{access.TypeReadOnly, []string{"/key/*"}, []string{requests[4], requests[5], requests[6]}},
		{access.TypeInference, []string{"management_routes"}, own},
		{access.TypeDefault, []string{"*"}, requests},
	} {
		s := set(t, tenancy.Key{Hash: id.HashKey(good), Type: test.of, AllowedRoutes: test.routes})
		p, err := s.Authenticate(tenancytest.Present("x-api-key", good), tenancytest.Now())
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
}
