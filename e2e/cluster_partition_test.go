//go:build linux

package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/e2e/clustertest"
)

const (
	// staleness is the key_staleness of the clusters that are cut.
	staleness = 5 * time.Second
	// fileKey is in the file of every node that is to have one there.
	fileKey = "sk-of-the-file-0123456789"
)

// startCut starts three nodes that trust each other's keys for a short time only.
func startCut(t *testing.T, seed uint64) *testCluster {
	t.Helper()
	return startCluster(t, 3, clusterOptions{
		seed:    seed,
		config:  "keys:\n  - {key_alias: file, key: " + fileKey + "}\n",
		cluster: fmt.Sprintf("  key_staleness: %v\n", staleness),
	})
}

// cut is a fault of the network that leaves one node without the others.
type cut struct {
	name  string
	alone int
	rest  []int // the others
	apply func()
	// oneWay: something still gets through, so the node may find its way back by
	// itself, when another node comes to lead.
	oneWay bool
}

// endure makes a cut and checks what holds while it lasts and when it is over.
func (c *testCluster) endure(cut cut) {
	c.t.Helper()
	kept, doomed := c.createKey(cut.rest[0], cut.name+"-kept"), c.createKey(cut.rest[0], cut.name+"-doomed")
	c.createKey(cut.rest[0], cut.name+"-unsure")
	for _, n := range c.nodes {
		for _, key := range []string{kept, doomed, fileKey} {
			c.until("the keys are everywhere", func() bool { return c.chat(n.i, key, "fast") == http.StatusOK })
		}
	}
	h := startHistory(c, cut.name, 2)
	c.until("changes are made", func() bool { return h.written() > 5 })
	tr := c.startOwn(cut.rest)
	cut.apply()
	since := time.Now()
	for _, key := range []string{kept, doomed, fileKey} { // nobody has revoked them yet
		if s := c.chat(cut.alone, key, "fast"); s != http.StatusOK {
			c.t.Errorf("%s: node %d answers %d to a good key, %v after the cut", cut.name, cut.alone, s, time.Since(since))
		}
	}
	var asked sync.WaitGroup
	asked.Go(func() { c.refused(cut) })
	defer asked.Wait()
	for _, i := range cut.rest {
		c.awaitWrite(i, cut.name+"-write")
		c.t.Logf("%s: node %d takes changes %v after the cut", cut.name, i, time.Since(since))
	}
	c.deleteKey(cut.rest[0], doomed)
	for _, i := range cut.rest { // at once: a deletion is answered when all nodes that are reached have it
		if s := c.chat(i, doomed, "fast"); s != http.StatusUnauthorized {
			c.t.Errorf("%s: node %d answers %d to a key that was deleted", cut.name, i, s)
		}
	}
	c.forgets(cut, doomed, since)
	asked.Wait()
	if !cut.oneWay {
		c.distrusts(cut, kept)
	}
	if s := c.chat(cut.alone, fileKey, "fast"); s != http.StatusOK {
		c.t.Errorf("%s: node %d answers %d to a key of its file", cut.name, cut.alone, s)
	}
	c.endTraffic(tr, cut.name)
	c.lab.Heal()
	c.awaitReady()
	c.t.Logf("%s: healed, node %d leads", cut.name, c.awaitLeader())
	for _, n := range c.nodes {
		if s := c.chat(n.i, doomed, "fast"); s != http.StatusUnauthorized {
			c.t.Errorf("%s: after it node %d answers %d to a key that was deleted", cut.name, n.i, s)
		}
		c.until("good keys are good everywhere", func() bool { return c.chat(n.i, kept, "fast") == http.StatusOK })
		c.t.Logf("%s: healed, node %d takes changes after %v", cut.name, n.i, c.awaitWrite(n.i, cut.name+"-healed"))
	}
	h.check()
	c.sameState()
}

// startOwn has callers ask these nodes with a key of the file, ready or not: who
// has that is served, whatever becomes of the others.
func (c *testCluster) startOwn(nodes []int) *clustertest.Traffic {
	c.t.Helper()
	return clustertest.StartTraffic(c.t, clustertest.TrafficConfig{
		Nodes: len(nodes), Callers: 2, Ready: func(int) bool { return true },
		Send: func(n int) error { return c.answers(nodes[n-1], fileKey) },
	})
}

