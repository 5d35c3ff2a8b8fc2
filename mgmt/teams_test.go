package mgmt

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

func TestTeamRoutes(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme","models":["fast","slow"]}`, "200"},
		{"", "POST /budget/new", `{"budget_id":"gold","max_budget":5}`, "200"},
	})
	a := ask(t, s, "POST /team/new", `{"team_id":"red","team_alias":"Red","organization_id":"acme","models":["fast"],"model_aliases":{"f":"fast"},
		"tags":["x"],"metadata":{"a":1},"max_budget":0.1,"budget_id":"gold","model_rpm_limit":{"fast":3},"team_member_budget":2.5,"team_member_key_duration":"30d"}`, nil)
	want := map[string]any{
		"team_id": "red", "team_alias": "Red", "organization_id": "acme", "models": []any{"fast"}, "model_aliases": map[string]any{"f": "fast"},
		"tags": []any{"x"}, "metadata": map[string]any{"a": 1.0}, "blocked": false,
		"members_with_roles": []any{}, "admins": []any{}, "members": []any{}, "team_member_permissions": []any{"/key/info", "/key/health"},
		"team_member_budget": 2.5, "team_member_budget_duration": nil, "team_member_rpm_limit": nil, "team_member_tpm_limit": nil, "team_member_key_duration": "30d",
		"allowed_prompts": []any{}, "guardrails": []any{}, "default_prompt_id": nil, "require_prompt": false,
		"max_budget": 0.1, "soft_budget": nil, "budget_duration": nil, "max_parallel_requests": nil,
		"tpm_limit": nil, "rpm_limit": nil, "tpd_limit": nil, "model_max_budget": map[string]any{}, "budget_id": "gold",
		"spend": 0.0, "total_spend": 0.0, "model_spend": map[string]any{}, "budget_reset_at": nil,
		"model_rpm_limit": map[string]any{"fast": 3.0}, "model_tpm_limit": map[string]any{}, "created_at": "2026-06-29T10:00:00.123456Z",
		"created_by": "master", "updated_at": "2026-06-29T10:00:00.123456Z", "updated_by": "master", "revision": 44.0,
	}
	if diff := cmp.Diff(want, a.json(t)); a.status != 200 || diff != "" {
		t.Errorf("status %d (- want):\n%s", a.status, diff)
	}
	if got := a.header.Get("ETag"); got != `"44"` {
		t.Errorf("ETag is %s", got)
	}
	play(t, s, []step{
		{"", "POST /team/new", `{"team_id":"red"}`, "409 already_exists team_id"},
		{"", "POST /team/new", `{"organization_id":"none"}`, "404 organization_not_found organization_id"},
		{"", "POST /team/new", `{"budget_id":"none"}`, "404 budget_not_found budget_id"},
		{"", "POST /team/new", `{"max_budget":1,"soft_budget":1}`, "422 invalid_value soft_budget"},
		{"", "POST /team/new", `{"max_budget":1e-13}`, "422 invalid_value max_budget"},
		{"", "POST /team/new", `{"max_budget":-1}`, "422 invalid_value max_budget"},
		{"", "POST /team/new", `{"budget_duration":"1y"}`, "422 invalid_value budget_duration"},
		{"", "POST /team/new", `{"organization_id":"acme","models":["slow","huge"]}`, "403 model_access_denied models"},
		{"", "POST /team/update", `{"team_id":"red","if_revision":43,"tags":[]}`, "409 revision_conflict"},
		{"", "POST /team/update", `{"team_id":"red","blocked":null}`, "422 invalid_value blocked"},
		{"", "POST /team/update", `{"team_id":"none","tags":[]}`, "404 team_not_found team_id"},
		{"", "PUT /team/update", `{"team_id":"red","if_revision":44,"tags":null,"metadata":{},"max_budget":null,"model_aliases":{},"team_member_key_duration":null,"rpm_limit":7}`, "200"},
		{"", "PATCH /team/red", `{"team_alias":"Crimson","team_member_rpm_limit":0}`, "200"},
		{"", "PATCH /team/none", `{"team_alias":"Crimson"}`, "404 team_not_found team_id"},
		{"", "POST /team/model/add", `{"team_id":"red","models":["slow","fast"]}`, "200"},
		{"", "POST /team/model/add", `{"team_id":"red","models":["huge"]}`, "403 model_access_denied models"},
		{"", "DELETE /team/model/delete", `{"team_id":"red","models":["fast"]}`, "200"},
		{"", "DELETE /team/model/delete", `{"team_id":"red","models":["fast"]}`, "422 invalid_value models[0]"},
		{"", "DELETE /team/model/delete", `{"team_id":"red","models":["slow"]}`, "422 invalid_value models"},
		{"", "POST /team/permissions_update", `{"team_id":"red","team_member_permissions":["/key/list"]}`, "200"},
		{"", "POST /team/permissions_update", `{"team_id":"red","team_member_permissions":["/team/delete"]}`, "422 invalid_value team_member_permissions[0]"},
		{"", "POST /team/block", `{"team_id":"red"}`, "200"},
		{"", "POST /team/block", `{"team_id":"none"}`, "404 team_not_found team_id"},
	})
	got, _ := ask(t, s, "GET /team/info?team_id=red", "", nil).json(t)["team_info"].(map[string]any)
	names := []string{"team_alias", "tags", "metadata", "max_budget", "model_aliases", "team_member_key_duration", "rpm_limit", "team_member_rpm_limit", "models", "blocked", "team_member_permissions", "budget_id"}
	if diff := cmp.Diff(map[string]any{
		"team_alias": "Crimson", "tags": []any{}, "metadata": map[string]any{}, "max_budget": nil, "model_aliases": map[string]any{},
		"team_member_key_duration": nil, "rpm_limit": 7.0, "team_member_rpm_limit": 0.0, "models": []any{"slow"}, "blocked": true,
		"team_member_permissions": []any{"/key/list"}, "budget_id": "gold",
	}, some(got, names...)); diff != "" {
		t.Errorf("after the updates (- want):\n%s", diff)
	}
	list := ask(t, s, "GET /team/permissions_list?team_id=red", "", nil).json(t)
	if all, _ := list["all_available_permissions"].([]any); len(all) != len(tenancy.TeamPermissions()) || fmt.Sprint(list["team_member_permissions"]) != "[/key/list]" {
		t.Errorf("permissions are %v", list)
	}
	if a = ask(t, s, "POST /team/unblock", `{"team_id":"red"}`, nil); a.json(t)["blocked"] != false {
		t.Errorf("unblocked: %s", a.body)
	}
}

