package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// readBy is a GET request of the management API with a key: its status and its answer.
func (g *gatewayProcess) readBy(key, path string) (int, tree) {
	g.t.Helper()
	a := g.get(path, with("Authorization", "Bearer "+key))
	out := tree{}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		g.t.Fatalf("%s: %d %s", path, a.status, a.body)
	}
	return a.status, out
}

// exhausts sends requests of a key for alice until her budget denies one.
func (g *gatewayProcess) exhausts(key string) {
	g.t.Helper()
	for range 100 {
		switch got := g.asks(key, "chat", alice); got {
		case "200":
		case "429 budget_exceeded":
			return
		default:
			g.t.Fatalf("alice gets %s", got)
		}
	}
	g.t.Fatal("100 requests did not exhaust the budget of alice")
}

const alice = `,"max_tokens":5,"user":"alice"`

// Two organizations and keys without one name an end user of the same id. Each has a
// record, a budget and an account of its own.
func TestEndUsersBelongToAnOrganization(t *testing.T) {
	t.Parallel()
	since := time.Now()
	up := newUpstream(t)
	g := startGateway(t, models(up, "chat=openai/fake-gpt")+"router_settings: {num_retries: 0}\n")
	for _, o := range []string{"acme", "initech"} {
		g.changes("/organization/new", tree{"organization_id": o, "organization_alias": o})
	}
	g.changes("/user/new", tree{"user_id": "boss", "user_role": "internal_user", "auto_create_key": false})
	g.changes("/organization/member_add", tree{"organization_id": "acme", "member": tree{"user_id": "boss", "role": "org_admin"}})
	g.changes("/team/new", tree{"team_id": "red", "organization_id": "acme"})
	boss := g.keyOf("", tree{"user_id": "boss"})
	ours, team := g.keyOf("", tree{"organization_id": "acme"}), g.keyOf("", tree{"team_id": "red"})
	theirs, free := g.keyOf("", tree{"organization_id": "initech"}), g.keyOf("", tree{})
	budget := tree{"user_id": "alice", "max_budget": 0.0004}
	if status, made := g.by(boss, "/customer/new", budget); status != http.StatusOK || made["organization_id"] != "acme" {
		t.Fatalf("an org_admin makes a customer: %d %v", status, made)
	}
	g.changes("/customer/new", budget)
	budget["organization_id"] = "initech"
	g.changes("/customer/new", budget)

	g.exhausts(ours)
	for name, step := range map[string]struct{ key, want string }{
		"a key of a team of the organization": {team, "429 budget_exceeded"},
		"a key of another organization":       {theirs, "200"},
		"a key without an organization":       {free, "200"},
		"the master key":                      {adminKey, "200"},
	} {
		if got := g.asks(step.key, "chat", alice); got != step.want {
			t.Errorf("alice of %s: %s, want %s", name, got, step.want)
		}
	}
	g.waitPosted()
	spent := map[string]int64{}
	for _, o := range []string{"acme", "initech", ""} {
		info := g.sees("/customer/info?end_user_id=alice&organization_id=" + o)
		if spent[o] = pico(t, info["spend"]); fmt.Sprint(info["organization_id"]) != shown(o) || pico(t, info["max_budget"]) != 400_000_000 {
			t.Errorf("alice of %q is shown as %v", o, info)
		}
	}
	// The two requests without an organization, and the one of initech, cost the same each.
	if one := spent["initech"]; one == 0 || spent[""] != 2*one || spent["acme"] <= one || spent["acme"]%one != 0 {
		t.Errorf("spent: %v", spent)
	}
	g.reportsOf(boss, spent, today(since))
	exceeded := g.records("budget.exceeded")
	if len(exceeded) != 1 || exceeded[0]["customer_id"] != "alice" || exceeded[0]["org_id"] != "acme" {
		t.Errorf("exceeded budgets: %v", exceeded)
	}

	// A block and the end of an organization concern its own end users only.
	if status, out := g.by(boss, "/customer/block", tree{"user_ids": []string{"alice"}}); status != http.StatusOK {
		t.Fatalf("block: %d %v", status, out)
	}
	if a, b, c := g.asks(team, "chat", alice), g.asks(theirs, "chat", alice), g.asks(free, "chat", alice); a != "403 customer_blocked" || b != "200" || c != "200" {
		t.Errorf("after acme has blocked its alice: %s, %s and %s", a, b, c)
	}
	if a := g.do(http.MethodPost, "/organization/delete", strings.NewReader(`{"organization_ids":["acme"]}`), with("Authorization", "Bearer "+adminKey)); a.status != http.StatusOK {
		t.Fatalf("delete: %d %s", a.status, a.body)
	}
	g.changes("/organization/new", tree{"organization_id": "acme", "organization_alias": "acme"})
	if info := g.sees("/customer/info?end_user_id=alice&organization_id=acme"); info["created_at"] != nil || info["blocked"] != false || pico(t, info["total_spend"]) != spent["acme"] {
		t.Errorf("the end user of an organization that was deleted: %v", info)
	}
	if info := g.sees("/customer/info?end_user_id=alice"); info["created_at"] == nil {
		t.Errorf("the end user of no organization: %v", info)
	}
}

