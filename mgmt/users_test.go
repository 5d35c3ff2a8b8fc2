package mgmt

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/listing"
)

// usersAll lists all users.
func usersAll() listing.UserQuery { return listing.UserQuery{Limit: 1000} }

// list decodes a body that is a list of objects.
func list(t *testing.T, a answer) []map[string]any {
	t.Helper()
	var out []map[string]any
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return out
}

func TestCreateUser(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /team/new", `{"team_id":"research"}`, "200"},
		{"", "POST /team/new", `{"team_id":"sales"}`, "200"},
	})
	a := ask(t, s, "POST /user/new", `{"user_id":"ada","user_email":"ada@x.org","user_alias":"Ada","sso_user_id":"s|1","teams":["sales",{"team_id":"research","user_role":"admin","max_budget_in_team":2}],
		"organizations":["acme"],"models":["fast"],"rpm_limit":3,"key_alias":"laptop","duration":"30d"}`, nil)
	got := a.json(t)
	key, _ := got["key"].(string)
	want := map[string]any{
		"user_id": "ada", "user_email": "ada@x.org", "user_alias": "Ada", "user_role": "internal_user", "teams": []any{"research", "sales"},
		"organization_memberships": []any{map[string]any{"organization_id": "acme", "user_role": "internal_user"}}, "models": []any{"fast"},
		"sso_user_id": "s|1", "key_count": 1.0, "blocked": false, "rpm_limit": 3.0, "created_by": "master", "metadata": map[string]any{},
	}
	if diff := cmp.Diff(want, some(got, "user_id", "user_email", "user_alias", "user_role", "teams", "organization_memberships", "models",
		"sso_user_id", "key_count", "blocked", "rpm_limit", "created_by", "metadata")); a.status != 200 || diff != "" {
		t.Errorf("%d (- want):\n%s", a.status, diff)
	}
	if !strings.HasPrefix(key, "sk-") || got["expires"] == nil || got["token"] == nil {
		t.Errorf("the key is %q of %v until %v", key, got["token"], got["expires"])
	}
	info := ask(t, s, "GET /user/info", "", as(key))
	if strings.Contains(info.body, key) || info.status != 200 {
		t.Errorf("the key was shown again, or not at all: %d", info.status)
	}
	shown := info.json(t)
	keysOf, _ := shown["keys"].([]any)
	teams, _ := shown["teams"].([]any)
	if len(keysOf) != 1 || len(teams) != 2 || shown["user_id"] != "ada" {
		t.Errorf("info has %d keys and %d teams of %v", len(keysOf), len(teams), shown["user_id"])
	}
	play(t, s, []step{
		{"", "POST /user/new", `{"user_id":"ada"}`, "409 already_exists user_id"},
		{"", "POST /user/new", `{"user_email":"ADA@x.org"}`, "409 already_exists user_email"},
		{"", "POST /user/new", `{"sso_user_id":"s|1"}`, "409 already_exists sso_user_id"},
		{"", "POST /user/new", `{"teams":["none"]}`, "404 team_not_found teams[0].team_id"},
		{"", "POST /user/new", `{"teams":["sales","sales"]}`, "422 duplicate_value teams[1].team_id"},
		{"", "POST /user/new", `{"organizations":["none"]}`, "404 organization_not_found organizations[0]"},
		{"", "POST /user/new", `{"duration":"-1d"}`, "422 invalid_value duration"},
		{"", "POST /user/new", `{"auto_create_key":false,"duration":"1d"}`, "422 invalid_value duration"},
		{"", "POST /user/new", `{"budget_id":"gold"}`, "404 budget_not_found budget_id"},
		{"", "POST /user/new", `{"user_role":"org_admin"}`, "422 invalid_value user_role"},
		{"", "POST /user/new", `{"user_id":"nokey","auto_create_key":false}`, "200"},
		{key, "POST /user/new", `{"user_id":"mine"}`, "403 insufficient_permissions user_id"},
		{key, "GET /user/info?user_id=nokey", "", "403 insufficient_permissions user_id"},
		{key, "GET /user/info?user_id=none", "", "403 insufficient_permissions user_id"},
		{"", "GET /user/info?user_id=none", "", "404 user_not_found user_id"},
		{"", "GET /user/info", "", "404 user_not_found user_id"},
		{plainKey, "GET /user/info", "", "403 insufficient_permissions"},
	})
}

