//go:build linux

package e2e

import (
	"fmt"
	"net/http"
	"testing"
)

// A gateway that is alone runs on a host of the lab as anywhere else.
func TestGatewayInLab(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 1, clusterOptions{})
	tr := c.startTraffic(2, adminKey, "fast")
	c.until("requests are answered", func() bool { return tr.Sent() > 10 })
	if sent, failures := tr.End(); len(failures) > 0 {
		t.Errorf("%d requests, %d failed: %v", sent, len(failures), failures)
	}
	c.killEnvoy(1)
	c.awaitReady(1)
	c.kill9(1)
	c.restart(1)
	if rows := c.node(1).spend(""); len(rows) <= 10 {
		t.Errorf("%d events after the crash", len(rows))
	}
	c.stop(1)
	c.wipe(1)
	c.restart(1)
	if rows := c.node(1).spend(""); len(rows) != 0 {
		t.Errorf("%d events on an empty disk", len(rows))
	}
}

// What is made and deleted on any node is in force on all.
func TestClusterAgrees(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{observer: 1})
	leader := c.awaitLeader()
	follower := c.others(leader, 4)[0]
	for _, through := range []int{follower, leader, 4} {
		key := c.createKey(through, fmt.Sprintf("through-%d", through))
		model, id := fmt.Sprintf("new-%d", through), fmt.Sprintf("id-%d", through)
		c.createModel(through, model, "openai/fake-gpt", id)
		for _, n := range c.nodes {
			c.until(fmt.Sprintf("node %d has what node %d made", n.i, through), func() bool {
				return c.chat(n.i, key, model) == http.StatusOK
			})
		}
		c.deleteKey(through, key)
		for _, n := range c.nodes { // at once: a deletion is answered when all nodes have it
			if s := c.chat(n.i, key, model); s != http.StatusUnauthorized {
				t.Errorf("node %d answers %d to a key that node %d deleted", n.i, s, through)
			}
		}
		c.deleteModel(through, id)
		for _, n := range c.nodes {
			c.until(fmt.Sprintf("node %d has not what node %d deleted", n.i, through), func() bool {
				return c.chat(n.i, adminKey, model) == http.StatusNotFound
			})
		}
	}
	c.awaitAgreement()
	s, err := c.status(follower)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.nodes {
		m, ok := s.member(c, n.i)
		if !ok || !m.Alive || m.Voter != (n.i <= c.voters) || !m.ConfigMatches {
			t.Errorf("node %d is shown as %+v", n.i, m)
		}
	}
	// A node looks again after a pause whether it is what it is to be in its cluster.
	c.until(fmt.Sprintf("there are problems: %v", s.Problems), func() bool {
		s, err := c.status(follower)
		return err == nil && len(s.Problems) == 0
	})
}
