package e2e

import (
	"net/http"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestBudgetOfParentInCluster has the children of one key ask all three nodes at once,
// and has a node killed before it is sure to have posted: what they spend in sum is the
// budget of the key that made them.
func TestBudgetOfParentInCluster(t *testing.T) {
	if !inLab(t) {
		return
	}
	const (
		budget = 2_000_000_000
		most   = budget / exactCost
	)
	c := startCluster(t, 3, clusterOptions{})
	c.createExact()
	c.post(1, "/user/new", tree{"user_id": "ada", "user_role": "internal_user", "auto_create_key": false}, nil)
	var parent tree
	c.post(1, "/key/generate", tree{"user_id": "ada", "max_budget": 0.002}, &parent)
	maker, _ := parent["key"].(string)
	hash, _ := parent["token"].(string)
	var children []string
	for i := range 3 {
		a, err := c.try(i+1, http.MethodPost, "/key/generate", `{"max_budget":0.002}`, maker)
		if err != nil || a.status != http.StatusOK {
			t.Fatalf("a child: %v %v", a, err)
		}
		var made tree
		if err := json.Unmarshal([]byte(a.body), &made); err != nil {
			t.Fatal(err)
		}
		key, _ := made["key"].(string)
		children = append(children, key)
	}
	for _, key := range children {
		c.awaitExact(key)
	}
	var mu sync.Mutex
	passed := 0
	note := func(a *answer) {
		mu.Lock()
		defer mu.Unlock()
		switch a.status {
		case http.StatusOK:
			passed++
		case http.StatusTooManyRequests:
		default:
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	var all sync.WaitGroup
	for i := range 150 {
		all.Go(func() { note(c.decided(i%3+1, children[i/3%3])) })
	}
	all.Wait()
	if passed == 0 || passed > most {
		t.Fatalf("%d requests passed a budget for %d", passed, most)
	}
	c.kill9(3)
	c.launch(3)
	c.awaitReady(1, 2, 3)
	c.until("the whole budget is spent", func() bool {
		for i, n := range c.nodes {
			if passed < most {
				note(c.decided(n.i, children[i]))
			}
		}
		return passed >= most
	})
	for i, n := range c.nodes {
		note(c.decided(n.i, children[i]))
	}
	if passed != most {
		t.Errorf("%d requests passed, want %d", passed, most)
	}
	for _, n := range c.nodes {
		c.until("all of it is in the ledger", func() bool {
			return pico(t, n.sees("/key/info?key="+hash).at("info", "spend")) == budget
		})
	}
}