// shown is how an organization is shown in a record.
func shown(o string) string {
	if o == "" {
		return "<nil>"
	}
	return o
}

// reportsOf holds reports against what the end users of the organizations have spent.
func (g *gatewayProcess) reportsOf(boss string, spent map[string]int64, between string) {
	g.t.Helper()
	sum := spent["acme"] + spent["initech"] + spent[""]
	for _, r := range []struct {
		key, path string
		at        []string
		want      int64
	}{
		{adminKey, "/customer/daily/activity?" + between, []string{"metadata", "total_spend"}, sum},
		{adminKey, "/customer/daily/activity?customer_id=alice&" + between, []string{"metadata", "total_spend"}, sum},
		{adminKey, "/customer/daily/activity?organization_id=initech&" + between, []string{"metadata", "total_spend"}, spent["initech"]},
		{adminKey, "/billing/daily-spend?customer_id=alice&" + between, []string{"total_spend"}, sum},
		{adminKey, "/billing/daily-spend?customer_id=alice&organization_id=initech&" + between, []string{"total_spend"}, spent["initech"]},
		{boss, "/customer/daily/activity?" + between, []string{"metadata", "total_spend"}, spent["acme"]},
		{boss, "/customer/daily/activity?end_user_id=alice&organization_id=acme&" + between, []string{"metadata", "total_spend"}, spent["acme"]},
		{boss, "/billing/daily-spend?customer_id=alice&" + between, []string{"total_spend"}, spent["acme"]},
		{boss, "/customer/info?end_user_id=alice", []string{"spend"}, spent["acme"]},
	} {
		status, out := g.readBy(r.key, r.path)
		if status != http.StatusOK || pico(g.t, out.at(r.at...)) != r.want {
			g.t.Errorf("%s: %d %v, want %d", r.path, status, out, r.want)
		}
	}
	day := g.sees("/customer/daily/activity?" + between)["results"].([]any)[0].(map[string]any) //nolint:forcetypeassert // the test fails
	entities, _ := tree(day).at("breakdown", "entities").(map[string]any)
	if got := slices.Sorted(maps.Keys(entities)); strings.Join(got, " ") != "acme/alice alice initech/alice" {
		g.t.Errorf("end users of the day: %v", got)
	}
	var rows int64
	for _, row := range g.listed(boss, "/spend/logs?limit=1000&end_user=alice&organization_id=acme") {
		rows += pico(g.t, row["spend"])
		if row["organization_id"] != "acme" {
			g.t.Errorf("a row of %v", row["organization_id"])
		}
	}
	if rows != spent["acme"] {
		g.t.Errorf("the rows add up to %d, and %d was spent", rows, spent["acme"])
	}
}

// listed is a list of the management API as a key sees it.
func (g *gatewayProcess) listed(key, path string) []tree {
	g.t.Helper()
	a := g.get(path, with("Authorization", "Bearer "+key))
	var out []tree
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != http.StatusOK {
		g.t.Fatalf("%s: %d %s", path, a.status, a.body)
	}
	return out
}
