//go:build linux

package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"testing"
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
