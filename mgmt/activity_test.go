package mgmt

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// office is a node that has been used: acme has the team red, of which lead is an
// admin and mate a member, and boss is org_admin of acme.
type office struct {
	*Server
	node *fakeNode
	keys map[string]string // of users, and of the team
}

func newOffice(t *testing.T) *office {
	t.Helper()
	s, n := newFake(t)
	o := &office{Server: s, node: n, keys: map[string]string{}}
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /organization/new", `{"organization_id":"other","organization_alias":"Other"}`, "200"},
	})
	for _, user := range []string{"boss", "lead", "mate", "alone", "watch"} {
		role := "internal_user"
		if user == "watch" {
			role = "proxy_admin_viewer"
		}
		o.keys[user] = account(t, s, `{"user_id":"`+user+`","user_role":"`+role+`"}`)
	}
	play(t, s, []step{
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":[{"role":"org_admin","user_id":"boss"},{"role":"internal_user","user_id":"lead"},{"role":"internal_user","user_id":"mate"}]}`, "200"},
		{"", "POST /team/new", `{"team_id":"red","team_alias":"Red","organization_id":"acme","members_with_roles":[{"user_id":"lead","role":"admin"},{"user_id":"mate","role":"user"}]}`, "200"},
	})
	for _, user := range []string{"lead", "mate"} {
		key, _ := ask(t, s, "POST /key/generate", `{"team_id":"red","user_id":"`+user+`","key_alias":"`+user+` in red"}`, nil).json(t)["key"].(string)
		o.keys[user+"/red"] = key
	}
	return o
}

// use posts an event of a key of the team red.
func (o *office) use(t *testing.T, user, day string, cost int64, change func(e *clusterv1.UsageEvent)) {
	t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	e := used(at.Add(10*time.Hour), cost)
	h := id.HashKey(o.keys[user+"/red"])
	e.KeyHash, e.KeyAlias, e.Team, e.User, e.Organization, e.EndUser = h[:], user+" in red", "red", user, "acme", "customer-17"
	if change != nil {
		change(e)
	}
	o.node.post(t, e)
}

// token is the hash of a key of the office, as the API shows it.
func (o *office) token(name string) string {
	h := id.HashKey(o.keys[name])
	return hex.EncodeToString(h[:])
}

// down goes down an object by names.
func down(t *testing.T, v any, names ...string) any {
	t.Helper()
	for _, name := range names {
		object, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("there is no %v in %v", names, v)
		}
		v = object[name]
	}
	return v
}