// answers asks a node for an answer with a key.
func (c *testCluster) answers(i int, key string) error {
	if s := c.chat(i, key, "fast"); s != http.StatusOK {
		return fmt.Errorf("node %d: answered %d", i, s)
	}
	return nil
}

// refused asks a node that is cut off for a change of each kind, all at once. That
// each says no in time, and how, is checked by change.
func (c *testCluster) refused(cut cut) {
	var asked sync.WaitGroup
	for path, body := range map[string]any{
		"/key/generate": map[string]any{"key_alias": cut.name + "-refused"},
		// Whether it is deleted nobody says: what was on its way to the leader when the
		// network broke may arrive when it is mended.
		"/key/delete": map[string]any{"key_aliases": []string{cut.name + "-unsure"}},
		"/model/new": map[string]any{
			"model_name":     "refused",
			"gateway_params": map[string]any{"model": "openai/fake-gpt", "api_base": c.provider.url + "/v1", "api_key": "k"},
		},
		"/config/update": map[string]any{"router_settings": map[string]any{"num_retries": 3}},
	} {
		asked.Go(func() {
			began := time.Now()
			v, a, wrong := c.change(cut.alone, path, body)
			switch {
			case wrong != nil:
				c.t.Errorf("%s: %v", cut.name, wrong)
			case cut.oneWay && v == done:
				c.t.Logf("%s: node %d found a way for %s", cut.name, cut.alone, path)
			case a == nil || a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "":
				c.t.Errorf("%s: POST %s on node %d: %+v after %v, want 503", cut.name, path, cut.alone, a, time.Since(began))
			default:
				c.t.Logf("%s: POST %s on node %d is refused after %v", cut.name, path, cut.alone, time.Since(began))
			}
		})
	}
	asked.Wait()
}

// forgets waits until a node that was cut off does not take a key any more that
// the others have deleted. No request that begins later than the staleness after
// the cut may be accepted.
func (c *testCluster) forgets(cut cut, key string, since time.Time) {
	c.t.Helper()
	c.until(fmt.Sprintf("node %d does not take a deleted key", cut.alone), func() bool {
		began := time.Since(since)
		s := c.chat(cut.alone, key, "fast")
		if s == http.StatusOK && began > staleness {
			c.t.Fatalf("%s: node %d takes a deleted key %v after the cut", cut.name, cut.alone, began)
		}
		return s == http.StatusServiceUnavailable || s == http.StatusUnauthorized
	})
}

// distrusts checks how a node answers that has been cut off for too long.
func (c *testCluster) distrusts(cut cut, kept string) {
	c.t.Helper()
	for name, key := range map[string]string{"a key of the cluster": kept, "a key that it does not know": "sk-nobody-has-made-this-one-0123"} {
		a, err := c.try(cut.alone, http.MethodPost, "/v1/chat/completions", request("fast", ""), key)
		if err != nil || a.status != http.StatusServiceUnavailable || *a.error(c.t).Error.Code != "cut_off" || a.header.Get("Retry-After") == "" {
			c.t.Errorf("%s: node %d answers %v %+v to %s, want 503 cut_off", cut.name, cut.alone, err, a, name)
		}
	}
	if s := c.chat(cut.alone, adminKey, "fast"); s != http.StatusOK {
		c.t.Errorf("%s: node %d answers %d to the master key", cut.name, cut.alone, s)
	}
	if c.ready(cut.alone) {
		c.t.Errorf("%s: node %d says that it is ready", cut.name, cut.alone)
	}
}

// A node that is alone refuses changes, never lies, and trusts keys for as long as
// it was told; the others go on.
func TestClusterPartitions(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCut(t, 1)
	for _, name := range []string{"leader-alone", "follower-alone"} {
		alone := c.awaitLeader()
		if name == "follower-alone" {
			alone = c.others(alone)[0]
		}
		rest := c.others(alone)
		c.endure(cut{name: name, alone: alone, rest: rest, apply: func() { c.lab.Partition([][]int{{alone}, rest}) }})
	}
}

// A node that is not heard, and one that does not hear.
func TestClusterOneWay(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCut(t, 2)
	for _, name := range []string{"not-heard", "deaf"} {
		leader := c.awaitLeader()
		alone := c.others(leader)[0]
		from, to := alone, leader
		if name == "deaf" {
			from, to = leader, alone
		}
		c.endure(cut{name: name, alone: alone, rest: c.others(alone), apply: func() { c.lab.OneWay(from, to) }, oneWay: true})
	}
}
