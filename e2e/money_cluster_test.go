//go:build linux

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestBudgetOfCluster has a thousand callers spend a budget of one cent through three
// nodes at once. None of it is spent twice, all of it can be spent, and the nodes come
// to the same sum.
func TestBudgetOfCluster(t *testing.T) {
	if !inLab(t) {
		return
	}
	const (
		callers = 1000
		budget  = 10_000_000_000
		most    = budget / exactCost
	)
	c := startCluster(t, 3, clusterOptions{})
	c.createExact()
	var made tree
	c.post(1, "/key/generate", tree{"max_budget": 0.01, "budget_duration": "30d"}, &made)
	key, _ := made["key"].(string)
	hash, _ := made["token"].(string)
	ask := func(node int) *answer { return c.decided(node, key) }
	c.awaitExact(key)

	var mu sync.Mutex
	count := map[string]int{}
	var passed []string
	note := func(a *answer) {
		mu.Lock()
		defer mu.Unlock()
		if a.status == http.StatusOK {
			passed = append(passed, a.header.Get("x-gateway-request-id"))
			if got := a.header.Get("x-gateway-response-cost"); got != "0.00005" {
				t.Errorf("one cost %s", got)
			}
		}
		if a.status == http.StatusTooManyRequests {
			reset, err := time.Parse(time.RFC3339, a.header.Get("x-gateway-budget-reset-at"))
			// Where the last cents are only held by other requests, one may try again.
			final := a.header.Get("x-should-retry") == "false"
			if err != nil || !reset.After(time.Now()) || !final && a.header.Get("retry-after") != "1" || a.header.Get("retry-after") == "" ||
				!strings.Contains(a.body, `"type":"budget_exceeded"`) || !strings.Contains(a.body, `"code":"budget_exceeded"`) {
				t.Errorf("refused with %v %s", a.header, a.body)
			}
		}
		count[fmt.Sprint(a.status)]++
		if a.status != http.StatusOK && a.status != http.StatusTooManyRequests {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { note(ask(i%3 + 1)) })
	}
	all.Wait()
	t.Logf("%d at once: %v", callers, count)
	if len(passed) > most || len(passed) == 0 {
		t.Errorf("%d requests of %d passed a budget of %d", len(passed), exactCost, budget)
	}

	// What one node was given and does not need comes to where it is asked for.
	c.until("the whole budget is spent", func() bool {
		for _, n := range c.nodes {
			if len(passed) < most {
				note(ask(n.i))
			}
		}
		return len(passed) >= most
	})
	for _, n := range c.nodes {
		note(ask(n.i))
	}
	if len(passed) != most {
		t.Errorf("%d requests passed, want %d", len(passed), most)
	}
	for _, n := range c.nodes {
		c.until(fmt.Sprintf("node %d has all of it in the ledger", n.i), func() bool {
			return pico(t, n.sees("/key/info?key="+hash).at("info", "spend")) == budget
		})
		for _, event := range []string{"budget.exceeded", "key.budget_exceeded"} {
			c.until(fmt.Sprintf("node %d has %s in the log", n.i, event), func() bool { return len(n.records(event)) > 0 })
			if got := n.records(event); len(got) != 1 || got[0]["user_key_hash"] != "sha256:"+hash {
				t.Errorf("node %d has %s %d times: %v", n.i, event, len(got), got)
			}
		}
		rows := n.spend("")
		var in []string
		for _, r := range rows {
			in = append(in, r.RequestID)
			if pico(t, string(r.Spend)) != exactCost {
				t.Errorf("node %d: %+v", n.i, r)
			}
		}
		slices.Sort(in)
		slices.Sort(passed)
		if !slices.Equal(in, passed) {
			t.Errorf("node %d has %d requests in its ledger, %d passed", n.i, len(in), len(passed))
		}
		if v := n.sees("/audit-log/verify"); v["valid"] != true {
			t.Errorf("node %d: %v", n.i, v)
		}
	}
}

// Requests for the model exact cost as much as is set aside for them.
const (
	exactCost = 50_000_000 // five tokens of output, in 1e-12 USD
	exactAsk  = `{"model":"exact","messages":[{"role":"user","content":"hello"}],"max_tokens":5}`
)

