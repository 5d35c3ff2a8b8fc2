//go:build linux

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// guardrailChanges is how often TestClusterGuardrails changes its guardrail.
const guardrailChanges = 100

// A guardrail that is changed while requests use it: each request gets a version that was in force between its beginning
// and its end, at every node. After it is deleted, requests that name it are rejected.
func TestClusterGuardrails(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{})
	leader := c.awaitLeader()
	engines := func(version int) string {
		return fmt.Sprintf(`"engines":[{"engine_name":"content_filter","event_hooks":["pre_call"],"config":{"banned_keywords":["hello"],"violation_message":"Version %d."}}]`, version)
	}
	c.alters(leader, http.MethodPost, "/guardrail", `{"guardrail_name":"polite",`+engines(1)+`}`)
	use := c.startGuardrailUse()
	took := make([]time.Duration, 0, guardrailChanges)
	for version := 2; version <= guardrailChanges+1; version++ {
		use.next.Store(int64(version)) // from here on a request may get it
		start := time.Now()
		c.alters(version%3+1, http.MethodPatch, "/guardrail/polite", `{`+engines(version)+`}`)
		took = append(took, time.Since(start))
		use.moved.Store(int64(version)) // from here on a request must get it
	}
	use.deleting.Store(true)
	c.alters(leader, http.MethodDelete, "/guardrail/polite", "")
	use.deleted.Store(true)
	use.end()
	slices.Sort(took)
	t.Logf("a change is in force at all nodes after p50 %v, p99 %v; %d requests", took[len(took)/2], took[len(took)*99/100], use.served.Load())
}

// guardrailUse is callers that name the guardrail polite at all nodes.
type guardrailUse struct {
	moved, next atomic.Int64 // the version in force, and the one that may be in force already
	deleting    atomic.Bool  // the guardrail may be gone
	deleted     atomic.Bool  // and is
	served      atomic.Int64
	end         func()
}

func (c *testCluster) startGuardrailUse() *guardrailUse {
	use := &guardrailUse{}
	use.moved.Store(1)
	use.next.Store(1)
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for _, n := range c.nodes {
		for range 2 {
			callers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						c.useGuardrail(n.i, use)
					}
				}
			})
		}
	}
	use.end = func() {
		close(stop)
		callers.Wait()
		for _, n := range c.nodes {
			c.useGuardrail(n.i, use)
		}
		if use.served.Load() < guardrailChanges {
			c.t.Errorf("only %d requests were served", use.served.Load())
		}
	}
	return use
}

// useGuardrail sends a request that the guardrail blocks.
func (c *testCluster) useGuardrail(i int, use *guardrailUse) {
	gone, least := use.deleted.Load(), use.moved.Load()
	a, err := c.try(i, http.MethodPost, "/v1/chat/completions", `{"model":"fast","guardrail_id":"polite","messages":[{"role":"user","content":"Hello"}]}`, adminKey)
	most, going := use.next.Load(), use.deleting.Load()
	switch {
	case err != nil:
		c.t.Errorf("node %d: %v", i, err)
	case a.status != http.StatusBadRequest:
		c.t.Errorf("node %d: %d %s", i, a.status, a.body)
	case strings.Contains(a.body, `"guardrail_not_found"`):
		if !going {
			c.t.Errorf("node %d does not know the guardrail: %s", i, a.body)
		}
	case gone:
		c.t.Errorf("node %d applies a deleted guardrail: %s", i, a.body)
	default:
		_, text, _ := strings.Cut(a.body, "Version ")
		text, _, _ = strings.Cut(text, ".")
		if version, err := strconv.ParseInt(text, 10, 64); err != nil || version < least || version > most {
			c.t.Errorf("node %d has %s; %d to %d were in force", i, a.body, least, most)
		}
		use.served.Add(1)
	}
}
