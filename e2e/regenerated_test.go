package e2e

import (
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// passing asks as a key until it is refused, and returns how many requests have passed.
func passing(g *gatewayProcess, key string) (n int, refusal *answer) {
	for {
		a := g.chat(request("fast", `,"max_tokens":5`), with("Authorization", "Bearer "+key))
		if a.status != http.StatusOK {
			return n, a
		}
		n++
	}
}

// loggedOf is what the events of a key cost, by the hashes that were used, and how many
// they are.
func (g *gatewayProcess) loggedOf(hash string) (cost map[string]int64, n int) {
	g.t.Helper()
	var rows []struct {
		APIKey string         `json:"api_key"`
		Spend  jsontext.Value `json:"spend"`
	}
	a := g.get("/spend/logs?limit=1000&api_key=" + hash)
	if err := json.Unmarshal([]byte(a.body), &rows); err != nil || a.status != http.StatusOK {
		g.t.Fatalf("%d %v: %s", a.status, err, a.body)
	}
	cost = map[string]int64{}
	for _, row := range rows {
		cost[row.APIKey] += pico(g.t, string(row.Spend))
	}
	return cost, len(rows)
}

// TestRegeneratedKeyHasOneBudget regenerates a key that has spent half of its budget
// and is in use: it and the one that takes its place spend no more together than the
// key may; both say the same of it, and the provider has been asked as often.
func TestRegeneratedKeyHasOneBudget(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "fast=openai/fake-gpt", "slow=openai/slow-2s"))
	const budget = 2_500_000_000 // of 1e-12 USD: some thirty requests
	made := g.changes("/key/generate", tree{"max_budget": 0.0025, "model_max_budget": tree{"fast": tree{"max_budget": 1}}})
	old, _ := made["key"].(string)
	hash, _ := made["token"].(string)
	since := time.Now()
	spend := func(path string, at ...string) int64 { return pico(t, g.sees(path).at(at...)) }
	spent := func(hash string) int64 { return spend("/key/info?key="+hash, "info", "spend") }
	one := func(key, model string) *answer {
		return g.chat(request(model, `,"max_tokens":5`), with("Authorization", "Bearer "+key))
	}
	passed := 0
	for cost := int64(0); 2*int64(passed)*cost < budget || passed == 0; passed++ {
		a := one(old, "fast")
		if a.status != http.StatusOK {
			t.Fatalf("after %d requests: %d %s", passed, a.status, a.body)
		}
		if passed == 0 {
			row := g.one(a)
			cost = costOf(row.PromptTokens, row.CompletionTokens)
		}
	}
	under := make(chan *answer, 1)
	go func() { under <- one(old, "slow") }()
	g.until("a request is under way", func() bool { return len(up.Requests()) == passed+1 })
	next := g.changes("/key/regenerate", tree{"key": old, "grace_period": "1h"})
	young, _ := next["key"].(string)
	token, _ := next["token"].(string)
	for _, key := range []string{young, old} {
		if a := one(key, "fast"); a.status != http.StatusOK {
			t.Fatalf("after the regeneration: %d %s", a.status, a.body)
		}
		passed++
	}
	var wait sync.WaitGroup
	var byOld, byNew int
	wait.Go(func() { byOld, _ = passing(g, old) })
	wait.Go(func() { byNew, _ = passing(g, young) })
	wait.Wait()
	if a := <-under; a.status != http.StatusOK {
		t.Fatalf("the request under way: %d %s", a.status, a.body)
	}
	passed += byOld + byNew + 1
	for _, key := range []string{young, old} { // nobody else holds what is left
		g.waitPosted()
		n, a := passing(g, key)
		passed += n
		if a.status != http.StatusTooManyRequests || *a.error(t).Error.Code != "budget_exceeded" {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
	}
	g.waitPosted()
	costs, events := g.loggedOf(token)
	total := costs[hash] + costs[token]
	if events != passed || len(up.Requests()) != passed || len(costs) != 2 {
		t.Errorf("%d requests have passed, %d are in the logs by %d keys and %d have reached the provider", passed, events, len(costs), len(up.Requests()))
	}
	if total > budget || costs[token] == 0 {
		t.Errorf("%d was spent of a budget of %d, %d with the new key", total, budget, costs[token])
	}
	if again, _ := g.loggedOf(hash); !maps.Equal(again, costs) {
		t.Errorf("by the old hash the logs have %v, by the new one %v", again, costs)
	}
	for _, place := range []struct {
		path string
		at   []string
	}{
		{"/key/info?key=" + token, []string{"info", "spend"}},
		{"/key/info?key=" + hash, []string{"info", "spend"}},
		{"/key/info?key=" + token, []string{"info", "total_spend"}},
		{"/billing/daily-spend?" + today(since), []string{"total_spend"}},
	} {
		if got := spend(place.path, place.at...); got != total {
			t.Errorf("%s: %v is %d, and %d was spent", place.path, place.at, got, total)
		}
	}
	g.until("the log tells of the budget's end", func() bool { return len(g.records("key.budget_exceeded")) > 0 })
	if r := g.records("key.budget_exceeded"); len(r) != 1 || r[0]["user_key_hash"] != "sha256:"+token && r[0]["user_key_hash"] != "sha256:"+hash {
		t.Errorf("the end of one budget is told as %v", r)
	}
	if next["account_id"] != hash {
		t.Errorf("the account is %v, want %s", next["account_id"], hash)
	}

	g.kill()
	g.start()
	for _, key := range []string{young, old} {
		if a := one(key, "fast"); a.status != http.StatusTooManyRequests {
			t.Errorf("after a restart: %d %s", a.status, a.body)
		}
	}
	if got := spent(token); got != total {
		t.Errorf("after a restart %d are spent, want %d", got, total)
	}
}