// createExact adds the model exact.
func (c *testCluster) createExact() {
	c.t.Helper()
	c.post(1, "/model/new", tree{
		"model_name": "exact", "model_info": tree{"id": "exact-id"},
		"gateway_params": tree{
			"model": "openai/words-50", "api_base": c.provider.url + "/v1", "api_key": "k", "input_cost_per_token": 0, "output_cost_per_token": 0.00001,
		},
	}, nil)
}

// awaitExact waits until all nodes know a key and the model exact.
func (c *testCluster) awaitExact(key string) {
	c.t.Helper()
	for _, n := range c.nodes {
		c.until(fmt.Sprintf("node %d knows the key and the model", n.i), func() bool {
			a, err := c.try(n.i, http.MethodGet, "/v1/models", "", key)
			return err == nil && a.status == http.StatusOK && strings.Contains(a.body, `"exact"`)
		})
	}
}

// TestBudgetOfCutNode cuts a node off that has been given money. It spends that and
// no more, then says that it cannot tell; the others spend the rest. When the cut is
// over all of it is in one ledger, and the sum is the budget.
func TestBudgetOfCutNode(t *testing.T) {
	if !inLab(t) {
		return
	}
	const most = 200
	c := startCluster(t, 3, clusterOptions{})
	c.createExact()
	var made tree
	c.post(1, "/key/generate", tree{"max_budget": 0.01}, &made)
	key, _ := made["key"].(string)
	hash, _ := made["token"].(string)
	c.awaitExact(key)
	passed := 0
	for _, n := range c.nodes {
		if a := c.decided(n.i, key); a.status != http.StatusOK {
			t.Fatalf("node %d: %d %s", n.i, a.status, a.body)
		}
		passed++
	}
	alone := c.awaitLeader()
	rest := c.others(alone)
	c.lab.Partition([][]int{{alone}, rest})

	// spend has a node spend until it refuses, and returns the refusal.
	spend := func(node int) (last *answer) {
		for last = c.ask(node, key); last.status == http.StatusOK; last = c.ask(node, key) {
			if passed++; passed > most {
				t.Fatalf("%d requests passed a budget for %d", passed, most)
			}
		}
		return last
	}
	before := passed
	last := spend(alone)
	t.Logf("cut off: %d passed, then %d %s", passed-before, last.status, last.body)
	if last.status != http.StatusServiceUnavailable || *last.error(t).Error.Code != "budget_unavailable" || last.header.Get("retry-after") == "" {
		t.Errorf("the node that is alone: %d %v %s", last.status, last.header, last.body)
	}
	c.awaitLeader(rest...)
	c.until("the others have spent what is left", func() bool {
		last = spend(rest[0])
		return last.status == http.StatusTooManyRequests
	})
	if *last.error(t).Error.Code != "budget_exceeded" {
		t.Errorf("the others: %d %s", last.status, last.body)
	}
	t.Logf("%d passed before the cut is over", passed)
	c.lab.Heal()
	c.awaitLeader()
	c.until("the whole budget is spent", func() bool {
		for _, n := range c.nodes {
			spend(n.i)
		}
		return passed == most
	})
	for _, n := range c.nodes {
		c.until(fmt.Sprintf("node %d has all of it in the ledger", n.i), func() bool {
			return pico(t, n.sees("/key/info?key="+hash).at("info", "spend")) == most*exactCost
		})
	}
}

// decided asks until the cluster can say what is left of the budget: with a thousand at
// once on a small machine it may be too busy for that, and says that they come again. It
// may be called from any goroutine.
func (c *testCluster) decided(i int, key string) *answer {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(clusterWait); ; <-tick.C {
		a := c.ask(i, key)
		if a.status != http.StatusServiceUnavailable || a.header.Get("retry-after") == "" || !strings.Contains(a.body, `"code":"budget_unavailable"`) || time.Now().After(deadline) {
			return a
		}
	}
}

// ask asks for the model exact; it may take long, for a thousand ask at once. It may be
// called from any goroutine.
func (c *testCluster) ask(i int, key string) *answer {
	ctx, cancel := context.WithTimeout(context.Background(), clusterWait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.node(i).url+"/v1/chat/completions", strings.NewReader(exactAsk))
	if err != nil {
		return &answer{body: err.Error()}
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(r)
	if err != nil {
		return &answer{body: err.Error()}
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return &answer{body: err.Error()}
	}
	return &answer{status: resp.StatusCode, header: resp.Header, body: string(b)}
}
