package mgmt

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/period"
)

// listOf decodes a response that is a list.
func listOf(t *testing.T, a answer) []any {
	t.Helper()
	var list []any
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || a.status != 200 {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return list
}

func TestCustomerRoutes(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	plain := account(t, s, `{"user_id":"ada"}`)
	viewer := account(t, s, `{"user_id":"vic","user_role":"proxy_admin_viewer"}`)
	a := ask(t, s, "POST /customer/new", `{"user_id":"a b/c","alias":"A","models":["fast"],"max_budget":12.345}`, nil)
	want := map[string]any{
		"user_id": "a b/c", "organization_id": nil, "alias": "A", "blocked": false, "models": []any{"fast"}, "max_budget": 12.345, "soft_budget": nil,
		"budget_duration": nil, "max_parallel_requests": nil, "tpm_limit": nil, "rpm_limit": nil, "tpd_limit": nil,
		"spend": 0.0, "total_spend": 0.0, "budget_reset_at": nil,
		"model_max_budget": map[string]any{}, "budget_id": nil, "created_at": "2026-06-29T10:00:00.123456Z", "created_by": "master",
		"updated_at": "2026-06-29T10:00:00.123456Z", "updated_by": "master", "revision": 44.0,
	}
	if diff := cmp.Diff(want, a.json(t)); a.status != 200 || a.header.Get("ETag") != `"44"` || diff != "" {
		t.Errorf("status %d, ETag %s (- want):\n%s", a.status, a.header.Get("ETag"), diff)
	}
	play(t, s, []step{
		{"", "POST /end_user/new", `{"user_id":"a b/c"}`, "409 already_exists user_id"},
		{"", "POST /customer/new", `{"user_id":"x","budget_id":"none"}`, "404 budget_not_found budget_id"},
		{"", "POST /customer/new", `{}`, "422 missing_required_parameter user_id"},
		{"", "GET /customer/info?end_user_id=a%20b%2Fc", "", "200"},
		{"", "GET /end_user/info?end_user_id=none", "", "404 customer_not_found end_user_id"},
		{"", "POST /customer/update", `{"user_id":"none","alias":"x"}`, "404 customer_not_found user_id"},
		{"", "POST /customer/update", `{"user_id":"a b/c","if_revision":43}`, "409 revision_conflict"},
		{"", "PATCH /customer/update", `{"user_id":"a b/c","alias":null,"models":[],"max_budget":null,"rpm_limit":1}`, "200"},
		{"", "POST /customer/block", `{"user_ids":["a b/c","late","late"]}`, "200"},
		{"", "POST /customer/unblock", `{"user_ids":["late","none"]}`, "404 customer_not_found user_ids[1]"},
		{"", "POST /customer/delete", `{"user_ids":["late","none"]}`, "404 customer_not_found user_ids[1]"},
		{viewer, "GET /customer/list", "", "200"},
		{viewer, "POST /customer/block", `{"user_ids":["late"]}`, "403 insufficient_permissions"},
		{plain, "GET /customer/list", "", "403 insufficient_permissions"},
		{plain, "POST /customer/new", `{"user_id":"mine"}`, "403 insufficient_permissions"},
	})
	var got []string
	for _, one := range listOf(t, ask(t, s, "GET /customer/list", "", nil)) {
		c, _ := one.(map[string]any)
		got = append(got, fmt.Sprint(c["user_id"], c["alias"], c["models"], c["max_budget"], c["rpm_limit"], c["blocked"]))
	}
	if diff := cmp.Diff([]string{"a b/c<nil> [] <nil> 1 true", "late<nil> [] <nil> <nil> true"}, got); diff != "" {
		t.Errorf("customers (- want):\n%s", diff)
	}
	if v := ask(t, s, "POST /customer/unblock", `{"user_ids":["late"]}`, nil).json(t); fmt.Sprint(v["blocked_users"]) != "[a b/c]" {
		t.Errorf("blocked still: %v", v)
	}
	if v := ask(t, s, "POST /end_user/delete", `{"user_ids":["late","a b/c","late"]}`, nil).json(t); v["deleted_customers"] != 2.0 || v["message"] != "2 customers deleted." {
		t.Errorf("deleted: %v", v)
	}
}

func TestBudgetRoutes(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	plain := account(t, s, `{"user_id":"ada"}`)
	before, _ := period.NextReset("monthly", time.Now())
	a := ask(t, s, "POST /budget/new", `{"budget_id":"gold","max_budget":0.1,"soft_budget":0.05,"budget_duration":"monthly","model_max_budget":{"fast":{"max_budget":0.01,"rpm_limit":2}}}`, nil)
	want := map[string]any{
		"budget_id": "gold", "max_budget": 0.1, "soft_budget": 0.05, "budget_duration": "monthly", "max_parallel_requests": nil,
		"tpm_limit": nil, "rpm_limit": nil, "tpd_limit": nil,
		"created_at": "2026-06-29T10:00:00.123456Z", "created_by": "master",
		"updated_at": "2026-06-29T10:00:00.123456Z", "updated_by": "master", "revision": 43.0,
	}
	got := a.json(t)
	models := fmt.Sprint(got["model_max_budget"])
	delete(got, "model_max_budget")
	after, ok := period.NextReset("monthly", time.Now()) // another one if a month has ended meanwhile
	if at := got["budget_reset_at"]; !ok || at != before.Format(time.RFC3339) && at != after.Format(time.RFC3339) {
		t.Errorf("budget_reset_at is %v, want %v", at, after)
	}
	delete(got, "budget_reset_at")
	if diff := cmp.Diff(want, got); a.status != 200 || diff != "" {
		t.Errorf("status %d (- want):\n%s", a.status, diff)
	}
	if models != "map[fast:map[max_budget:0.01 rpm_limit:2]]" {
		t.Errorf("model_max_budget is %s", models)
	}
	play(t, s, []step{
		{"", "POST /budget/new", `{"budget_id":"gold"}`, "409 already_exists budget_id"},
		{"", "POST /budget/new", `{"max_budget":1,"soft_budget":2}`, "422 invalid_value soft_budget"},
		{"", "POST /budget/new", `{}`, "200"},
		{"", "POST /budget/info", `{"budgets":["gold","none"]}`, "404 budget_not_found budgets[1]"},
		{"", "POST /budget/info", `{"budgets":[]}`, "422 invalid_value budgets"},
		{"", "POST /budget/update", `{"budget_id":"none","rpm_limit":1}`, "404 budget_not_found budget_id"},
		{"", "POST /budget/update", `{"budget_id":"gold","max_budget":0.05}`, "422 invalid_value soft_budget"},
		{"", "POST /budget/update", `{"budget_id":"gold","if_revision":1,"rpm_limit":1}`, "409 revision_conflict"},
		{"", "POST /budget/update", `{"budget_id":"gold","soft_budget":null,"model_max_budget":{},"rpm_limit":9}`, "200"},
		{"", "GET /budget/settings?budget_id=none", "", "404 budget_not_found budget_id"},
		{"", "POST /customer/new", `{"user_id":"c","budget_id":"gold"}`, "200"},
		{"", "POST /budget/delete", `{"id":"none"}`, "404 budget_not_found id"},
		{"", "DELETE /budget/delete", `{"id":"gold"}`, "409 budget_in_use id"},
		{plain, "GET /budget/list", "", "403 insufficient_permissions"},
		{plain, "POST /budget/new", `{}`, "403 insufficient_permissions"},
	})
	settings := map[any]string{}
	for _, one := range listOf(t, ask(t, s, "GET /budget/settings?budget_id=gold", "", nil)) {
		f, _ := one.(map[string]any)
		settings[f["field_name"]] = fmt.Sprint(f["field_type"], " ", f["field_value"], " ", f["stored_in_db"])
		if f["field_description"] == "" {
			t.Errorf("%v says nothing", f["field_name"])
		}
	}
	if diff := cmp.Diff(map[any]string{
		"max_budget": "Float 0.1 true", "soft_budget": "Float <nil> false", "budget_duration": "String monthly true",
		"max_parallel_requests": "Integer <nil> false", "tpm_limit": "Integer <nil> false", "rpm_limit": "Integer 9 true",
		"tpd_limit": "Integer <nil> false", "model_max_budget": "Dictionary <nil> false",
	}, settings); diff != "" {
		t.Errorf("settings (- want):\n%s", diff)
	}
	play(t, s, []step{
		{"", "POST /customer/update", `{"user_id":"c","budget_id":null}`, "200"},
		{"", "DELETE /budget/delete", `{"id":"gold"}`, "200"},
	})
	if list := listOf(t, ask(t, s, "GET /budget/list", "", nil)); len(list) != 1 {
		t.Errorf("budgets left: %v", list)
	}
}
