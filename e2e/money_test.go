package e2e

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// tree is an answer of the management API.
type tree map[string]any

// sees reads something of the management API and fails unless the answer is 200.
func (g *gatewayProcess) sees(path string) tree {
	g.t.Helper()
	return treeOf(g.t, path, g.get(path))
}

// changes asks the management API for a change and fails unless the answer is 200.
func (g *gatewayProcess) changes(path string, body tree) tree {
	g.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		g.t.Fatal(err)
	}
	return treeOf(g.t, path, g.do(http.MethodPost, path, bytes.NewReader(text)))
}

func treeOf(t *testing.T, path string, a *answer) tree {
	t.Helper()
	out := tree{}
	if a.status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("%s: %v: %s", path, err, a.body)
	}
	return out
}

// at is a member of a member of an answer.
func (v tree) at(path ...string) any {
	var now any = map[string]any(v)
	for _, name := range path {
		members, ok := now.(map[string]any)
		if !ok {
			return nil
		}
		now = members[name]
	}
	return now
}

// rows is what a list has on its page.
func (v tree) rows() []tree {
	items, _ := v["data"].([]any)
	var out []tree
	for _, one := range items {
		members, _ := one.(map[string]any)
		out = append(out, members)
	}
	return out
}

// pico is an amount in units of 1e-12 USD. One that is not a whole number of them
// was not made by adding whole numbers.
func pico(t *testing.T, amount any) int64 {
	t.Helper()
	text := fmt.Sprint(amount)
	if f, ok := amount.(float64); ok {
		text = strconv.FormatFloat(f, 'g', -1, 64)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is not an amount", text)
	}
	r.Mul(r, big.NewRat(1e12, 1))
	if !r.IsInt() || !r.Num().IsInt64() {
		t.Fatalf("%s USD is not a whole number of 1e-12", text)
	}
	return r.Num().Int64()
}

// costOf is what tokens of the models of the tests cost, in 1e-12 USD.
func costOf(input, output int64) int64 { return input*1_000_000 + output*10_000_000 }

// records are the records of a type in the audit log, the oldest first.
func (g *gatewayProcess) records(eventType string) []tree {
	g.t.Helper()
	return g.sees("/audit-log?limit=1000&order=asc&event_type=" + eventType).rows()
}

// today is the day of the reports, both first and last. A test that runs over
// midnight asks for two.
func today(since time.Time) string {
	return "start_date=" + since.UTC().Format(time.DateOnly) + "&end_date=" + time.Now().UTC().Format(time.DateOnly)
}

// payers are a key and all that pays for what it asks.
type payers struct {
	key, hash                string
	organization, team, user string
	customer                 string
}

func newPayers(g *gatewayProcess) payers {
	g.t.Helper()
	p := payers{team: "red", user: "ada", customer: "guest-7"}
	p.organization, _ = g.changes("/organization/new", tree{"organization_alias": "acme", "models": []string{}})["organization_id"].(string)
	g.changes("/user/new", tree{"user_id": p.user, "auto_create_key": false})
	g.changes("/team/new", tree{
		"team_id": p.team, "team_alias": "Red", "organization_id": p.organization, "max_budget": 5,
		"members_with_roles": []tree{{"user_id": p.user, "role": "user"}},
	})
	g.changes("/customer/new", tree{"user_id": p.customer, "organization_id": p.organization})
	made := g.changes("/key/generate", tree{"key_alias": "paying", "team_id": p.team, "user_id": p.user, "max_budget": 1, "budget_duration": "30d"})
	p.key, _ = made["key"].(string)
	p.hash, _ = made["token"].(string)
	return p
}