// TestAdminsOfOrganizations checks that they make and change users of their own organizations,
// and no user with more rights than theirs.
func TestAdminsOfOrganizations(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /organization/new", `{"organization_id":"zeta","organization_alias":"Zeta"}`, "200"},
		{"", "POST /team/new", `{"team_id":"ours","organization_id":"acme","models":["fast"]}`, "200"},
		{"", "POST /team/new", `{"team_id":"theirs","organization_id":"zeta"}`, "200"},
	})
	boss := account(t, s, `{"user_id":"boss","organizations":["acme"],"duration":"10d","models":["fast"]}`)
	account(t, s, `{"user_id":"both","organizations":["acme","zeta"]}`)
	account(t, s, `{"user_id":"none"}`)
	viewer := account(t, s, `{"user_id":"viewer","user_role":"proxy_admin_viewer"}`)
	play(t, s, []step{
		{"", "PATCH /organization/member_update", `{"organization_id":"acme","user_id":"boss","role":"org_admin"}`, "200"},

		{boss, "POST /user/new", `{"auto_create_key":false,"models":["fast"]}`, "403 insufficient_permissions organizations"},
		{boss, "POST /user/new", `{"organizations":["zeta"],"duration":"1d","models":["fast"]}`, "403 insufficient_permissions organizations[0]"},
		{boss, "POST /user/new", `{"organizations":["acme"],"teams":["theirs"],"duration":"1d","models":["fast"]}`, "403 insufficient_permissions teams[0].team_id"},
		{boss, "POST /user/new", `{"organizations":["acme"],"user_role":"proxy_admin","models":["fast"]}`, "403 insufficient_permissions user_role"},
		{boss, "POST /user/new", `{"organizations":["acme"],"duration":"1d"}`, "403 model_access_denied models"},
		{boss, "POST /user/new", `{"organizations":["acme"],"duration":"20d","models":["fast"]}`, "403 insufficient_permissions duration"},
		{boss, "POST /user/new", `{"user_id":"made","organizations":["acme"],"teams":["ours"],"duration":"1d","models":["fast"]}`, "403 insufficient_permissions user_id"},
	})
	if _, total := listing.Users(n.View().Keys, usersAll()); total != 4 {
		t.Errorf("%d users, so one was made in spite of a refusal", total)
	}
	a := asking(t, s, boss, "POST /user/new", `{"organizations":["acme"],"teams":["ours"],"duration":"1d","models":["fast"],"user_role":"internal_user_viewer"}`)
	made, _ := a.json(t)["user_id"].(string)
	if a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	play(t, s, []step{
		{boss, "POST /user/update", `{"user_id":"` + made + `","user_alias":"Made","user_role":"internal_user"}`, "200"},
		{boss, "POST /user/update", `{"user_id":"` + made + `","user_role":"proxy_admin_viewer"}`, "403 insufficient_permissions user_role"},
		{boss, "POST /user/update", `{"user_id":"both","user_alias":"x"}`, "403 insufficient_permissions user_id"},
		{boss, "POST /user/update", `{"user_id":"none","user_alias":"x"}`, "403 insufficient_permissions user_id"},
		{boss, "POST /organization/member_add", `{"organization_id":"acme","member":{"role":"internal_user","user_id":"none"}}`, "403 insufficient_permissions member[0]"},
		{boss, "POST /user/delete", `{"user_ids":["` + made + `","both"]}`, "403 insufficient_permissions user_ids[1]"},
		{boss, "POST /user/delete", `{"user_ids":["` + made + `"]}`, "200"},

		{viewer, "GET /user/info?user_id=none", "", "200"},
		{viewer, "GET /user/info?user_id=nobody", "", "404 user_not_found user_id"},
		{viewer, "POST /user/update", `{"user_id":"none","user_alias":"x"}`, "403 insufficient_permissions"},
		{viewer, "POST /user/delete", `{"user_ids":["none"]}`, "403 insufficient_permissions"},
		{viewer, "POST /user/new", `{}`, "403 insufficient_permissions"},
		{viewer, "POST /organization/member_add", `{"organization_id":"acme","member":{"role":"internal_user","user_id":"none"}}`, "403 insufficient_permissions"},
	})
}