// Each figure is the exact sum of the postings, in all of its places.
func TestDailyActivityIsExact(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.use(t, "lead", "2026-06-28", 1, nil)                                          // a picodollar
	o.use(t, "lead", "2026-06-29", 100_000_000_000, nil)                            // 0.1
	o.use(t, "mate", "2026-06-29", 200_000_000_000, func(e *clusterv1.UsageEvent) { // 0.2
		e.Model, e.Provider, e.Outcome = "claude", "anthropic", clusterv1.Outcome_OUTCOME_FAILED
	})
	o.use(t, "mate", "2026-06-29", 0, func(e *clusterv1.UsageEvent) { e.Final, e.Outcome = false, clusterv1.Outcome_OUTCOME_FAILED })
	o.use(t, "mate", "2026-07-01", 5, nil) // not asked about
	metrics := func(spend, tokens, ok, failed float64) map[string]any {
		return map[string]any{
			"spend": spend, "prompt_tokens": 100 * tokens, "completion_tokens": 10 * tokens, "cache_read_input_tokens": 40 * tokens,
			"cache_creation_input_tokens": 0.0, "total_tokens": 110 * tokens, "successful_requests": ok, "failed_requests": failed, "api_requests": ok + failed,
		}
	}
	for _, c := range []struct{ path, entity, meta string }{
		{"/team/daily/activity?team_ids=red,blue", "red", "map[team_alias:Red]"},
		{"/team/daily/activity?team_id=red", "red", "map[team_alias:Red]"},
		{"/organization/daily/activity?", "acme", "map[organization_alias:Acme]"},
		{"/customer/daily/activity?customer_id=customer-17", "customer-17", "map[]"},
		{"/end_user/daily/activity?end_user_ids=customer-17", "customer-17", "map[]"},
	} {
		a := ask(t, o.Server, "GET "+c.path+"&start_date=2026-06-01&end_date=2026-06-30", "", nil)
		v := a.json(t)
		results, _ := v["results"].([]any)
		if a.status != http.StatusOK || len(results) != 2 || down(t, results[0], "date") != "2026-06-29" || down(t, results[1], "date") != "2026-06-28" {
			t.Fatalf("%s: %d %s", c.path, a.status, a.body)
		}
		day := results[0]
		for _, part := range []struct {
			want  map[string]any
			names []string
		}{
			{metrics(0.3, 3, 1, 1), []string{"metrics"}},
			{metrics(0.1, 2, 1, 0), []string{"breakdown", "models", "gpt-4o", "metrics"}},
			{metrics(0.2, 1, 0, 1), []string{"breakdown", "models", "claude", "metrics"}},
			{metrics(0.3, 3, 1, 1), []string{"breakdown", "model_groups", "fast", "metrics"}},
			{metrics(0.2, 1, 0, 1), []string{"breakdown", "providers", "anthropic", "metrics"}},
			{metrics(0.3, 3, 1, 1), []string{"breakdown", "endpoints", "/v1/chat/completions", "metrics"}},
			{metrics(0.2, 2, 0, 1), []string{"breakdown", "api_keys", o.token("mate/red"), "metrics"}},
			{map[string]any{"key_alias": "mate in red", "team_id": "red"}, []string{"breakdown", "api_keys", o.token("mate/red"), "metadata"}},
			{metrics(0.3, 3, 1, 1), []string{"breakdown", "entities", c.entity, "metrics"}},
			{metrics(0.1, 1, 1, 0), []string{"breakdown", "entities", c.entity, "api_key_breakdown", o.token("lead/red"), "metrics"}},
			{map[string]any{}, []string{"breakdown", "mcp_servers"}},
		} {
			if diff := cmp.Diff(any(part.want), down(t, day, part.names...)); diff != "" {
				t.Errorf("%s: %v (- want):\n%s", c.path, part.names, diff)
			}
		}
		if got := fmt.Sprint(down(t, day, "breakdown", "entities", c.entity, "metadata")); !strings.HasPrefix(got, c.meta[:4]) || c.meta != "map[]" && got != c.meta {
			t.Errorf("%s: %s, want %s", c.path, got, c.meta)
		}
		want := map[string]any{
			"total_spend": 0.300000000001, "total_prompt_tokens": 400.0, "total_completion_tokens": 40.0, "total_tokens": 440.0,
			"total_api_requests": 3.0, "total_successful_requests": 2.0, "total_failed_requests": 1.0,
			"total_cache_read_input_tokens": 160.0, "total_cache_creation_input_tokens": 0.0, "page": 1.0, "total_pages": 1.0, "has_more": false,
		}
		if diff := cmp.Diff(any(want), v["metadata"]); diff != "" {
			t.Errorf("%s: metadata (- want):\n%s", c.path, diff)
		}
	}
	second := ask(t, o.Server, "GET /team/daily/activity?start_date=2026-06-01&end_date=2026-06-30&page=2&page_size=1", "", nil).json(t)
	results, _ := second["results"].([]any)
	if len(results) != 1 || down(t, results[0], "date") != "2026-06-28" || down(t, second, "metadata", "total_pages") != 2.0 || down(t, second, "metadata", "has_more") != false || down(t, second, "metadata", "total_spend") != 0.300000000001 {
		t.Errorf("page 2: %v", second)
	}
}