func TestTeamMembers(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	ada := account(t, s, `{"user_id":"ada","user_email":"ada@x.org"}`)
	a := ask(t, s, "POST /team/new", `{"team_id":"red","admins":["ada","zoe"],"members":["ada","bob"],"members_with_roles":[{"user_id":"zoe","role":"user"},{"user_email":"eve@x.org","role":"user"}]}`, nil)
	got := a.json(t)
	admins, _ := got["admins"].([]any)
	members, _ := got["members"].([]any)
	roles, _ := got["members_with_roles"].([]any)
	if a.status != 200 || fmt.Sprint(admins) != "[ada zoe]" || len(members) != 4 || len(roles) != 4 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if !slices.IsSortedFunc(members, func(x, y any) int { return cmpText(x, y) }) {
		t.Errorf("members are %v", members)
	}
	info, _ := ask(t, s, "GET /team/info?team_id=red", "", nil).json(t)["team_info"].(map[string]any)
	if diff := cmp.Diff(got, info); diff != "" {
		t.Errorf("the team is shown otherwise than when it was made (- then, + now):\n%s", diff)
	}
	play(t, s, []step{
		{"", "POST /team/member_add", `{"team_id":"none","member":{"role":"user","user_id":"x"}}`, "404 team_not_found team_id"},
		{"", "POST /team/member_add", `{"team_id":"red","member":[{"role":"user","user_id":"x"},{"role":"user"}]}`, "422 missing_required_parameter member[1].user_id"},
		{"", "POST /team/member_add", `{"team_id":"red","member":[{"role":"user","user_id":"x"},{"role":"user","user_id":"x"}]}`, "422 duplicate_value member[1].user_id"},
		{"", "POST /team/member_add", `{"team_id":"red","member":[{"role":"user","user_id":"x"},{"role":"admin","user_id":"bob"}]}`, "409 already_exists member[1].user_id"},
		{"", "POST /team/member_add", `{"team_id":"red","member":{"role":"boss","user_id":"x"}}`, "422 invalid_value member[0].role"},
		{"", "POST /team/bulk_member_add", `{"team_id":"red"}`, "422 invalid_value members"},
		{"", "POST /team/bulk_member_add", `{"team_id":"red","all_users":true,"members":[{"role":"user","user_id":"x"}]}`, "422 invalid_value members"},
	})
	if _, ok := n.View().Keys.User(nil, "x"); ok {
		t.Error("a user was left behind by what was refused")
	}
	a = ask(t, s, "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_email":"new@x.org"},"max_budget_in_team":1.5,"allowed_models":["fast"]}`, nil)
	got = a.json(t)
	places, _ := got["updated_team_memberships"].([]any)
	users, _ := got["updated_users"].([]any)
	if a.status != 200 || len(places) != 1 || len(users) != 1 || got["team_id"] != "red" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	place, _ := places[0].(map[string]any)
	user, _ := users[0].(map[string]any)
	if diff := cmp.Diff(map[string]any{
		"team_id": "red", "role": "user", "user_email": "new@x.org", "max_budget_in_team": 1.5, "allowed_models": []any{"fast"}, "rpm_limit": nil,
	}, some(place, "team_id", "role", "user_email", "max_budget_in_team", "allowed_models", "rpm_limit")); diff != "" {
		t.Errorf("the membership (- want):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"user_role": "internal_user", "teams": []any{"red"}, "models": []any{}}, some(user, "user_role", "teams", "models")); diff != "" {
		t.Errorf("the user (- want):\n%s", diff)
	}
	play(t, s, []step{
		{"", "POST /team/member_update", `{"team_id":"red","user_email":"NEW@x.org","role":"admin","rpm_limit":5,"max_budget_in_team":null,"allowed_models":[]}`, "200"},
		{"", "POST /team/member_update", `{"team_id":"red","user_id":"nobody","role":"admin"}`, "404 member_not_found user_id"},
		{"", "POST /team/member_update", `{"team_id":"red","role":"admin"}`, "422 missing_required_parameter user_id"},
		{"", "POST /team/member_update", `{"team_id":"red","user_id":"bob","role":null}`, "422 invalid_value role"},
		{"", "POST /team/member_update", `{"team_id":"red","user_id":"bob","if_revision":1}`, "409 revision_conflict"},
		{"", "POST /key/generate", `{"team_id":"red","user_id":"bob"}`, "200"},
		{"", "DELETE /team/member_delete", `{"team_id":"red","user_id":"bob"}`, "200"},
		{"", "POST /team/member_delete", `{"team_id":"red","user_id":"bob"}`, "404 member_not_found user_id"},
		{"", "POST /team/member_delete", `{"team_id":"red","user_email":"none@x.org"}`, "404 member_not_found user_email"},
		{"", "POST /team/bulk_member_add", `{"team_id":"red","all_users":true}`, "200"},
	})
	for range n.View().Keys.KeysOf("bob") {
		t.Error("the member's key stayed when the member left")
	}
	if m, _ := n.View().Keys.TeamMember(nil, "red", "bob"); m == nil || m.Role != tenancy.TeamUser {
		t.Errorf("all users are in the team, and bob is %+v", m)
	}
	// A team admin manages the members, and no more.
	play(t, s, []step{
		{ada, "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_id":"guest"}}`, "403 insufficient_permissions member[0]"},
		{ada, "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_email":"guest@x.org"}}`, "200"},
		{ada, "POST /team/bulk_member_add", `{"team_id":"red","all_users":true}`, "403 insufficient_permissions all_users"},
		{ada, "PATCH /team/red", `{"team_alias":"R"}`, "200"},
		{ada, "PATCH /team/red", `{"max_budget":5}`, "403 insufficient_permissions limits"},
		{ada, "POST /team/model/add", `{"team_id":"red","models":["fast"]}`, "200"},
		{ada, "POST /team/block", `{"team_id":"red"}`, "403 insufficient_permissions blocked"},
		{ada, "POST /team/delete", `{"team_ids":["red"]}`, "403 insufficient_permissions team_ids[0]"},
		{ada, "GET /team/info?team_id=none", "", "403 insufficient_permissions team_id"},
		{ada, "POST /team/new", `{"team_id":"own"}`, "403 insufficient_permissions organization_id"},
	})
	guests := slices.Collect(n.View().Keys.UsersByEmail(nil, "guest@x.org"))
	if len(guests) != 1 || !slices.Equal(guests[0].Models, []string{"no-default-models"}) {
		t.Errorf("who a team admin lets in is %+v", guests)
	}
}

func cmpText(x, y any) int { return slices.Compare([]byte(fmt.Sprint(x)), []byte(fmt.Sprint(y))) }

// TestTeamsKeepToTheirOrganization checks that a team admin cannot add users of other
// organizations.
func TestTeamsKeepToTheirOrganization(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /organization/new", `{"organization_id":"zeta","organization_alias":"Zeta"}`, "200"},
	})
	boss := account(t, s, `{"user_id":"boss"}`)
	lead := account(t, s, `{"user_id":"lead","organizations":["acme"]}`)
	account(t, s, `{"user_id":"ann","organizations":["acme"]}`)
	account(t, s, `{"user_id":"zed","user_email":"zed@zeta.org","organizations":["zeta"]}`)
	play(t, s, []step{
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":{"role":"org_admin","user_id":"boss"}}`, "200"},
		{"", "POST /team/new", `{"team_id":"red","organization_id":"acme","admins":["lead"]}`, "200"},
		{boss, "POST /team/new", `{"organization_id":"acme","admins":["lead"]}`, "200"},
		{boss, "POST /team/new", `{"organization_id":"acme","admins":["zed"]}`, "403 insufficient_permissions admins[0]"},
		{boss, "POST /team/new", `{"team_id":"blue"}`, "403 insufficient_permissions organization_id"},
		{boss, "POST /team/new", `{"team_id":"blue","organization_id":"zeta"}`, "403 insufficient_permissions organization_id"},
		{lead, "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_id":"ann"}}`, "200"},
		{lead, "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_id":"zed"}}`, "403 insufficient_permissions member[0]"},
		{boss, "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_id":"zed"}}`, "403 insufficient_permissions member[0]"},
		{"", "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_id":"zed"}}`, "200"},
		{boss, "PATCH /team/red", `{"organization_id":"zeta"}`, "403 insufficient_permissions organization_id"},
		{boss, "POST /team/block", `{"team_id":"red"}`, "200"},
		{boss, "DELETE /team/delete", `{"team_ids":["red","red"]}`, "200"},
	})
}

