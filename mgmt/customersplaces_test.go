package mgmt

import (
	"fmt"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// customerPlaces is an office with end users of the same id in two organizations and in none,
// and one that only the other organization has.
func customerPlaces(t *testing.T) *office {
	t.Helper()
	o := newOffice(t)
	o.keys["two"] = account(t, o.Server, `{"user_id":"two"}`)
	o.keys["rival"] = account(t, o.Server, `{"user_id":"rival"}`)
	play(t, o.Server, []step{
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":[{"role":"org_admin","user_id":"two"}]}`, "200"},
		{"", "POST /organization/member_add", `{"organization_id":"other","member":[{"role":"org_admin","user_id":"two"},{"role":"org_admin","user_id":"rival"}]}`, "200"},
		{"", "POST /customer/new", `{"user_id":"alice","max_budget":1}`, "200"},
		{"", "POST /customer/new", `{"user_id":"alice","max_budget":2,"organization_id":"acme"}`, "200"},
		{"", "POST /customer/new", `{"user_id":"alice","max_budget":3,"organization_id":"other"}`, "200"},
		{"", "POST /customer/new", `{"user_id":"bob","organization_id":"other"}`, "200"},
		{"", "POST /budget/new", `{"budget_id":"gold","max_budget":5}`, "200"},
	})
	for user, organization := range map[string]string{"alice": "acme", "carl": "acme", "dora": "other"} {
		o.use(t, "mate", "2026-06-21", 1e12, func(e *clusterv1.UsageEvent) {
			e.Version, e.EndUser, e.Organization, e.EndUserOfOrganization = 3, user, organization, true
		})
	}
	return o
}

// An org_admin neither sees nor changes end users of other organizations and of none. An
// organization that is not its own gets the response that an unknown one gets.
func TestEndUsersOfOtherOrganizations(t *testing.T) {
	t.Parallel()
	o := customerPlaces(t)
	boss, two, viewer := o.keys["boss"], o.keys["two"], o.keys["watch"]
	play(t, o.Server, []step{
		{"", "POST /customer/new", `{"user_id":"alice","organization_id":"acme"}`, "409 already_exists user_id"},
		{"", "POST /customer/new", `{"user_id":"alice","organization_id":"none"}`, "404 organization_not_found organization_id"},
		{"", "POST /customer/block", `{"user_ids":["alice"],"organization_id":"none"}`, "404 organization_not_found organization_id"},
		{"", "GET /customer/info?end_user_id=bob", "", "404 customer_not_found end_user_id"},
		{"", "GET /customer/info?end_user_id=alice&organization_id=none", "", "404 customer_not_found end_user_id"},
		{"", "GET /customer/info?end_user_id=alice&organization_id=a%20b", "", "422 invalid_value organization_id"},
		{viewer, "GET /customer/info?end_user_id=bob&organization_id=other", "", "200"},
		{viewer, "POST /customer/update", `{"user_id":"bob","organization_id":"other","alias":"B"}`, "403 insufficient_permissions"},
		{boss, "GET /customer/info?end_user_id=bob", "", "404 customer_not_found end_user_id"},
		{boss, "GET /customer/info?end_user_id=dora", "", "404 customer_not_found end_user_id"},
		{boss, "GET /customer/info?end_user_id=carl", "", "200"},
		{boss, "POST /customer/new", `{"user_id":"eve","budget_id":"gold"}`, "403 insufficient_permissions budget_id"},
		{boss, "POST /customer/update", `{"user_id":"carl","budget_id":"gold"}`, "403 insufficient_permissions budget_id"},
		{boss, "POST /customer/update", `{"user_id":"bob","alias":"B"}`, "404 customer_not_found user_id"},
		{boss, "POST /customer/delete", `{"user_ids":["bob"]}`, "404 customer_not_found user_ids[0]"},
		{boss, "POST /customer/unblock", `{"user_ids":["bob"]}`, "404 customer_not_found user_ids[0]"},
		{two, "GET /customer/info?end_user_id=alice", "", "422 missing_required_parameter organization_id"},
		{two, "GET /customer/list", "", "422 missing_required_parameter organization_id"},
		{two, "POST /customer/block", `{"user_ids":["alice"]}`, "422 missing_required_parameter organization_id"},
		{two, "GET /customer/info?end_user_id=bob&organization_id=other", "", "200"},
		{o.keys["mate"], "GET /customer/info?end_user_id=alice", "", "403 insufficient_permissions"},
		{o.keys["lead/red"], "GET /customer/info?end_user_id=alice&organization_id=acme", "", "403 insufficient_permissions organization_id"},
	})
	for _, call := range []struct{ route, body string }{
		{"GET /customer/info?end_user_id=alice&organization_id=%s", ""},
		{"GET /customer/list?organization_id=%s", ""},
		{"GET /customer/daily/activity?start_date=2026-06-21&end_date=2026-06-21&organization_id=%s", ""},
		{"GET /billing/daily-spend?customer_id=alice&organization_id=%s", ""},
		{"POST /customer/new", `{"user_id":"new","organization_id":"%s"}`},
		{"POST /customer/update", `{"user_id":"alice","organization_id":"%s"}`},
		{"POST /customer/block", `{"user_ids":["alice"],"organization_id":"%s"}`},
		{"POST /customer/unblock", `{"user_ids":["alice"],"organization_id":"%s"}`},
		{"POST /customer/delete", `{"user_ids":["alice"],"organization_id":"%s"}`},
	} {
		with := func(organization string) answer {
			route, body := call.route, call.body
			if body == "" {
				route = fmt.Sprintf(route, organization)
			} else {
				body = fmt.Sprintf(body, organization)
			}
			return asking(t, o.Server, boss, route, body)
		}
		if foreign, unknown := with("other"), with("none"); foreign.status != 403 || foreign.status != unknown.status || foreign.body != unknown.body {
			t.Errorf("%s: a foreign organization %d %s, an unknown one %d %s", call.route, foreign.status, foreign.body, unknown.status, unknown.body)
		}
	}
}

// Changes of an org_admin concern its own end users, whatever the ids of others.
func TestEndUsersOfTheOwnOrganization(t *testing.T) {
	t.Parallel()
	o := customerPlaces(t)
	boss := o.keys["boss"]
	play(t, o.Server, []step{
		{"", "POST /customer/block", `{"user_ids":["bob"],"organization_id":"other"}`, "200"},
		{boss, "POST /customer/update", `{"user_id":"alice","max_budget":7}`, "200"},
		{boss, "POST /customer/update", `{"user_id":"carl","rpm_limit":9}`, "200"},
		{boss, "POST /customer/new", `{"user_id":"bob","organization_id":"acme"}`, "200"},
		{boss, "POST /customer/block", `{"user_ids":["alice","eve"]}`, "200"},
	})
	if v := asking(t, o.Server, boss, "POST /customer/unblock", `{"user_ids":["alice"]}`).json(t); fmt.Sprint(v["blocked_users"], " ", v["organization_id"]) != "[eve] acme" {
		t.Errorf("blocked still: %v", v)
	}
	if v := asking(t, o.Server, boss, "POST /customer/delete", `{"user_ids":["eve","bob"]}`).json(t); v["deleted_customers"] != 2.0 || v["organization_id"] != "acme" {
		t.Errorf("deleted: %v", v)
	}
	for _, list := range []struct{ key, query, want string }{
		{boss, "", "acme:alice:7 acme:carl:<nil>"},
		{boss, "?limit=1", "acme:alice:7"},
		{boss, "?starting_after=alice", "acme:carl:<nil>"},
		{o.keys["rival"], "?organization_id=other", "other:alice:3 other:bob:<nil> other:dora:<nil>"},
		{"", "", "<nil>:alice:1 acme:alice:7 other:alice:3 other:bob:<nil> acme:carl:<nil> other:dora:<nil>"},
		{"", "?organization_id=acme", "acme:alice:7 acme:carl:<nil>"},
		{"", "?starting_after=alice&starting_after_organization_id=acme&limit=2", "other:alice:3 other:bob:<nil>"},
		{"", "?starting_after=alice&limit=1", "acme:alice:7"},
		{"", "?starting_after=bob&starting_after_organization_id=other", "acme:carl:<nil> other:dora:<nil>"},
	} {
		got := ""
		for i, one := range listOf(t, asking(t, o.Server, list.key, "GET /customer/list"+list.query, "")) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprint(down(t, one, "organization_id"), ":", down(t, one, "user_id"), ":", down(t, one, "max_budget"))
		}
		if got != list.want {
			t.Errorf("list%s as %q: %s, want %s", list.query, list.key, got, list.want)
		}
	}
	// The log of the organization has the changes of its own end users.
	changes := asking(t, o.Server, boss, "GET /audit-log?event_type=management.changed&customer_id=carl", "").json(t)
	if rows, _ := changes["data"].([]any); len(rows) != 1 || down(t, rows[0], "org_id") != "acme" {
		t.Errorf("the records of carl: %v", changes)
	}
	if _, ok := o.node.View().Keys.Customer(nil, id.EndUser{ID: "carl"}); ok {
		t.Error("carl is a customer of no organization")
	}
	// Two that an organization's name and a slash make equal are shown apart.
	play(t, o.Server, []step{{"", "POST /customer/new", `{"user_id":"acme/alice"}`, "200"}})
	o.use(t, "mate", "2026-06-21", 5e12, func(e *clusterv1.UsageEvent) { e.EndUser, e.Organization = "acme/alice", "" })
	day := ask(t, o.Server, "GET /customer/daily/activity?start_date=2026-06-21&end_date=2026-06-21", "", nil).json(t)
	results, _ := day["results"].([]any)
	for name, want := range map[string]float64{"acme/alice": 5, "acme/alice_": 1, "acme/carl": 1, "other/dora": 1} {
		if got := down(t, results[0], "breakdown", "entities", name, "metrics", "spend"); got != want {
			t.Errorf("%s spent %v, want %v", name, got, want)
		}
	}
	own := asking(t, o.Server, boss, "GET /customer/daily/activity?start_date=2026-06-21&end_date=2026-06-21", "").json(t)
	results, _ = own["results"].([]any)
	entities, _ := down(t, results[0], "breakdown", "entities").(map[string]any)
	if len(entities) != 2 || down(t, entities["alice"], "metadata", "organization_id") != "acme" || entities["carl"] == nil {
		t.Errorf("the end users of the organization: %v", entities)
	}
}
