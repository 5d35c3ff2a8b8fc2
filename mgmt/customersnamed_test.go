package mgmt

import (
	"fmt"
	"strings"
	"testing"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// customersOf returns the ids in a list of customers, each with its spend.
func customersOf(t *testing.T, a answer) string {
	t.Helper()
	var out []string
	for _, one := range listOf(t, a) {
		out = append(out, fmt.Sprint(down(t, one, "user_id"), "=", down(t, one, "total_spend")))
	}
	return strings.Join(out, " ")
}

// Customers that requests have named exist, with their spend, although nobody created them.
func TestCustomersThatRequestsName(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	use := func(customer string, cost int64) {
		o.use(t, "mate", "2026-06-21", cost, func(e *clusterv1.UsageEvent) { e.EndUser = customer })
	}
	for customer, cost := range map[string]int64{"a": 1e12, "c": 250_000_000_001, "d/ é": 3e12, "free": 0, "": 7e12} {
		use(customer, cost)
	}
	play(t, o.Server, []step{
		{"", "POST /customer/new", `{"user_id":"b","max_budget":1}`, "200"},
		{"", "POST /customer/new", `{"user_id":"c","rpm_limit":5}`, "200"},
		{"", "GET /customer/info?end_user_id=nobody", "", "404 customer_not_found end_user_id"},
		{"", "GET /customer/info?end_user_id=", "", "422 missing_required_parameter end_user_id"},
		{o.keys["boss"], "GET /customer/info?end_user_id=a", "", "404 customer_not_found end_user_id"},
		{o.keys["mate"], "GET /customer/list", "", "403 insufficient_permissions"},
	})
	a := ask(t, o.Server, "GET /customer/info?end_user_id=a", "", nil)
	if v := a.json(t); a.status != 200 || v["user_id"] != "a" || v["spend"] != 1.0 || v["total_spend"] != 1.0 || v["blocked"] != false || v["created_at"] != nil || v["revision"] != 0.0 {
		t.Errorf("one that is named: %d %s", a.status, a.body)
	}
	if v := ask(t, o.Server, "GET /end_user/info?end_user_id=d%2F%20%C3%A9", "", nil).json(t); v["total_spend"] != 3.0 {
		t.Errorf("one with a long name: %v", v)
	}
	for query, want := range map[string]string{
		"":                           "a=1 b=0 c=0.250000000001 d/ é=3 free=0",
		"?limit=2":                   "a=1 b=0",
		"?limit=2&starting_after=b":  "c=0.250000000001 d/ é=3",
		"?limit=1&starting_after=a":  "b=0",
		"?limit=2&starting_after=d":  "d/ é=3 free=0",
		"?starting_after=free":       "",
		"?starting_after=bb&limit=1": "c=0.250000000001",
	} {
		if got := customersOf(t, ask(t, o.Server, "GET /customer/list"+query, "", nil)); got != want {
			t.Errorf("list%s: %q, want %q", query, got, want)
		}
	}
	activity := ask(t, o.Server, "GET /customer/daily/activity?start_date=2026-06-21&end_date=2026-06-21&customer_id=a", "", nil).json(t)
	if got := down(t, activity, "metadata", "total_spend"); got != 1.0 {
		t.Errorf("its activity: %v", got)
	}
	play(t, o.Server, []step{
		{"", "GET /customer/list?limit=0", "", "422 invalid_value limit"},
		{"", "GET /customer/list?limit=1001", "", "422 invalid_value limit"},
		{"", "POST /customer/unblock", `{"user_ids":["a"]}`, "200"},
		{"", "POST /customer/delete", `{"user_ids":["a"]}`, "404 customer_not_found user_ids[0]"},
		{"", "POST /customer/update", `{"user_id":"a","if_revision":1,"alias":"A"}`, "404 customer_not_found user_id"},
		{"", "POST /customer/update", `{"user_id":"a","alias":"A","max_budget":2}`, "200"},
		{"", "POST /customer/new", `{"user_id":"free"}`, "200"},
		{"", "POST /customer/delete", `{"user_ids":["b","free","c"]}`, "200"},
	})
	if v := ask(t, o.Server, "GET /customer/info?end_user_id=a", "", nil).json(t); v["alias"] != "A" || v["max_budget"] != 2.0 || v["spend"] != 1.0 || v["created_at"] == nil {
		t.Errorf("after its update: %v", v)
	}
	// What is deleted leaves what it has spent.
	if got := customersOf(t, ask(t, o.Server, "GET /customer/list", "", nil)); got != "a=1 c=0.250000000001 d/ é=3 free=0" {
		t.Errorf("after deletions: %q", got)
	}
}