func TestUpdateUser(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	ada := account(t, s, `{"user_id":"ada","user_email":"ada@x.org","models":["fast"],"max_budget":5}`)
	account(t, s, `{"user_id":"grace","user_email":"grace@x.org"}`)
	play(t, s, []step{
		{"", "POST /user/update", `{"user_id":"none","user_alias":"x"}`, "404 user_not_found user_id"},
		{"", "POST /user/update", `{"user_email":"none@x.org","user_alias":"x"}`, "404 user_not_found user_email"},
		{"", "POST /user/update", `{"user_alias":"x"}`, "422 missing_required_parameter user_id"},
		{"", "POST /user/update", `{"user_id":"grace","user_email":"ADA@x.org"}`, "409 already_exists user_email"},
		{"", "POST /user/update", `{"user_id":"grace","if_revision":1,"user_alias":"x"}`, "409 revision_conflict"},
		{"", "POST /user/update", `{"user_email":"ADA@x.org","user_alias":"Ada","models":null,"max_budget":null}`, "200"},
		{ada, "POST /user/update", `{"user_id":"grace","user_alias":"x"}`, "403 insufficient_permissions user_id"},
		{ada, "POST /user/update", `{"user_id":"none","user_alias":"x"}`, "403 insufficient_permissions user_id"},
		{ada, "POST /user/update", `{"user_id":"ada","user_role":"proxy_admin"}`, "403 insufficient_permissions user_role"},
		{ada, "POST /user/update", `{"user_id":"ada","user_alias":"Countess"}`, "200"},
	})
	got := ask(t, s, "GET /v2/user/info", "", as(ada)).json(t)
	if diff := cmp.Diff(map[string]any{"user_email": "ada@x.org", "user_alias": "Countess", "models": []any{}, "max_budget": nil, "user_role": "internal_user"},
		some(got, "user_email", "user_alias", "models", "max_budget", "user_role")); diff != "" {
		t.Errorf("ada (- want):\n%s", diff)
	}
	play(t, s, []step{
		{"", "POST /user/update", `{"user_id":"ada","blocked":true}`, "200"},
		{ada, "GET /v2/user/info", "", "403 user_blocked"},
		{"", "POST /user/update", `{"user_id":"ada","blocked":false,"user_email":null}`, "200"},
		{ada, "GET /v2/user/info", "", "200"},
		{"", "POST /user/update", `{"user_email":"ada@x.org","user_alias":"x"}`, "404 user_not_found user_email"},
	})
}

func TestBulkUpdateUsers(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	account(t, s, `{"user_id":"ada"}`)
	account(t, s, `{"user_id":"grace"}`)
	before := n.View().Revision
	a := ask(t, s, "POST /user/bulk_update", `{"users":[{"user_id":"ada","user_email":"one@x.org"},{"user_id":"none"},{"user_id":"grace","user_email":"ONE@x.org"},
		{"user_id":"grace","user_alias":"Grace","models":null},{"user_id":"grace","user_alias":"again"}]}`, nil)
	got := a.json(t)
	if diff := cmp.Diff(map[string]any{"total_requested": 5.0, "successful_updates": 2.0, "failed_updates": 3.0}, some(got, "total_requested", "successful_updates", "failed_updates")); diff != "" {
		t.Errorf("%d (- want):\n%s", a.status, diff)
	}
	results, _ := got["results"].([]any)
	var outcome []any
	for _, r := range results {
		one, _ := r.(map[string]any)
		if outcome = append(outcome, one["success"]); (one["error"] == nil) != one["success"].(bool) {
			t.Errorf("%v", one)
		}
	}
	if diff := cmp.Diff([]any{true, false, false, true, false}, outcome); diff != "" {
		t.Errorf("successes (- want):\n%s", diff)
	}
	if after := n.View().Revision; after != before+1 {
		t.Errorf("it took %d transactions", after-before)
	}
	if u := slices.Collect(n.View().Keys.UsersByEmail(nil, "one@x.org")); len(u) != 1 || u[0].ID != "ada" {
		t.Errorf("the address is that of %v", u)
	}
	a = ask(t, s, "POST /user/bulk_update", `{"users":[{"user_id":"none"}]}`, nil)
	if a.status != 200 || n.View().Revision != before+1 {
		t.Errorf("nothing to change: %d at %d", a.status, n.View().Revision)
	}
}

