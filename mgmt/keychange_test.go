package mgmt

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/id"
)

func TestKeyUpdate(t *testing.T) {
	t.Parallel()
	s, n := atPresent(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /team/new", `{"team_id":"research","organization_id":"acme"}`, "200"},
		{"", "POST /team/new", `{"team_id":"free"}`, "200"},
		{"", "POST /budget/new", `{"budget_id":"gold"}`, "200"},
	})
	key, v := madeKey(t, s, "", `{"key_alias":"ci","models":["fast"],"duration":"30d","metadata":{"a":1},"tags":["x"],"aliases":{"a":"fast"},"allowed_routes":["/v1/models"],
		"key_type":"read_only","team_id":"research","max_budget":5,"soft_budget":1,"budget_duration":"monthly","rpm_limit":3,"tpm_limit":4,"budget_id":"gold","model_rpm_limit":{"fast":1}}`)
	if v["organization_id"] != "acme" || v["key_type"] != "read_only" {
		t.Errorf("%v", v)
	}
	revision, _ := v["revision"].(float64)
	madeKey(t, s, "", `{"key_alias":"other","team_id":"research"}`)
	update := func(body string) string { return fmt.Sprintf(`{"key":%q,%s}`, key, body) }
	play(t, s, []step{
		{"", "POST /key/update", update(`"if_revision":` + fmt.Sprint(revision+1)), "409 revision_conflict"},
		{"", "POST /key/update", update(`"key_alias":"other"`), "409 already_exists key_alias"},
		{"", "POST /key/update", update(`"team_id":"none"`), "404 team_not_found team_id"},
		{"", "POST /key/update", update(`"soft_budget":9`), "422 invalid_value soft_budget"},
		{"", "POST /key/update", update(`"duration":"0d"`), "422 invalid_value duration"},
		{"", "POST /key/update", update(`"blocked":null`), "422 invalid_value blocked"},
		{"", "POST /key/update", update(`"clear":["key"]`), "422 invalid_value clear[0]"},
		{"", "POST /key/update", update(`"spend":0`), "422 unknown_field spend"},
		{"", "POST /key/update", `{"key_alias":"x"}`, "422 missing_required_parameter key"},
		{"", "POST /key/update", `{"key":"nonsense"}`, "422 invalid_value key"},
		{"", "POST /key/update", `{"key":"sk-nobody-has-this-0"}`, "404 key_not_found key"},
		{"", "POST /key/update", `{"key":"` + plainKey + `","tags":["x"]}`, "409 defined_in_file key"},
	})
	n.pass(time.Hour)
	a := ask(t, s, "PATCH /key/update", update(`"rpm_limit":7,"metadata":{"b":2},"team_id":"free","duration":"1d"`), with("If-Match", fmt.Sprintf(`"%.0f"`, revision)))
	got := a.json(t)
	want := keyInfo(t, s, key)
	if diff := cmp.Diff(want, got); diff != "" || a.status != http.StatusOK {
		t.Fatalf("%d, the answer is not what is kept (- kept):\n%s", a.status, diff)
	}
	changed := map[string]any{"rpm_limit": 7.0, "metadata": map[string]any{"b": 2.0}, "team_id": "free", "organization_id": nil}
	for _, name := range []string{"key_alias", "models", "tags", "aliases", "allowed_routes", "key_type", "max_budget", "soft_budget", "budget_duration", "tpm_limit", "budget_id", "model_rpm_limit", "created_at"} {
		changed[name] = v[name]
	}
	for name, value := range changed {
		if diff := cmp.Diff(value, got[name]); diff != "" {
			t.Errorf("%s (- want):\n%s", name, diff)
		}
	}
	n.mu.Lock()
	end := n.mu.now.Add(24 * time.Hour)
	n.mu.Unlock()
	if at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(got["expires"])); err != nil || !at.Equal(end.Truncate(time.Nanosecond)) || got["updated_at"] == v["updated_at"] {
		t.Errorf("expires %v, want %v", got["expires"], end)
	}
	cleared := ask(t, s, "PUT /key/update", update(`"key_alias":null,"models":[],"duration":null,"metadata":{},"tags":[],"aliases":{},"allowed_routes":null,"key_type":null,
		"team_id":null,"max_budget":null,"soft_budget":null,"budget_duration":null,"rpm_limit":null,"tpm_limit":null,"budget_id":null,"model_rpm_limit":{}`), nil).json(t)
	_, bare := madeKey(t, s, "", `{}`)
	for _, name := range []string{"key", "token", "token_id", "account_id", "key_name", "created_at", "updated_at", "revision"} {
		delete(cleared, name)
		delete(bare, name)
	}
	if diff := cmp.Diff(bare, cleared); diff != "" {
		t.Errorf("a key of which everything was cleared (- a bare one):\n%s", diff)
	}
	madeKey(t, s, "", `{"key_alias":"ci"}`)
}

