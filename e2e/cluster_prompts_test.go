//go:build linux

package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// promptMoves is how often TestClusterPrompts moves a label.
const promptMoves = 100

// A label that is moved while requests use it: each request gets a version that the label named
// between its beginning and its end, at every node. After a prompt is deleted no node uses it, and a
// leader that dies while a version is made leaves all of it or nothing.
func TestClusterPrompts(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{})
	leader := c.awaitLeader()
	c.alters(leader, http.MethodPost, "/prompts", `{"prompt_name":"greeting","messages":[{"role":"system","content":"Version 1."}]}`)
	c.alters(leader, http.MethodPut, "/prompts/greeting/labels/live", `{"version":1}`)
	moves := c.startPromptUse()
	for version := 2; version <= promptMoves+1; version++ {
		through := version%3 + 1
		c.alters(through, http.MethodPut, "/prompts/greeting", fmt.Sprintf(`{"messages":[{"role":"system","content":"Version %d."}]}`, version))
		moves.next.Store(int64(version)) // from here on a request may get it
		c.alters(through, http.MethodPut, "/prompts/greeting/labels/live", fmt.Sprintf(`{"version":%d}`, version))
		moves.moved.Store(int64(version)) // from here on a request must get it
	}
	moves.deleting.Store(true)
	c.alters(leader, http.MethodDelete, "/prompts/greeting", "")
	moves.deleted.Store(true)
	moves.end()

	follower := c.others(leader)[0]
	c.alters(follower, http.MethodPost, "/prompts", `{"prompt_name":"half","messages":[{"role":"system","content":"One."}]}`)
	sent := make(chan struct{})
	var put sync.WaitGroup
	put.Go(func() {
		close(sent)
		// It may have been made or not, and the node may not know: the versions tell.
		_, _ = c.try(follower, http.MethodPut, "/prompts/half", `{"messages":[{"role":"system","content":"Two."}],"config":{"temperature":0.5}}`, adminKey)
	})
	<-sent
	c.kill9(leader)
	put.Wait()
	c.awaitLeader(c.others(leader)...)
	c.restart(leader)
	c.awaitReady()
	c.awaitAgreement()
	want := ""
	for _, n := range c.nodes {
		a := n.get("/prompts/half/versions")
		latest := strings.Count(a.body, `"version":`)
		if a.status != http.StatusOK || latest < 1 || latest > 2 || latest == 2 && !strings.Contains(a.body, "Two.") {
			t.Errorf("node %d has %d %s", n.i, a.status, a.body)
		}
		if want == "" {
			want = a.body
		}
		if a.body != want {
			t.Errorf("node %d has %s, another %s", n.i, a.body, want)
		}
	}
}

// alters sends a change to a node, again while the cluster has no leader, and fails unless it
// succeeds.
func (c *testCluster) alters(i int, method, path, body string) {
	c.t.Helper()
	var a *answer
	c.until(method+" "+path+" is not refused for the moment", func() bool {
		var err error
		a, err = c.try(i, method, path, body, adminKey)
		return err == nil && a.status != http.StatusServiceUnavailable
	})
	if a.status != http.StatusOK {
		c.t.Fatalf("%s %s on node %d: %d %s", method, path, i, a.status, a.body)
	}
}

// promptUse is callers that use the label live of the prompt greeting at all nodes.
type promptUse struct {
	moved, next atomic.Int64 // the version that the label names, and the one that it may name already
	deleting    atomic.Bool  // the prompt may be gone
	deleted     atomic.Bool  // and is
	end         func()
}

func (c *testCluster) startPromptUse() *promptUse {
	use := &promptUse{}
	use.moved.Store(1)
	use.next.Store(1)
	stop := make(chan struct{})
	var callers sync.WaitGroup
	var served atomic.Int64
	for _, n := range c.nodes {
		for range 2 {
			callers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if c.usePrompt(n.i, use) {
						served.Add(1)
					}
				}
			})
		}
	}
	use.end = func() {
		close(stop)
		callers.Wait()
		for _, n := range c.nodes {
			c.usePrompt(n.i, use)
		}
		if served.Load() < promptMoves {
			c.t.Errorf("only %d requests were served", served.Load())
		}
	}
	return use
}

// usePrompt sends one request, and reports whether it was served.
func (c *testCluster) usePrompt(i int, use *promptUse) bool {
	gone, least := use.deleted.Load(), use.moved.Load()
	a, err := c.try(i, http.MethodPost, "/v1/chat/completions",
		`{"model":"fast","prompt_id":"greeting","prompt_label":"live","messages":[{"role":"user","content":"Hello"}]}`, adminKey)
	most, going := use.next.Load(), use.deleting.Load()
	switch {
	case err != nil:
		c.t.Errorf("node %d: %v", i, err)
	case gone && a.status != http.StatusNotFound:
		c.t.Errorf("node %d uses a deleted prompt: %d %s", i, a.status, a.header.Get("x-gateway-prompt"))
	case a.status == http.StatusOK:
		version, err := strconv.ParseInt(strings.TrimPrefix(a.header.Get("x-gateway-prompt"), "greeting@"), 10, 64)
		if err != nil || version < least || version > most {
			c.t.Errorf("node %d composed with %q; the label named %d to %d", i, a.header.Get("x-gateway-prompt"), least, most)
		}
		return true
	case a.status != http.StatusNotFound || !going:
		c.t.Errorf("node %d: %d %s", i, a.status, a.body)
	}
	return false
}
