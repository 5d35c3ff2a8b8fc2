//go:build linux

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Whatever takes a key's rights away is in force on every node when it is answered,
// and what is asked for twice under one Idempotency-Key is done once, on whichever
// nodes.
func TestClusterManages(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{})
	leader := c.awaitLeader()
	follower := c.others(leader)[0]
	c.post(follower, "/organization/new", map[string]any{"organization_id": "acme", "organization_alias": "Acme"}, nil)
	for _, tc := range []struct {
		name string
		take func(i int, key string) (path string, body map[string]any)
		want int
	}{
		{"block", func(_ int, key string) (string, map[string]any) { return "/key/block", map[string]any{"key": key} }, http.StatusUnauthorized},
		{"models", func(_ int, key string) (string, map[string]any) {
			return "/key/update", map[string]any{"key": key, "models": []string{"another"}}
		}, http.StatusForbidden},
		{"key type", func(_ int, key string) (string, map[string]any) {
			return "/key/update", map[string]any{"key": key, "key_type": "management"}
		}, http.StatusForbidden},
		{"regenerate", func(_ int, key string) (string, map[string]any) {
			return "/key/regenerate", map[string]any{"key": key}
		}, http.StatusUnauthorized},
		{"team blocked", func(i int, _ string) (string, map[string]any) {
			return "/team/block", map[string]any{"team_id": fmt.Sprintf("team-%d", i)}
		}, http.StatusForbidden},
		{"team deleted", func(i int, _ string) (string, map[string]any) {
			return "/team/delete", map[string]any{"team_ids": []string{fmt.Sprintf("team-%d", i)}}
		}, http.StatusUnauthorized},
		{"organization's models", func(int, string) (string, map[string]any) {
			return "/organization/update", map[string]any{"organization_id": "acme", "models": []string{"another"}}
		}, http.StatusForbidden},
	} {
		for _, through := range []int{leader, follower} {
			c.post(follower, "/organization/update", map[string]any{"organization_id": "acme", "models": []string{}}, nil)
			team := fmt.Sprintf("team-%d", through)
			if c.node(through).get("/team/info?team_id="+team).status != http.StatusOK {
				c.post(through, "/team/new", map[string]any{"team_id": team, "organization_id": "acme"}, nil)
			}
			c.post(through, "/team/unblock", map[string]any{"team_id": team}, nil)
			var made struct {
				Key string `json:"key"`
			}
			c.post(through, "/key/generate", map[string]any{"team_id": team}, &made)
			for _, n := range c.nodes {
				c.until("the key is everywhere", func() bool { return c.chat(n.i, made.Key, "fast") == http.StatusOK })
			}
			path, body := tc.take(through, made.Key)
			c.post(through, path, body, nil)
			for _, n := range c.nodes { // at once
				if s := c.chat(n.i, made.Key, "fast"); s != tc.want {
					t.Errorf("%s through node %d: node %d answers %d, want %d", tc.name, through, n.i, s, tc.want)
				}
			}
		}
	}

	var mu sync.Mutex
	keys := map[string]int{}
	var wait sync.WaitGroup
	for i := range 9 {
		n := c.node(i%3 + 1)
		wait.Go(func() {
			a := n.do(http.MethodPost, "/key/generate", strings.NewReader(`{"key_alias":"once"}`), with("Idempotency-Key", "the-same"))
			mu.Lock()
			defer mu.Unlock()
			if a.status != http.StatusOK {
				t.Errorf("node %d: %d %s", n.i, a.status, a.body)
			}
			keys[a.body]++
		})
	}
	wait.Wait()
	if len(keys) != 1 {
		t.Errorf("nine requests under one Idempotency-Key have %d answers", len(keys))
	}
	c.awaitAgreement()
}