func TestKeyBulkUpdate(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	a, _ := madeKey(t, s, "", `{"key_alias":"a"}`)
	b, _ := madeKey(t, s, "", `{"key_alias":"b"}`)
	n.mu.Lock()
	before := n.mu.view.Revision
	n.mu.Unlock()
	v := ask(t, s, "POST /key/bulk_update", fmt.Sprintf(`{"keys":[{"key":%q,"key_alias":"c","tags":["x"]},{"key":%q,"key_alias":"c"},{"key":%q,"rpm_limit":5,"key_alias":null},
		{"key":%q,"rpm_limit":6},{"key":"sk-nobody-has-this-0"},{"key":"nonsense"},{"key":%q}]}`, a, b, b, b, plainKey), nil).json(t)
	done, _ := v["successful_updates"].([]any)
	failed, _ := v["failed_updates"].([]any)
	if v["total_requested"] != 7.0 || len(done) != 2 || len(failed) != 5 {
		t.Fatalf("%v", v)
	}
	for _, one := range done {
		record, _ := one.(map[string]any)
		token, _ := record["token"].(string)
		if diff := cmp.Diff(keyInfo(t, s, token), record); diff != "" || record["revision"] != float64(before+1) {
			t.Errorf("the answer is not what is kept (- kept):\n%s", diff)
		}
	}
	for i, want := range []struct{ key, reason string }{
		{tokenOf(id.HashKey(b)), "gives one key_alias to two keys"},
		{tokenOf(id.HashKey(b)), "names the key twice"},
		{tokenOf(id.HashKey("sk-nobody-has-this-0")), "no such key"},
		{"", "names no key"},
		{tokenOf(id.HashKey(plainKey)), "configuration file"},
	} {
		one, _ := failed[i].(map[string]any)
		if reason, _ := one["failed_reason"].(string); one["key"] != want.key || !strings.Contains(reason, want.reason) {
			t.Errorf("failed: %v, want %v", one, want)
		}
	}
	if x, y := keyInfo(t, s, a), keyInfo(t, s, b); x["key_alias"] != "c" || y["key_alias"] != nil || y["rpm_limit"] != 5.0 {
		t.Errorf("%v\n%v", x, y)
	}
}

