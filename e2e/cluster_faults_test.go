//go:build linux

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/e2e/clustertest"
)

// sameState waits until all nodes that run have come equally far, and fails if
// their states or what they make of them differ.
func (c *testCluster) sameState() {
	c.t.Helper()
	c.awaitAgreement()
	var s struct {
		Members []struct {
			Node       string  `json:"node"`
			Address    string  `json:"address"`
			StateHash  string  `json:"state_hash"`
			StateIndex float64 `json:"state_index"`
		} `json:"members"`
	}
	c.until("all states are of the same entry", func() bool {
		for _, n := range c.nodes {
			if !n.running {
				continue
			}
			a, err := c.try(n.i, http.MethodGet, "/cluster/status?checksum=true", "", adminKey)
			if err != nil || a.status != http.StatusOK || json.Unmarshal([]byte(a.body), &s) != nil {
				return false
			}
			break
		}
		for _, m := range s.Members {
			if m.StateIndex == 0 && c.runs(m.Address) || m.StateIndex != 0 && m.StateIndex != s.Members[0].StateIndex {
				return false
			}
		}
		return len(s.Members) > 0
	})
	for _, m := range s.Members {
		if m.StateHash != s.Members[0].StateHash || m.StateHash == "" {
			c.t.Errorf("at entry %v the state of node %d is %s, that of node %d %s", m.StateIndex, c.at(m.Address), m.StateHash, c.at(s.Members[0].Address), s.Members[0].StateHash)
		}
	}
	// The leader changes something by itself now and then: they come to it.
	c.until("all nodes are at one revision", func() bool {
		revision := 0.0
		for _, n := range c.nodes {
			if !n.running {
				continue
			}
			st, err := c.status(n.i)
			if err != nil || st.Revision == 0 || revision != 0 && st.Revision != revision {
				return false
			}
			revision = st.Revision
		}
		return revision != 0
	})
}

// runs says whether the node at a cluster address was started.
func (c *testCluster) runs(address string) bool {
	i := c.at(address)
	return i > 0 && c.node(i).running
}

// awaitWrite waits until a node takes a change, and returns how long that took.
func (c *testCluster) awaitWrite(i int, name string) time.Duration {
	c.t.Helper()
	began := time.Now()
	tries := 0
	c.until(fmt.Sprintf("node %d takes changes", i), func() bool {
		tries++
		alias := fmt.Sprintf("await-%s-%d-%d", name, i, tries) // no writer's of a history
		v, _, wrong := c.makeKey(i, alias, alias)
		if wrong != nil {
			c.t.Error(wrong)
		}
		return v == done
	})
	return time.Since(began)
}

// awaitTraffic waits until some more requests were sent.
func (c *testCluster) awaitTraffic(tr *clustertest.Traffic, more int64) {
	c.t.Helper()
	from := tr.Sent()
	c.until("requests are sent", func() bool { return tr.Sent() >= from+more })
}

// endTraffic ends it and fails for each request that failed on another node than
// those given.
func (c *testCluster) endTraffic(tr *clustertest.Traffic, what string, hurt ...int) {
	c.t.Helper()
	sent, failures := tr.End()
	expected := 0
	for _, err := range failures {
		ours := false
		for _, i := range hurt {
			ours = ours || strings.HasPrefix(err.Error(), fmt.Sprintf("node %d: ", i))
		}
		if ours {
			expected++
			continue
		}
		c.t.Errorf("%s: %v", what, err)
	}
	c.t.Logf("%s: %d requests, %d failed on the node that was hurt", what, sent, expected)
}

// Every node is restarted, one after the other, and no request fails.
func TestClusterRollingRestart(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{
		config: "shutdown_delay: 2s\nkeys:\n  - {key_alias: file, key: " + fileKey + "}\n",
	})
	key := c.createKey(1, "app")
	c.createModel(2, "stored", "openai/fake-gpt", "stored-id")
	for _, n := range c.nodes {
		c.until("key and model are everywhere", func() bool { return c.chat(n.i, key, "stored") == http.StatusOK })
	}
	h := startHistory(c, "rolling", 1)
	agreed, file := c.startTraffic(2, key, "stored"), c.startTraffic(1, fileKey, "fast")
	leader := c.awaitLeader()
	for _, i := range append([]int{leader}, c.others(leader)...) { // the leader first: most nodes have to follow another one twice
		c.awaitTraffic(agreed, 20)
		c.restart(i)
		c.awaitLeader()
	}
	c.awaitTraffic(agreed, 20)
	c.endTraffic(agreed, "with a key and a model of the cluster")
	c.endTraffic(file, "with a key and a model of the file")
	h.check()
	c.sameState()
}