// TestCostIsTheSameEverywhere asks through the API that callers use, and finds what
// it cost in every report, to the 1e-12 USD; in the audit log too, which a file of it
// proves with no gateway beside it.
func TestCostIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	since := time.Now()
	up := newUpstream(t)
	g := startGateway(t, models(up, "fast=openai/fake-gpt", "claude=anthropic/fake-claude", "down=openai/fail-500")+
		"router_settings: {num_retries: 0, retry_after: 0.01, cooldown_time: 0, fallbacks: [{down: [claude]}]}\n")
	who := newPayers(g)
	as := with("Authorization", "Bearer "+who.key)
	more := `,"user":"` + who.customer + `","metadata":{"session_id":"chat-4711"}`

	var total int64
	for _, tc := range []struct {
		body     string
		attempts int
	}{
		{request("fast", more), 1},
		{request("fast", more+`,"max_tokens":3`), 1},
		{request("down", more), 2},
		{request("fast", more+`,"stream":true,"stream_options":{"include_usage":true}`), 1},
	} {
		a := g.chat(tc.body, as)
		if a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", tc.body, a.status, a.body)
		}
		rows := g.posted(a, tc.attempts)
		last := rows[len(rows)-1]
		cost := costOf(last.PromptTokens, last.CompletionTokens)
		total += cost
		if got := pico(t, string(last.Spend)); got != cost || cost == 0 || last.EndUser != who.customer {
			t.Errorf("%s cost %d, and %d is in the log: %+v", tc.body, cost, got, last)
		}
		for _, row := range rows {
			if row.Session != "chat-4711" || !strings.HasPrefix(row.APIBase, up.url) {
				t.Errorf("%s: %+v", tc.body, row)
			}
		}
		if said := a.header.Get("x-gateway-response-cost"); said != "" && pico(t, said) != cost {
			t.Errorf("the caller was told of %s USD, and %d was posted", said, cost)
		}
		var types []string
		for _, r := range g.sees("/audit-log?order=asc&request_id=" + a.header.Get("x-gateway-request-id")).rows() {
			kind, _ := r["event_type"].(string)
			types = append(types, kind)
			if kind == "request.fallback_triggered" {
				details, _ := r["details"].(map[string]any)
				if details["from"] != "down" || details["to"] != "claude" || details["error_code"] != "upstream_error" || details["status"] != 500.0 || details["attempt"] != 1.0 {
					t.Errorf("the fallback is told with %v", r["details"])
				}
				continue
			}
			want := tree{
				"cost_usd": cost, "org_id": who.organization, "team_id": who.team, "user_key_hash": "sha256:" + who.hash, "customer_id": who.customer,
				"tokens_input": float64(last.PromptTokens), "tokens_output": float64(last.CompletionTokens), "workspace_id": "default",
			}
			if kind == "spend.debited" { // a sum of both records counts no token twice
				want["tokens_input"], want["tokens_output"] = 0.0, 0.0
			}
			got := tree{"cost_usd": pico(t, r["cost_usd"])}
			for name := range want {
				if name != "cost_usd" {
					got[name] = r[name]
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s of %s: %s", kind, tc.body, d)
			}
		}
		want := []string{"request.routed", "spend.debited"}
		if tc.attempts == 2 {
			want = append([]string{"request.fallback_triggered"}, want...)
		}
		if d := cmp.Diff(want, types); d != "" {
			t.Errorf("records of %s: %s", tc.body, d)
		}
	}
	between := today(since)
	for _, place := range []struct {
		path string
		at   []string
	}{
		{"/key/info?key=" + who.hash, []string{"info", "spend"}},
		{"/team/info?team_id=" + who.team, []string{"team_info", "spend"}},
		{"/user/info?user_id=" + who.user, []string{"user_info", "spend"}},
		{"/customer/info?end_user_id=" + who.customer + "&organization_id=" + who.organization, []string{"spend"}},
		{"/organization/info?organization_id=" + who.organization, []string{"spend"}},
		{"/team/daily/activity?team_ids=" + who.team + "&" + between, []string{"metadata", "total_spend"}},
		{"/user/daily/activity?user_id=" + who.user + "&" + between, []string{"metadata", "total_spend"}},
		{"/customer/daily/activity?end_user_ids=" + who.customer + "&" + between, []string{"metadata", "total_spend"}},
		{"/organization/daily/activity?organization_ids=" + who.organization + "&" + between, []string{"metadata", "total_spend"}},
		{"/billing/daily-spend?" + between, []string{"total_spend"}},
		{"/billing/daily-spend?group_by=model&" + between, []string{"total_spend"}},
	} {
		if got := pico(t, g.sees(place.path).at(place.at...)); got != total {
			t.Errorf("%s: %s is %d, and %d was spent", place.path, strings.Join(place.at, "."), got, total)
		}
	}
	g.exports(total)
	if v := g.sees("/audit-log/verify"); v["valid"] != true {
		t.Errorf("the audit log is not valid: %v", v)
	}
	file := filepath.Join(t.TempDir(), "running.jsonl")
	for _, args := range [][]string{{"export", "--url", g.url, "--key", adminKey, "-o", file}, {"verify", "--export", file}} {
		if out, err := exec.Command(binary(t), append([]string{"audit"}, args...)...).CombinedOutput(); err != nil {
			t.Errorf("audit %s of a running gateway: %v\n%s", args[0], err, out)
		}
	}
	g.stop()
	proved(t, g.data)
}

