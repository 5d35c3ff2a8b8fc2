package mgmt

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/listing"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
)

// step is a request, and what has to come of it: a status, and of a refusal its
// code and param.
type step struct {
	who, target, body, want string
}

// play sends requests in order. who is a key; empty is the master key.
func play(t *testing.T, s *Server, steps []step) {
	t.Helper()
	for _, one := range steps {
		a := asking(t, s, one.who, one.target, one.body)
		got := fmt.Sprint(a.status)
		if a.status >= 400 {
			got += " " + a.refusal(t)
		}
		if got != one.want {
			t.Errorf("%s %s: %s, want %s\n%s", one.target, one.body, got, one.want, a.body)
		}
	}
}

// asking sends a request with a key, or with the master key.
func asking(t *testing.T, s *Server, who, target, body string) answer {
	t.Helper()
	if who == "" {
		return ask(t, s, target, body, nil)
	}
	return ask(t, s, target, body, as(who))
}

// account creates a user and returns its key.
func account(t *testing.T, s *Server, body string) string {
	t.Helper()
	a := ask(t, s, "POST /user/new", body, nil)
	key, _ := a.json(t)["key"].(string)
	if a.status != 200 || key == "" {
		t.Fatalf("no account for %s: %d %s", body, a.status, a.body)
	}
	return key
}

// some returns the named members of an object.
func some(of map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		out[name] = of[name]
	}
	return out
}

func TestOrganizationRoutes(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	a := ask(t, s, "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme","models":["fast"],"max_budget":0.1,"metadata":{"a":1}}`, nil)
	want := map[string]any{
		"organization_id": "acme", "organization_alias": "Acme", "models": []any{"fast"}, "metadata": map[string]any{"a": 1.0},
		"allowed_prompts": []any{}, "guardrails": []any{}, "default_prompt_id": nil, "require_prompt": false,
		"members": []any{}, "teams": []any{}, "max_budget": 0.1, "soft_budget": nil, "budget_duration": nil, "max_parallel_requests": nil,
		"tpm_limit": nil, "rpm_limit": nil, "tpd_limit": nil, "model_max_budget": map[string]any{}, "budget_id": nil,
		"spend": 0.0, "total_spend": 0.0, "model_spend": map[string]any{}, "budget_reset_at": nil,
		"model_rpm_limit": map[string]any{}, "model_tpm_limit": map[string]any{}, "created_at": "2026-06-29T10:00:00.123456Z",
		"created_by": "master", "updated_at": "2026-06-29T10:00:00.123456Z", "updated_by": "master", "revision": 42.0,
	}
	if diff := cmp.Diff(want, a.json(t)); a.status != 200 || diff != "" {
		t.Errorf("status %d (- want):\n%s", a.status, diff)
	}
	if got := a.header.Get("ETag"); got != `"42"` {
		t.Errorf("ETag is %s", got)
	}
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Other"}`, "409 already_exists organization_id"},
		{"", "POST /organization/new", `{"organization_alias":"Acme"}`, "409 already_exists organization_alias"},
		{"", "POST /organization/new", `{"organization_alias":"Other","budget_id":"gold"}`, "404 budget_not_found budget_id"},
		{"", "POST /organization/new", `{"organization_alias":"Other","max_budget":1,"soft_budget":2}`, "422 invalid_value soft_budget"},
		{"", "PATCH /organization/update", `{"organization_id":"acme","if_revision":41,"models":[]}`, "409 revision_conflict"},
		{"", "PATCH /organization/update", `{"organization_id":"acme","if_revision":42.5,"models":[]}`, "422 invalid_value if_revision"},
		{"", "PATCH /organization/update", `{"organization_id":"acme","organization_alias":null}`, "422 invalid_value organization_alias"},
		{"", "PATCH /organization/update", `{"organization_id":"none","models":[]}`, "404 organization_not_found organization_id"},
		{"", "PUT /organization/update", `{"organization_id":"acme","if_revision":42,"models":[],"metadata":null,"max_budget":null,"rpm_limit":7}`, "200"},
		{"", "GET /organization/info?organization_id=none", "", "404 organization_not_found organization_id"},
		{"", "POST /organization/info", `{"organizations":["acme","none"]}`, "404 organization_not_found organizations[1]"},
		{"", "DELETE /organization/delete", `{"organization_ids":["acme","none"]}`, "404 organization_not_found organization_ids[1]"},
	})
	a = ask(t, s, "GET /organization/info?organization_id=acme", "", nil)
	if diff := cmp.Diff(map[string]any{"models": []any{}, "metadata": map[string]any{}, "max_budget": nil, "rpm_limit": 7.0, "revision": 43.0},
		some(a.json(t), "models", "metadata", "max_budget", "rpm_limit", "revision")); diff != "" {
		t.Errorf("after the update (- want):\n%s", diff)
	}
}