func TestKeyRegeneration(t *testing.T) {
	t.Parallel()
	s, n := atPresent(t)
	old, was := madeKey(t, s, "", `{"key_alias":"ci","models":["fast"],"rpm_limit":3,"metadata":{"a":1},"duration":"2d"}`)
	a := ask(t, s, "POST /key/"+old+"/regenerate", "", nil)
	v := a.json(t)
	next, _ := v["key"].(string)
	if a.status != http.StatusOK || next == old || v["rotation_count"] != 1.0 || v["last_rotation_at"] == nil || v["grace_until"] != nil || v["status"] != "active" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, name := range []string{"key_alias", "models", "rpm_limit", "metadata", "expires", "blocked", "key_type"} {
		if diff := cmp.Diff(was[name], v[name]); diff != "" {
			t.Errorf("%s (- want):\n%s", name, diff)
		}
	}
	play(t, s, []step{
		{old, "GET /key/info", "", "401 invalid_api_key"},
		{next, "GET /key/info", "", "200"},
		{"", "POST /key/regenerate", `{"key":"` + old + `"}`, "404 key_not_found key"},
		{"", "POST /key/regenerate", `{"key":"` + plainKey + `"}`, "409 defined_in_file key"},
		{"", "POST /key/regenerate", `{"key":"` + next + `","new_key":"` + next + `"}`, "409 already_exists new_key"},
		{"", "POST /key/regenerate", `{"key":"` + next + `","new_key":"sk-short"}`, "422 invalid_value new_key"},
		{"", "POST /key/regenerate", `{"key":"` + next + `","grace_period":"-1h"}`, "422 invalid_value grace_period"},
		{"", "POST /key/regenerate", `{"key":"` + next + `","if_revision":1}`, "409 revision_conflict"},
		{"", "POST /key/" + next + "/regenerate", `{"key":"` + old + `"}`, "422 invalid_value key"},
	})
	const chosen = "sk-chosen-by-somebody-0"
	v = ask(t, s, "POST /key/regenerate", fmt.Sprintf(`{"key":%q,"new_key":%q,"grace_period":"1h","rpm_limit":null,"tags":["y"]}`, next, chosen), nil).json(t)
	if v["key"] != chosen || v["rpm_limit"] != nil || v["grace_until"] == nil || v["rotation_count"] != 2.0 || v["key_alias"] != "ci" {
		t.Fatalf("%v", v)
	}
	rotated := keyInfo(t, s, next)
	if rotated["status"] != "rotated" || rotated["expires"] != v["grace_until"] || rotated["key_alias"] != nil {
		t.Errorf("the key in its grace: %v", rotated)
	}
	if list := ask(t, s, "GET /key/list?status=rotated", "", nil).json(t); fmt.Sprint(list["keys"]) != "["+tokenOf(id.HashKey(next))+"]" {
		t.Errorf("rotated: %v", list)
	}
	play(t, s, []step{
		{next, "GET /key/info", "", "200"},
		{chosen, "GET /key/info", "", "200"},
		{"", "POST /key/regenerate", `{"key":"` + next + `"}`, "409 key_rotated key"},
		{"", "POST /key/update", `{"key":"` + next + `","tags":["x"]}`, "409 key_rotated key"},
		{"", "POST /key/block", `{"key":"` + chosen + `"}`, "200"},
		{next, "GET /key/info", "", "401 key_blocked"},
		{"", "POST /key/delete", `{"keys":["` + next + `"]}`, "200"},
	})
	if v := keyInfo(t, s, chosen); v["grace_until"] != nil || v["status"] != "blocked" {
		t.Errorf("after the end of the grace: %v", v)
	}
	n.pass(72 * time.Hour)
	play(t, s, []step{
		{"", "POST /key/regenerate", `{"key":"` + chosen + `"}`, "422 missing_required_parameter duration"},
		{"", "POST /key/regenerate", `{"key":"` + chosen + `","duration":"1d","blocked":false}`, "200"},
	})
}