// posted waits until the attempts of a request are in the ledger, and returns them.
func (g *gatewayProcess) posted(a *answer, attempts int) []spendLog {
	g.t.Helper()
	var rows []spendLog
	path := "/audit-log?request_id=" + a.header.Get("x-gateway-request-id")
	g.until("the request is in the ledger", func() bool {
		rows = g.spend(a.header.Get("x-gateway-request-id"))
		return len(rows) == attempts && len(g.sees(path).rows()) > attempts
	})
	return rows
}

// exports reads the audit log as CSV: it says the same as JSON.
func (g *gatewayProcess) exports(total int64) {
	g.t.Helper()
	a := g.get("/audit-log?format=csv")
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") || !strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment;") {
		g.t.Fatalf("%d %v", a.status, a.header)
	}
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil || len(rows) < 2 {
		g.t.Fatalf("%d rows: %v", len(rows), err)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	var debited int64
	for _, row := range rows[1:] {
		if row[column("event_type")] == "spend.debited" {
			debited += pico(g.t, row[column("cost_usd")])
		}
	}
	if debited != total {
		g.t.Errorf("the CSV file debits %d, and %d was spent", debited, total)
	}
	if all := g.sees("/audit-log?limit=1000").rows(); len(all) != len(rows)-1 {
		g.t.Errorf("%d rows of CSV, %d of JSON", len(rows)-1, len(all))
	}
}

// proved takes the audit log out of a data directory and checks it with nothing but
// the file. Another file, in which one digit of one cost is another, fails.
func proved(t *testing.T, data string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "audit.log")
	run := func(args ...string) (string, error) {
		out, err := exec.Command(binary(t), append([]string{"audit"}, args...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := run("export", "--data", data, "-o", file); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := run("verify", "--export", file); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := run("verify", "--data", data); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(whole, []byte(`cost_usd`))
	for at < len(whole) && (whole[at] < '1' || whole[at] > '8') {
		at++
	}
	if at == len(whole) {
		t.Fatal("the file has no cost in it")
	}
	whole[at]++
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := run("verify", "--export", file); err == nil {
		t.Errorf("a file with another cost passes: %s", out)
	}
}

// TestUnknownPrice: what nobody knows the cost of is for callers without a budget.
func TestUnknownPrice(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "fast=openai/fake-gpt")+`
  - model_name: riddle
    gateway_params: {model: openai/nobody-knows-this, api_base: `+up.url+`/v1, api_key: k}
    model_info: {id: riddle-id}
`)
	key := func(body tree) option {
		made, _ := g.changes("/key/generate", body)["key"].(string)
		return with("Authorization", "Bearer "+made)
	}
	free, bound, bounded := key(tree{}), key(tree{"max_budget": 1}), key(tree{"model_max_budget": tree{"riddle": tree{"max_budget": 1}}})
	a := g.chat(request("riddle", ""), free)
	if a.status != http.StatusOK {
		t.Errorf("without a budget: %d %s", a.status, a.body)
	}
	for _, k := range []option{bound, bounded} {
		a := g.chat(request("riddle", ""), k)
		if e := a.error(t); a.status != http.StatusForbidden || *e.Error.Code != "model_price_unknown" {
			t.Errorf("with a budget: %d %s", a.status, a.body)
		}
		if a := g.chat(request("fast", ""), k); a.status != http.StatusOK {
			t.Errorf("a model with a price: %d %s", a.status, a.body)
		}
	}
	g.until("the requests are in the ledger", func() bool { return len(g.records("request.routed")) == 3 && len(g.records("request.blocked")) == 2 })
	if row := g.spend(a.header.Get("x-gateway-request-id")); len(row) != 1 || pico(t, string(row[0].Spend)) != 0 {
		t.Errorf("%+v", row)
	}
}