func TestOrganizationMembers(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /organization/new", `{"organization_id":"zeta","organization_alias":"Zeta"}`, "200"},
		{"", "POST /organization/member_add", `{"organization_id":"none","member":{"role":"internal_user","user_id":"ada"}}`, "404 organization_not_found organization_id"},
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":[{"role":"internal_user","user_id":"x"},{"role":"internal_user"}]}`, "422 missing_required_parameter member[1].user_id"},
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":[{"role":"internal_user","user_id":"x"},{"role":"org_admin","user_id":"x"}]}`, "422 duplicate_value member[1].user_id"},
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":[{"role":"internal_user","user_email":"x@x.org"},{"role":"org_admin","user_email":"X@x.org"}]}`, "422 duplicate_value member[1].user_email"},
	})
	if _, total := listing.Users(n.View().Keys, usersAll()); total != 0 {
		t.Errorf("%d users were left behind by what was refused", total)
	}
	ada := account(t, s, `{"user_id":"ada","user_email":"ada@x.org"}`)
	a := ask(t, s, "POST /organization/member_add", `{"organization_id":"acme","member":{"role":"org_admin","user_email":"ADA@x.org"},"max_budget_in_organization":1.5}`, nil)
	got := a.json(t)
	users, _ := got["updated_users"].([]any)
	places, _ := got["updated_organization_memberships"].([]any)
	if a.status != 200 || len(users) != 1 || len(places) != 1 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	user, _ := users[0].(map[string]any)
	place, _ := places[0].(map[string]any)
	if diff := cmp.Diff(map[string]any{
		"user_id": "ada", "organization_memberships": []any{map[string]any{"organization_id": "acme", "user_role": "org_admin"}},
	}, some(user, "user_id", "organization_memberships")); diff != "" {
		t.Errorf("the user (- want):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{
		"user_id": "ada", "organization_id": "acme", "user_role": "org_admin", "max_budget_in_organization": 1.5, "user_email": "ada@x.org",
	}, some(place, "user_id", "organization_id", "user_role", "max_budget_in_organization", "user_email")); diff != "" {
		t.Errorf("the membership (- want):\n%s", diff)
	}
	account(t, s, `{"user_id":"eve","organizations":["zeta"]}`)
	play(t, s, []step{
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":{"role":"internal_user","user_id":"ada"}}`, "409 already_exists member[0].user_id"},
		// An admin of the organization adds new users by address, and nobody of another organization.
		{ada, "POST /organization/member_add", `{"organization_id":"acme","member":[{"role":"internal_user_viewer","user_email":"new@x.org"},{"role":"org_admin","user_id":"bob"}]}`, "403 insufficient_permissions member[1]"},
		{ada, "POST /organization/member_add", `{"organization_id":"acme","member":[{"role":"internal_user_viewer","user_email":"new@x.org"},{"role":"org_admin","user_email":"bob@x.org"}]}`, "200"},
		{ada, "POST /organization/member_add", `{"organization_id":"acme","member":{"role":"internal_user","user_id":"eve"}}`, "403 insufficient_permissions member[0]"},
		{ada, "POST /organization/member_add", `{"organization_id":"zeta","member":{"role":"internal_user","user_id":"new"}}`, "403 insufficient_permissions organization_id"},
		{ada, "POST /organization/member_add", `{"organization_id":"none","member":{"role":"internal_user","user_id":"new"}}`, "403 insufficient_permissions organization_id"},
		{ada, "PATCH /organization/member_update", `{"organization_id":"acme","user_email":"bob@x.org","role":"internal_user","max_budget_in_organization":3}`, "200"},
		{ada, "PATCH /organization/member_update", `{"organization_id":"acme","user_id":"eve","role":"internal_user"}`, "404 member_not_found user_id"},
		{ada, "PATCH /organization/member_update", `{"organization_id":"acme","role":"internal_user"}`, "422 missing_required_parameter user_id"},
		{ada, "PATCH /organization/member_update", `{"organization_id":"acme","user_id":"ada","user_email":"bob@x.org"}`, "422 invalid_value user_email"},
		{ada, "PATCH /organization/member_update", `{"organization_id":"acme","user_email":"bob@x.org","max_budget_in_organization":null}`, "200"},
		{ada, "PATCH /organization/member_update", `{"organization_id":"acme","user_id":"ada","max_budget_in_organization":null}`, "403 insufficient_permissions max_budget_in_organization"},
		{ada, "PATCH /organization/member_update", `{"organization_id":"acme","user_id":"ada","max_budget_in_organization":1}`, "200"},
		{ada, "DELETE /organization/member_delete", `{"organization_id":"acme","user_email":"new@x.org"}`, "200"},
		{ada, "POST /organization/member_delete", `{"organization_id":"acme","user_email":"new@x.org"}`, "404 member_not_found user_id"},
		{ada, "POST /organization/delete", `{"organization_ids":["acme"]}`, "403 insufficient_permissions"},
		{ada, "PATCH /organization/update", `{"organization_id":"acme","models":["fast"]}`, "403 insufficient_permissions"},
		{ada, "GET /organization/info?organization_id=zeta", "", "403 insufficient_permissions organization_id"},
		{ada, "GET /organization/info?organization_id=acme", "", "200"},
	})
	a = ask(t, s, "GET /organization/list", "", as(ada))
	if n := len(list(t, a)); n != 1 {
		t.Errorf("an admin of one organization sees %d", n)
	}
	members, _ := list(t, a)[0]["members"].([]any)
	if len(members) != 2 {
		t.Errorf("the members are %v", members)
	}
	if all := list(t, ask(t, s, "GET /organization/list", "", nil)); len(all) != 2 || all[0]["organization_alias"] != "Acme" {
		t.Errorf("the master key sees %v", all)
	}
	if found := list(t, ask(t, s, "GET /organization/list?org_alias=ZET", "", nil)); len(found) != 1 || found[0]["organization_id"] != "zeta" {
		t.Errorf("found %v", found)
	}
}