// TestKeyRights checks that callers that make and change keys grant no more than they have.
func TestKeyRights(t *testing.T) {
	t.Parallel()
	s, _ := atPresent(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /organization/new", `{"organization_id":"zeta","organization_alias":"Zeta"}`, "200"},
		{"", "POST /team/new", `{"team_id":"ours","organization_id":"acme","team_member_permissions":["/key/info","/key/generate","/key/regenerate"],"team_member_key_duration":"30d"}`, "200"},
		{"", "POST /team/new", `{"team_id":"theirs","organization_id":"zeta"}`, "200"},
	})
	ada := account(t, s, `{"user_id":"ada","teams":["ours"],"organizations":["acme"]}`)
	boss := account(t, s, `{"user_id":"boss","organizations":["acme"]}`)
	account(t, s, `{"user_id":"narrow"}`)
	narrow, _ := madeKey(t, s, "", `{"user_id":"narrow","models":["fast"]}`)
	viewer := account(t, s, `{"user_id":"viewer","user_role":"proxy_admin_viewer"}`)
	account(t, s, `{"user_id":"bob"}`)
	play(t, s, []step{
		{"", "PATCH /organization/member_update", `{"organization_id":"acme","user_id":"boss","role":"org_admin"}`, "200"},

		{ada, "POST /key/generate", `{"models":["*"]}`, "403 model_access_denied models"},
		{ada, "POST /key/generate", `{"team_id":"theirs"}`, "403 insufficient_permissions team_id"},
		{ada, "POST /key/generate", `{"team_id":"none"}`, "403 insufficient_permissions team_id"},
		{ada, "POST /key/generate", `{"user_id":"bob"}`, "403 insufficient_permissions key"},
		{ada, "POST /key/generate", `{"organization_id":"zeta"}`, "403 insufficient_permissions organization_id"},
		{ada, "POST /key/service-account/generate", `{"team_id":"ours"}`, "403 insufficient_permissions team_id"},
		{narrow, "POST /key/generate", `{"models":["slow"]}`, "403 model_access_denied models"},
		{narrow, "POST /key/generate", `{}`, "403 model_access_denied models"},
		{narrow, "POST /key/generate", `{"models":["fast"]}`, "200"},
		{viewer, "POST /key/generate", `{}`, "403 insufficient_permissions"},
		{plainKey, "POST /key/generate", `{}`, "403 insufficient_permissions"},
		{boss, "POST /key/generate", `{"team_id":"theirs"}`, "403 insufficient_permissions team_id"},
		{boss, "POST /key/service-account/generate", `{"team_id":"ours"}`, "200"},
	})
	own, v := madeKey(t, s, ada, `{"key_alias":"own"}`)
	if v["user_id"] != "ada" || v["expires"] != nil || v["team_id"] != nil {
		t.Errorf("her own: %v", v)
	}
	teams, v := madeKey(t, s, ada, `{"team_id":"ours"}`)
	if v["user_id"] != "ada" || v["expires"] == nil || v["organization_id"] != "acme" {
		t.Errorf("her own in a team: %v", v)
	}
	if _, v := madeKey(t, s, boss, `{"team_id":"ours"}`); v["user_id"] != nil || v["team_id"] != "ours" {
		t.Errorf("of one who manages the team from without: %v", v)
	}
	_, v = madeKey(t, s, "", `{"key_alias":"admins"}`)
	if v["user_id"] != nil {
		t.Errorf("the admin's: %v", v)
	}
	if list := ask(t, s, "GET /key/list?size=100&return_full_object=true", "", as(ada)).json(t); list["total_count"] != 5.0 { // three of hers, and two of the team
		t.Errorf("she sees %v", list)
	}
	if list := ask(t, s, "GET /key/aliases", "", as(ada)).json(t); fmt.Sprint(list["aliases"]) != "[own]" {
		t.Errorf("she sees the aliases %v", list)
	}
	if a, b := ask(t, s, "GET /key/list", "", as(viewer)).json(t), ask(t, s, "GET /key/list", "", nil).json(t); a["total_count"] != b["total_count"] {
		t.Errorf("the viewer sees %v, the admin %v", a, b)
	}
	play(t, s, []step{
		{ada, "POST /key/update", `{"key":"` + own + `","tags":["x"]}`, "200"},
		{ada, "POST /key/update", `{"key":"` + own + `","user_id":"bob"}`, "403 insufficient_permissions key"},
		{ada, "POST /key/update", `{"key":"` + teams + `","tags":["x"]}`, "403 insufficient_permissions team_id"},
		{ada, "POST /key/regenerate", `{"key":"` + teams + `","tags":["x"]}`, "403 insufficient_permissions team_id"},
		{ada, "POST /key/regenerate", `{"key":"` + teams + `"}`, "200"},
		{boss, "POST /key/update", `{"key":"` + own + `","tags":["x"]}`, "403 insufficient_permissions key"},
		{ada, "POST /key/delete", `{"key_aliases":["own","admins"]}`, "403 insufficient_permissions key_aliases[1]"},
		{ada, "POST /key/delete", `{"key_aliases":["own"]}`, "200"},
	})
	a := ask(t, s, "POST /key/regenerate", `{}`, as(ada)) // the one that asks
	next, _ := a.json(t)["key"].(string)
	play(t, s, []step{
		{ada, "GET /key/info", "", "401 invalid_api_key"},
		{next, "POST /key/delete", `{"keys":["` + next + `"]}`, "200"},
		{next, "GET /key/info", "", "401 invalid_api_key"},
	})
}
