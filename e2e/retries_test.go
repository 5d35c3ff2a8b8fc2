package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// expensive is a model of the fake provider that costs some 5 cents to ask, and next to
// nothing to answer.
func expensive(p *upstream, name, model string) string {
	return fmt.Sprintf(`
  - model_name: %s
    gateway_params: {model: openai/%s, api_base: %s/v1, api_key: k, input_cost_per_token: 0.0002, output_cost_per_token: 0.0000001}
`, name, model, p.url)
}

// costly is a request of some 5 cents.
func costly(model string) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":10,"messages":[{"role":"user","content":%q}]}`, model, strings.Repeat("all work and no play ", 50))
}

// spentBy is what a key has spent, in USD, once all its requests are posted.
func (g *gatewayProcess) spentBy(key string) float64 {
	g.t.Helper()
	g.waitPosted()
	spend, _ := g.sees("/key/info?key="+key).at("info", "spend").(float64)
	return spend
}

// TestCallersRetriesAreBounded is an attack: a caller that gives up each attempt at once,
// and has the gateway make ten more, pays for eleven attempts of which it sees none.
func TestCallersRetriesAreBounded(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, "model_list:"+expensive(p, "slow", "slow-400ms")+"router_settings: {num_retries: 2, retry_after: 0.01, cooldown_time: 0}\n")
	key, _ := g.changes("/key/generate", tree{"max_budget": 0.12})["key"].(string)
	as := func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("x-gateway-timeout", "0.1")
		r.Header.Set("x-gateway-num-retries", "10")
	}
	a := g.chat(costly("slow"), as)
	if a.status != http.StatusOK || a.header.Get("x-gateway-attempted-retries") != "0" {
		t.Errorf("%d after %s retries, want an answer without any: %s", a.status, a.header.Get("x-gateway-attempted-retries"), a.body)
	}
	for a.status == http.StatusOK {
		a = g.chat(costly("slow"), as)
	}
	if e := a.error(t); a.status != http.StatusTooManyRequests || *e.Error.Code != "budget_exceeded" {
		t.Errorf("in the end %d %s", a.status, a.body)
	}
	if spent := g.spentBy(key); spent > 0.12 || spent < 0.03 {
		t.Errorf("%v USD of 0.12 are spent", spent)
	}

	// Who runs the gateway may.
	before := len(p.Requests())
	g.chat(costly("slow"), as, with("Authorization", "Bearer "+adminKey))
	if n := len(p.Requests()) - before; n != 11 {
		t.Errorf("a proxy admin's request made %d attempts, want 11", n)
	}
}

// TestAttemptsAreReserved has many requests at once wait for a provider that never
// answers. Each attempt that times out costs its input; all of them together stay
// within the budget.
func TestAttemptsAreReserved(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, "model_list:"+expensive(p, "stuck", "hang")+"router_settings: {num_retries: 4, retry_after: 0.01, cooldown_time: 0, timeout: 0.5}\n")
	key, _ := g.changes("/key/generate", tree{"max_budget": 0.5})["key"].(string)
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range 30 {
		wg.Go(func() {
			a := g.chat(costly("stuck"), with("Authorization", "Bearer "+key))
			mu.Lock()
			defer mu.Unlock()
			statuses[a.status]++
		})
	}
	wg.Wait()
	if statuses[http.StatusServiceUnavailable] < 2 || statuses[http.StatusTooManyRequests] == 0 ||
		statuses[http.StatusServiceUnavailable]+statuses[http.StatusTooManyRequests] != 30 {
		t.Errorf("statuses %v", statuses)
	}
	if err := p.Await(t.Context(), func(c fake.Counters) bool { return c.Open == 0 }); err != nil {
		t.Fatal(err)
	}
	if spent := g.spentBy(key); spent > 0.5 || spent < 0.1 {
		t.Errorf("%v USD of 0.5 are spent by %d attempts", spent, len(p.Requests()))
	}
}
