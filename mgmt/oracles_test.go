package mgmt

import (
	"net/http"
	"strings"
	"testing"
)

// same plays a request once for each name, and holds that every response is the same
// 403: names of others get what unknown ones get.
func same(t *testing.T, s *Server, who, request string, names ...string) {
	t.Helper()
	first := answer{}
	for i, name := range names {
		target, body := cut(strings.ReplaceAll(request, "%s", name))
		a := asking(t, s, who, target, body)
		if i == 0 {
			first = a
		}
		if a.status != http.StatusForbidden || a.body != first.body {
			t.Errorf("%s with %s: %d %s\nwith %s: %s", request, name, a.status, a.body, names[0], first.body)
		}
	}
}

// Budgets, teams and organizations of others get the response that unknown ones get.
func TestNamesOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	play(t, s, []step{
		{"", "POST /budget/new", `{"budget_id":"gold","max_budget":1}`, "200"},
		{"", "POST /budget/new", `{"budget_id":"silver"}`, "200"},
		{"", "POST /user/update", `{"user_id":"lead","budget_id":"silver"}`, "200"},
		{"", "POST /team/update", `{"team_id":"green","models":["fast"]}`, "200"},
		{"", "POST /organization/update", `{"organization_id":"zeta","models":["fast"]}`, "200"},
	})
	lead, boss, alone := keys["lead"], keys["boss"], keys["alone"]
	same(t, s, lead, `POST /key/generate {"budget_id":"%s"}`, "nothing", "gold")
	same(t, s, lead, `POST /key/update {"key":"`+lead+`","budget_id":"%s"}`, "nothing", "gold")
	same(t, s, boss, `POST /team/new {"organization_id":"acme","budget_id":"%s"}`, "nothing", "gold", "silver")
	same(t, s, boss, `POST /team/update {"team_id":"red","budget_id":"%s"}`, "nothing", "gold")
	same(t, s, boss, `POST /user/new {"organizations":["acme"],"budget_id":"%s"}`, "nothing", "gold")
	play(t, s, []step{
		{lead, "POST /key/generate", `{"budget_id":"silver"}`, "200"},
		{lead, "POST /key/service-account/generate", `{"team_id":"red","budget_id":"silver"}`, "200"},
		{"", "POST /key/generate", `{"budget_id":"gold"}`, "200"},
	})
	for _, models := range []string{``, `,"models":["slow"]`} {
		same(t, s, alone, `POST /key/generate {"team_id":"%s"`+models+`}`, "nothing", "green")
		same(t, s, alone, `POST /key/generate {"organization_id":"%s"`+models+`}`, "nothing", "zeta")
		same(t, s, lead, `POST /key/generate {"team_id":"%s"`+models+`}`, "nothing", "green")
		same(t, s, lead, `POST /key/generate {"organization_id":"%s"`+models+`}`, "nothing", "zeta")
		same(t, s, lead, `POST /team/new {"organization_id":"%s"`+models+`}`, "nothing", "zeta")
		same(t, s, keys["zoe"], `POST /team/update {"team_id":"green","organization_id":"%s"`+models+`}`, "nothing", "acme")
		same(t, s, alone, `POST /key/update {"key":"`+alone+`","team_id":"%s"`+models+`}`, "nothing", "green")
	}
}
