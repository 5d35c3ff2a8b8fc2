//go:build linux

package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/clustertest"
)

// footprint is what a process holds that could leak.
type footprint struct{ goroutines, descriptors int }

var footprintLines = map[string]*regexp.Regexp{
	"goroutines":  regexp.MustCompile(`(?m)^go_goroutines (\S+)$`),
	"descriptors": regexp.MustCompile(`(?m)^process_open_fds (\S+)$`),
}

// footprint reads a node's from its metrics.
func (c *testCluster) footprint(i int) footprint {
	c.t.Helper()
	a, err := c.try(i, http.MethodGet, "/metrics", "", adminKey)
	if err != nil || a.status != http.StatusOK {
		c.t.Fatalf("/metrics on node %d: %v %+v", i, err, a)
	}
	value := func(name string) int {
		m := footprintLines[name].FindStringSubmatch(a.body)
		if m == nil {
			c.t.Fatalf("node %d does not say how many %s it has", i, name)
		}
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil || v <= 0 {
			c.t.Fatalf("node %d has %s %s", i, m[1], name)
		}
		return int(v)
	}
	return footprint{value("goroutines"), value("descriptors")}
}

// footprints reads those of all nodes, after each has spoken with each, for
// connections stay.
func (c *testCluster) footprints() map[int]footprint {
	c.t.Helper()
	out := map[int]footprint{}
	for _, n := range c.nodes {
		if _, err := c.status(n.i); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, n := range c.nodes {
		out[n.i] = c.footprint(n.i)
	}
	return out
}

// awaitRest waits until every node holds about what it held when it had nothing
// to do. A fault round opens hundreds of each; a quarter more, and some, is what
// timers and connections that are just being made need.
func (c *testCluster) awaitRest(rest map[int]footprint) {
	c.t.Helper()
	for _, n := range c.nodes {
		var now footprint
		was := rest[n.i]
		c.until(fmt.Sprintf("node %d holds about %+v again", n.i, was), func() bool {
			now = c.footprint(n.i)
			return now.goroutines <= was.goroutines*5/4+25 && now.descriptors <= was.descriptors*5/4+25
		})
		c.t.Logf("node %d at rest: before %+v, now %+v", n.i, was, now)
	}
}

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
	revision := 0.0
	for _, n := range c.nodes {
		if !n.running {
			continue
		}
		st, err := c.status(n.i)
		if err != nil {
			c.t.Fatal(err)
		}
		if revision == 0 {
			revision = st.Revision
		}
		if st.Revision != revision || revision == 0 {
			c.t.Errorf("node %d is at revision %v, another at %v", n.i, st.Revision, revision)
		}
	}
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
		alias := fmt.Sprintf("%s-%d-%d", name, i, tries)
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

// Any process may be killed under load. What the others do goes on, what was
// confirmed is there, and what the faults opened is closed.
func TestClusterSurvivesKills(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{})
	key := c.createKey(1, "app")
	for _, n := range c.nodes {
		c.until("the key is everywhere", func() bool { return c.chat(n.i, key, "fast") == http.StatusOK })
	}
	rest := c.footprints()
	for _, victim := range []string{"leader", "follower"} {
		i := c.awaitLeader()
		if victim == "follower" {
			i = c.others(i)[0]
		}
		h := startHistory(c, victim, 2)
		tr := c.startTraffic(3, key, "fast")
		c.awaitTraffic(tr, 20)
		c.kill9(i)
		for _, other := range c.others(i) {
			t.Logf("the %s was killed: node %d takes changes after %v", victim, other, c.awaitWrite(other, victim))
		}
		c.awaitTraffic(tr, 50)
		c.endTraffic(tr, "while the "+victim+" is dead", i)
		tr = c.startTraffic(3, key, "fast")
		c.launch(i)
		c.awaitReady(i)
		c.awaitTraffic(tr, 50)
		c.endTraffic(tr, "while the "+victim+" comes back")
		c.awaitLeader()
		h.check()
		c.sameState()
	}

	i := c.others(c.awaitLeader())[0]
	h := startHistory(c, "envoy", 2)
	tr := c.startTraffic(3, key, "fast")
	c.awaitTraffic(tr, 20)
	c.killEnvoy(i)
	c.awaitReady(i)
	c.awaitTraffic(tr, 50)
	c.endTraffic(tr, "an Envoy was killed", i)
	h.check()
	c.sameState()
	c.awaitRest(rest)
}

// With two hundred milliseconds between the nodes and every fifth packet lost the
// cluster is slow, and nothing else. Leaders come and go there, and a node may be
// without news for a minute: who runs one on such a network allows for that.
func TestClusterOnBadNetwork(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{seed: 7, cluster: "  key_staleness: 5m\n"})
	key := c.createKey(1, "app")
	for _, n := range c.nodes {
		c.until("the key is everywhere", func() bool { return c.chat(n.i, key, "fast") == http.StatusOK })
	}
	h := startHistory(c, "lossy", 2)
	tr := c.startTraffic(2, key, "fast")
	c.lab.Set(clustertest.Rule{Delay: 200 * time.Millisecond, Loss: .2})
	for _, n := range c.nodes {
		t.Logf("node %d takes changes after %v", n.i, c.awaitWrite(n.i, "slow"))
	}
	from := h.written()
	c.until("changes go on", func() bool { return h.written() >= from+5 })
	c.awaitTraffic(tr, 50)
	c.endTraffic(tr, "on a bad network")
	c.lab.Heal()
	c.awaitReady()
	t.Logf("the network is good again: node %d leads", c.awaitLeader())
	h.check()
	c.sameState()
}

// Every node is restarted, one after the other, and no request fails.
func TestClusterRollingRestart(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{
		config: "shutdown_delay: 1s\nkeys:\n  - {key_alias: file, key: " + fileKey + "}\n",
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
