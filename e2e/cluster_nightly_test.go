//go:build linux && nightly

package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/e2e/clustertest"
)

// This one wants the machine for itself, and runs in make nightly.

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