func TestTeamLists(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	ada := account(t, s, `{"user_id":"ada"}`)
	play(t, s, []step{{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"}})
	for _, body := range []string{
		`{"team_id":"t1","team_alias":"Zebra","members":["ada"]}`,
		`{"team_id":"t2","team_alias":"ant","organization_id":"acme"}`,
		`{"team_id":"t3","team_alias":"Bear"}`,
	} {
		n.pass(time.Second)
		play(t, s, []step{{"", "POST /team/new", body, "200"}})
	}
	for _, test := range []struct{ who, query, want string }{
		{"", "", "t3 t1 t2"},
		{"", "?user_id=ada", "t1"},
		{"", "?organization_id=acme", "t2"},
		{ada, "", "t1"},
		{ada, "?organization_id=acme", ""},
	} {
		if got := teamIDs(listOf(t, asking(t, s, test.who, "GET /team/list"+test.query, ""))); got != test.want {
			t.Errorf("list%s is %q, want %q", test.query, got, test.want)
		}
	}
	for _, test := range []struct {
		who, query, want string
		total, pages     float64
	}{
		{"", "", "t3 t2 t1", 3, 1},
		{"", "?sort_order=asc&page_size=2", "t1 t2", 3, 2},
		{"", "?page=2&page_size=2", "t1", 3, 2},
		{"", "?page=9", "", 3, 1},
		{"", "?sort_by=team_alias&sort_order=asc", "t3 t1 t2", 3, 1},
		{"", "?team_alias=E", "t3 t1", 2, 1},
		{"", "?team_id=t2", "t2", 1, 1},
		{ada, "", "t1", 1, 1},
		{ada, "?team_id=t2", "", 0, 0},
	} {
		v := asking(t, s, test.who, "GET /v2/team/list"+test.query, "").json(t)
		list, _ := v["teams"].([]any)
		if got := teamIDs(list); got != test.want || v["total"] != test.total || v["total_pages"] != test.pages {
			t.Errorf("page%s is %q of %v, %v pages; want %+v", test.query, got, v["total"], v["total_pages"], test)
		}
	}
	play(t, s, []step{
		{"", "GET /v2/team/list?page_size=101", "", "422 invalid_value page_size"},
		{"", "GET /v2/team/list?sort_by=color", "", "422 invalid_value sort_by"},
	})
}

func teamIDs(list []any) string {
	text := ""
	for i, one := range list {
		team, _ := one.(map[string]any)
		if i > 0 {
			text += " "
		}
		text += fmt.Sprint(team["team_id"])
	}
	return text
}

// TestTeamInfo shows the keys of a team, the newest first.
func TestTeamInfo(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	ada := account(t, s, `{"user_id":"ada"}`)
	play(t, s, []step{{"", "POST /team/new", `{"team_id":"red","members":["ada"]}`, "200"}})
	for _, alias := range []string{"one", "two", "three"} {
		n.pass(time.Second)
		play(t, s, []step{{"", "POST /key/generate", `{"team_id":"red","key_alias":"` + alias + `"}`, "200"}})
	}
	for query, want := range map[string]string{"": "[three two one]", "&key_limit=2": "[three two]", "&key_limit=0": "[]"} {
		v := ask(t, s, "GET /team/info?team_id=red"+query, "", nil).json(t)
		list, _ := v["keys"].([]any)
		aliases := []any{}
		for _, one := range list {
			k, _ := one.(map[string]any)
			aliases = append(aliases, k["key_alias"])
		}
		places, _ := v["team_memberships"].([]any)
		if fmt.Sprint(aliases) != want || len(places) != 1 {
			t.Errorf("keys%s are %v, with %d memberships", query, aliases, len(places))
		}
	}
	play(t, s, []step{
		{"", "POST /team/permissions_update", `{"team_id":"red","team_member_permissions":["/key/health"]}`, "200"},
		{"", "GET /team/info?team_id=none", "", "404 team_not_found team_id"},
	})
	if list, _ := asking(t, s, ada, "GET /team/info?team_id=red", "").json(t)["keys"].([]any); len(list) != 0 {
		t.Errorf("a member who may not see the team's keys sees %v", list)
	}
	a := ask(t, s, "POST /team/delete", `{"team_ids":["red"]}`, nil)
	if v := a.json(t); a.status != 200 || v["deleted_keys"] != 3.0 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