// TestRateLimit counts requests and tokens of one key, and tells what is left.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "fast=openai/fake-gpt", "slow=openai/slow-4s"))
	made, _ := g.changes("/key/generate", tree{"rpm_limit": 3, "tpm_limit": 1000})["key"].(string)
	as := with("Authorization", "Bearer "+made)
	for left := 2; left >= 0; left-- { // few: one comes back every 20 s, however slow the machine is
		a := g.chat(request("fast", ""), as)
		if a.status != http.StatusOK {
			t.Fatalf("with %d left: %d %s", left+1, a.status, a.body)
		}
		if a.header.Get("x-ratelimit-limit-requests") != "3" || a.header.Get("x-ratelimit-remaining-requests") != strconv.Itoa(left) ||
			a.header.Get("x-ratelimit-limit-tokens") != "1000" || a.header.Get("x-ratelimit-remaining-tokens") == "" {
			t.Errorf("with %d left: %v", left, a.header)
		}
		if _, err := time.ParseDuration(a.header.Get("x-ratelimit-reset-requests")); err != nil {
			t.Error(err)
		}
	}
	a := g.chat(request("fast", ""), as)
	e := a.error(t)
	if a.status != http.StatusTooManyRequests || e.Error.Type != "rate_limit_error" || *e.Error.Code != "rate_limit_exceeded" ||
		a.header.Get("x-ratelimit-limit-requests") != "3" || a.header.Get("x-ratelimit-remaining-requests") != "0" {
		t.Errorf("the fourth: %d %v %s", a.status, a.header, a.body)
	}
	if wait, err := strconv.ParseFloat(a.header.Get("retry-after"), 64); err != nil || wait <= 0 || wait > 60 {
		t.Errorf("retry-after: %q", a.header.Get("retry-after"))
	}

	tokens, _ := g.changes("/key/generate", tree{"tpm_limit": 50})["key"].(string)
	as = with("Authorization", "Bearer "+tokens)
	// One that may use more than a minute has passes while nothing is used, or it
	// never could; it has used less in the end.
	for i, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		if a := g.chat(request("fast", `,"max_tokens":200`), as); a.status != want || a.header.Get("x-ratelimit-limit-tokens") != "50" {
			t.Errorf("request %d for more tokens than a minute has: %d %v %s", i+1, a.status, a.header, a.body)
		}
	}
	if got := len(up.Requests()); got != 4 {
		t.Errorf("%d requests have reached the provider, want 4", got)
	}

	one, _ := g.changes("/key/generate", tree{"max_parallel_requests": 1})["key"].(string)
	as = with("Authorization", "Bearer "+one)
	first := make(chan *answer, 1)
	go func() { first <- g.chat(request("slow", ""), as) }()
	g.until("the first is at the provider", func() bool { return len(up.Requests()) == 5 })
	if a := g.chat(request("fast", ""), as); a.status != http.StatusTooManyRequests {
		t.Errorf("a second one at the same time: %d %s", a.status, a.body)
	}
	if a := <-first; a.status != http.StatusOK {
		t.Errorf("the first: %d %s", a.status, a.body)
	}
	if a := g.chat(request("fast", ""), as); a.status != http.StatusOK {
		t.Errorf("after the first: %d %s", a.status, a.body)
	}
}