// Callers see their own usage, and not that of others.
func TestActivityIsForItsOwner(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.use(t, "lead", "2026-06-29", 1_000_000_000_000, nil)
	o.use(t, "mate", "2026-06-29", 2_000_000_000_000, nil)
	for _, c := range []struct{ who, path, want string }{
		{"", "/team/daily/activity", "3"},
		{"watch", "/team/daily/activity", "3"},
		{"boss", "/team/daily/activity", "3"},
		{"lead", "/team/daily/activity", "3"},
		{"mate", "/team/daily/activity", "2"},
		{"mate", "/team/daily/activity?team_id=red", "2"},
		{"alone", "/team/daily/activity", "0"},
		{"alone", "/team/daily/activity?team_id=red", "403"},
		{"mate", "/team/daily/activity?team_ids=red,blue", "403"},
		{"", "/team/daily/activity?exclude_team_ids=red", "0"},
		{"", "/team/daily/activity?model=gpt-4o", "3"},
		{"", "/team/daily/activity?model=none", "0"},
		{"", "/team/daily/activity?api_key=sha256:" + o.token("mate/red"), "2"},
		{"", "/user/daily/activity", "3"},
		{"lead", "/user/daily/activity", "1"},
		{"mate", "/user/daily/activity?user_id=mate", "2"},
		{"mate", "/user/daily/activity?user_id=lead", "403"},
		{"boss", "/user/daily/activity?user_id=lead", "403"},
		{"watch", "/user/daily/activity?user_id=lead", "1"},
		{"boss", "/organization/daily/activity", "3"},
		{"boss", "/organization/daily/activity?organization_id=acme", "3"},
		{"boss", "/organization/daily/activity?organization_ids=acme,other", "403"},
		{"lead", "/organization/daily/activity?organization_id=acme", "403"},
		{"lead", "/organization/daily/activity", "0"},
		{"", "/organization/daily/activity?organization_id=other", "0"},
		{"watch", "/customer/daily/activity", "3"},
		{"boss", "/customer/daily/activity", "0"}, // events of older versions are of no organization's end user
		{"boss", "/customer/daily/activity?organization_id=other", "403"},
		{"boss", "/customer/daily/activity?organization_id=none", "403"},
		{"lead", "/customer/daily/activity", "403"},
		{"", "/customer/daily/activity?organization_id=acme", "0"},
	} {
		path := c.path + "?"
		if strings.Contains(c.path, "?") {
			path = c.path + "&"
		}
		a := asking(t, o.Server, o.keys[c.who], "GET "+path+"start_date=2026-06-29&end_date=2026-06-29", "")
		got := fmt.Sprint(a.status)
		if a.status == http.StatusOK {
			got = fmt.Sprint(down(t, a.json(t), "metadata", "total_spend"))
		}
		if got != c.want {
			t.Errorf("%s as %q: %s, want %s: %s", c.path, c.who, got, c.want, a.body)
		}
	}
}

func TestActivityThatIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	for query, want := range map[string]string{
		"":                      "missing_required_parameter start_date",
		"start_date=2026-06-01": "missing_required_parameter end_date",
		"start_date=2026-06-31&end_date=2026-07-01":                "invalid_value start_date",
		"start_date=june&end_date=2026-07-01":                      "invalid_value start_date",
		"start_date=2026-07-02&end_date=2026-07-01":                "invalid_value end_date",
		"start_date=2025-07-01&end_date=2026-07-02":                "invalid_value start_date",
		"start_date=2026-06-01&end_date=2026-06-02&timezone=120":   "invalid_value timezone",
		"start_date=2026-06-01&end_date=2026-06-02&page=0":         "invalid_value page",
		"start_date=2026-06-01&end_date=2026-06-02&page_size=1001": "invalid_value page_size",
		"start_date=2026-06-01&end_date=2026-06-02&api_key=sk-x":   "invalid_value api_key",
		"start_date=2026-06-01&end_date=2026-06-02&tags=x":         "unknown_parameter tags",
	} {
		for _, path := range []string{"/team/daily/activity", "/user/daily/activity", "/customer/daily/activity", "/organization/daily/activity"} {
			if a := ask(t, s, "GET "+path+"?"+query, "", nil); a.status != http.StatusUnprocessableEntity || a.refusal(t) != want {
				t.Errorf("%s?%s: %d %s, want %s", path, query, a.status, a.body, want)
			}
		}
	}
	for _, query := range []string{"timezone=0", "timezone=UTC", "page=2147483647&page_size=1000"} {
		if a := ask(t, s, "GET /team/daily/activity?start_date=2026-06-01&end_date=2026-06-02&"+query, "", nil); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
}