func TestDeleteUsers(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	boss := account(t, s, `{"user_id":"boss","user_role":"proxy_admin"}`)
	ada := account(t, s, `{"user_id":"ada","user_email":"ada@x.org"}`)
	grace := account(t, s, `{"user_id":"grace"}`)
	play(t, s, []step{
		{boss, "POST /user/delete", `{"user_ids":["ada","none"]}`, "404 user_not_found user_ids[1]"},
		{boss, "POST /user/delete", `{"user_ids":["ada","boss"]}`, "403 insufficient_permissions user_ids[1]"},
		{grace, "POST /user/delete", `{"user_ids":["ada"]}`, "403 insufficient_permissions user_ids[0]"},
		{ada, "GET /v2/user/info", "", "200"},
	})
	a := ask(t, s, "DELETE /user/delete", `{"user_ids":["ada","ada","grace"]}`, as(boss))
	if diff := cmp.Diff(map[string]any{"deleted_users": 2.0, "deleted_keys": 2.0, "message": "2 users deleted, with 2 keys."}, a.json(t)); diff != "" {
		t.Errorf("%d (- want):\n%s", a.status, diff)
	}
	play(t, s, []step{
		{ada, "GET /v2/user/info", "", "401 invalid_api_key"},
		{"", "POST /user/new", `{"user_id":"ada","user_email":"ada@x.org"}`, "200"},
	})
	if _, total := listing.Users(n.View().Keys, usersAll()); total != 2 {
		t.Errorf("%d users", total)
	}
}

func TestListUsers(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	ask(t, s, "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, nil)
	ada := account(t, s, `{"user_id":"ada","user_email":"ada@x.org"}`)
	n.pass(1)
	account(t, s, `{"user_id":"bob","organizations":["acme"]}`)
	n.pass(1)
	account(t, s, `{"user_id":"cyd","user_role":"proxy_admin_viewer"}`)
	ask(t, s, "POST /organization/member_add", `{"organization_id":"acme","member":{"user_id":"ada","role":"org_admin"}}`, nil)
	for _, test := range []struct{ who, query, want string }{
		{"", "", "ada bob cyd of 3 on 1"},
		{"", "?sort_order=desc&page_size=2", "cyd bob of 3 on 2"},
		{"", "?page=2&page_size=2", "cyd of 3 on 2"},
		{"", "?page=9", " of 3 on 1"},
		{"", "?role=proxy_admin_viewer", "cyd of 1 on 1"},
		{"", "?user_ids=cyd, ada", "ada cyd of 2 on 1"},
		{"", "?organization_ids=acme&sort_by=user_id&sort_order=desc", "bob ada of 2 on 1"},
		{"", "?user_email=ADA", "ada of 1 on 1"},
		{"", "?search=y", "cyd of 1 on 1"},
		{ada, "", "ada bob of 2 on 1"},
		{ada, "?user_ids=cyd", " of 0 on 0"},
	} {
		a := asking(t, s, test.who, "GET /user/list"+strings.ReplaceAll(test.query, " ", "%20"), "")
		var got struct {
			Users []struct {
				ID string `json:"user_id"`
			} `json:"users"`
			Total      int `json:"total"`
			TotalPages int `json:"total_pages"`
		}
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 {
			t.Fatalf("%s: %d %s", test.query, a.status, a.body)
		}
		var names []string
		for _, u := range got.Users {
			names = append(names, u.ID)
		}
		if text := strings.Join(names, " ") + " of " + strconv.Itoa(got.Total) + " on " + strconv.Itoa(got.TotalPages); text != test.want {
			t.Errorf("%q: %q, want %q", test.query, text, test.want)
		}
	}
	for query, want := range map[string]string{"?page=0": "page", "?page_size=101": "page_size", "?sort_by=spend": "sort_by", "?role=boss": "role"} {
		if a := ask(t, s, "GET /user/list"+query, "", nil); a.status != 422 || !strings.HasSuffix(a.refusal(t), " "+want) {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
}