// TestBudgetBeginsAnew has keys spend all that they have, and go on when the window
// is over, or when somebody resets what they have spent.
func TestBudgetBeginsAnew(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "fast=openai/fake-gpt"))
	const window = 5 * time.Second
	made := g.changes("/key/generate", tree{"max_budget": 0.0003, "soft_budget": 0.0001, "budget_duration": "5s"})
	key, _ := made["key"].(string)
	hash, _ := made["token"].(string)
	as := with("Authorization", "Bearer "+key)
	ask := request("fast", `,"max_tokens":5`)

	// A window may end between two requests; with so many of them one is refused.
	var over *answer
	g.until("the budget is spent", func() bool {
		over = g.chat(ask, as)
		return over.status != http.StatusOK
	})
	e := over.error(t)
	if over.status != http.StatusTooManyRequests || e.Error.Type != "budget_exceeded" || *e.Error.Code != "budget_exceeded" || over.header.Get("x-should-retry") != "false" {
		t.Errorf("%d %v %s", over.status, over.header, over.body)
	}
	at, err := time.Parse(time.RFC3339, over.header.Get("x-gateway-budget-reset-at"))
	if wait := time.Until(at); err != nil || wait > window || wait < -window {
		t.Errorf("%v, in %v", err, wait)
	}
	g.until("requests pass again", func() bool { return g.chat(ask, as).status == http.StatusOK })
	if time.Now().Before(at) {
		t.Errorf("requests pass before %v", at)
	}
	for _, event := range []string{"budget.threshold_reached", "budget.exceeded", "key.budget_exceeded", "budget.reset"} {
		g.until(event+" is in the log", func() bool {
			return slices.ContainsFunc(g.records(event), func(r tree) bool { return r["user_key_hash"] == "sha256:"+hash })
		})
	}

	made = g.changes("/key/generate", tree{"max_budget": 0.0003})
	key, _ = made["key"].(string)
	hash, _ = made["token"].(string)
	as = with("Authorization", "Bearer "+key)
	passed := func() (n int64) {
		var last *answer
		for last = g.chat(ask, as); last.status == http.StatusOK; last = g.chat(ask, as) {
			n++
		}
		if last.status != http.StatusTooManyRequests || *last.error(t).Error.Code != "budget_exceeded" || last.header.Get("x-gateway-budget-reset-at") != "" {
			t.Fatalf("%d %v %s", last.status, last.header, last.body)
		}
		return n
	}
	first := passed()
	spent := func() int64 { return pico(t, g.sees("/key/info?key="+hash).at("info", "spend")) }
	row := g.spend("")[0]
	cost := costOf(row.PromptTokens, row.CompletionTokens)
	g.until("all of it is posted", func() bool { return spent() == first*cost })
	if first*cost > 3e8 || first == 0 {
		t.Errorf("%d requests of %d passed a budget of 3e8", first, cost)
	}
	if out := g.changes("/key/"+hash+"/reset_spend", tree{"reset_to": 0}); pico(t, out["spend"]) != 0 || pico(t, out["previous_spend"]) != first*cost {
		t.Errorf("%v", out)
	}
	if got := spent(); got != 0 {
		t.Errorf("%d is spent after the reset", got)
	}
	second := passed()
	g.until("all of it is posted", func() bool { return spent() == second*cost })
	if second != first {
		t.Errorf("%d requests passed, and %d after the reset", first, second)
	}
	if a := g.do(http.MethodPost, "/key/"+hash+"/reset_spend", io.Reader(strings.NewReader(`{"reset_to":0}`)), as); a.status != http.StatusForbidden {
		t.Errorf("a key that resets its own spend: %d %s", a.status, a.body)
	}
}