// Days without usage are shown with 0, and breakdowns add up.
func TestDailySpend(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.use(t, "lead", "2026-06-27", 100_000_000_000, nil)
	o.use(t, "mate", "2026-06-29", 200_000_000_000, func(e *clusterv1.UsageEvent) { e.Model, e.Provider = "claude", "anthropic" })
	o.use(t, "mate", "2026-06-29", 300_000_000_000, nil)
	a := ask(t, o.Server, "GET /billing/daily-spend?start_date=2026-06-27&end_date=2026-06-29&group_by=model", "", nil)
	v := a.json(t)
	data, _ := v["data"].([]any)
	if a.status != http.StatusOK || v["object"] != "list" || v["currency"] != "USD" || v["total_spend"] != 0.6 || len(data) != 3 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var got []string
	for _, one := range data {
		d, _ := one.(map[string]any)
		line := fmt.Sprint(d["date"], " ", d["spend"], " ", d["billed_spend"], " ", d["byok_spend"], " ", d["requests"], " ", d["tokens_input"], " ", d["cached_tokens"])
		shares, _ := d["breakdown"].([]any)
		for _, share := range shares {
			line += fmt.Sprint(" ", down(t, share, "key"), "=", down(t, share, "spend"))
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"2026-06-27 0.1 0.1 0 1 100 40 gpt-4o=0.1", "2026-06-28 0 0 0 0 0 0", "2026-06-29 0.5 0.5 0 2 200 80 gpt-4o=0.3 claude=0.2"}, got); diff != "" {
		t.Errorf("(- want):\n%s", diff)
	}
	for _, c := range []struct{ who, query, want string }{
		{"", "", "30 0"}, // the last 30 days, in which this is not
		{"", "start_date=2026-06-27&end_date=2026-06-29", "3 0.6"},
		{"watch", "start_date=2026-06-29&end_date=2026-06-29", "1 0.5"},
		{"boss", "start_date=2026-06-27&end_date=2026-06-29", "3 0.6"},
		{"boss", "start_date=2026-06-27&end_date=2026-06-29&team_id=red", "3 0.6"},
		{"boss", "organization_id=other", "403 insufficient_permissions organization_id"},
		{"boss", "user_id=lead", "403 insufficient_permissions organization_id"},
		{"lead", "", "403 insufficient_permissions"},
		{"", "start_date=2026-06-27&end_date=2026-06-29&user_id=lead", "3 0.1"},
		{"", "start_date=2026-06-27&end_date=2026-06-29&customer_id=customer-17&provider=anthropic", "3 0.2"},
		{"", "start_date=2026-06-27&end_date=2026-06-29&model=fast", "3 0.6"},
		{"", "team_id=red&user_id=lead", "422 invalid_value user_id"},
		{"", "group_by=tag", "422 invalid_value group_by"},
		{"", "start_date=2025-01-01&end_date=2026-06-29", "422 invalid_value start_date"},
		{"", "timezone=60", "422 invalid_value timezone"},
	} {
		a := asking(t, o.Server, o.keys[c.who], "GET /billing/daily-spend?"+c.query, "")
		got := fmt.Sprint(a.status)
		if a.status == http.StatusOK {
			data, _ := a.json(t)["data"].([]any)
			got = fmt.Sprint(len(data), " ", a.json(t)["total_spend"])
		} else {
			got += " " + a.refusal(t)
		}
		if got != c.want {
			t.Errorf("%s as %q: %s, want %s", c.query, c.who, got, c.want)
		}
	}
}