// TestDeletedOrganization checks that everything of an organization is deleted with it, except
// its users.
func TestDeletedOrganization(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	ask(t, s, "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, nil)
	n.do(t, func(v *cluster.View, tx *record.Txn) error {
		hello := prompts.Content{Messages: []prompts.Message{{Role: "user", Content: "Hello"}}}
		_, _, err := v.Prompts.Create(tx, prompts.Prompt{Head: resource.Head{ID: id.NewUUID(), Name: "hello", Organization: "acme"}}, hello)
		if err == nil {
			_, _, err = v.Prompts.Create(tx, prompts.Prompt{Head: resource.Head{ID: id.NewUUID(), Name: "hello"}}, hello)
		}
		return err
	})
	own := account(t, s, `{"user_id":"ada","organizations":["acme"]}`)
	play(t, s, []step{
		{"", "POST /team/new", `{"team_id":"research","organization_id":"acme"}`, "200"},
		{"", "POST /team/member_add", `{"team_id":"research","member":{"role":"user","user_id":"ada"}}`, "200"},
		{"", "POST /key/generate", `{"key":"sk-the-key-of-the-team","team_id":"research"}`, "200"},
		{"", "POST /key/generate", `{"key":"sk-the-key-of-the-organization","organization_id":"acme"}`, "200"},
		{"", "DELETE /organization/delete", `{"organization_ids":["acme","acme"]}`, "200"},
		{"", "GET /team/info?team_id=research", "", "404 team_not_found team_id"},
		{"sk-the-key-of-the-team", "GET /key/info", "", "401 invalid_api_key"},
		{"sk-the-key-of-the-organization", "GET /key/info", "", "401 invalid_api_key"},
		{own, "GET /user/info", "", "200"},
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
	})
	if left := n.View().Prompts.Len(); left != 1 {
		t.Errorf("%d prompts are left, want the one that is nobody's", left)
	}
	a := ask(t, s, "GET /v2/user/info?user_id=ada", "", nil)
	if diff := cmp.Diff(map[string]any{"teams": []any{}, "organization_memberships": []any{}, "key_count": 1.0}, some(a.json(t), "teams", "organization_memberships", "key_count")); diff != "" {
		t.Errorf("ada (- want):\n%s", diff)
	}
}
