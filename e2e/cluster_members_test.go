//go:build linux

package e2e

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/e2e/clustertest"
)

// cli runs modelgateway cluster against a node, as an operator does.
func (c *testCluster) cli(i int, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), clusterWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(c.t), append([]string{"cluster"}, args...)...)
	cmd.Env = append(os.Environ(), "MODELGATEWAY_URL="+c.node(i).url, "MODELGATEWAY_KEY="+adminKey)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// manages is cli until it succeeds: on a busy machine a leader may lose its place for a
// moment, and the answer is 503.
func (c *testCluster) manages(i int, args ...string) {
	c.t.Helper()
	c.until("modelgateway cluster "+strings.Join(args, " ")+" succeeds", func() bool {
		out, err := c.cli(i, args...)
		if err != nil {
			c.t.Logf("node %d: %v\n%s", i, err, out)
		}
		return err == nil || args[0] == "remove" && strings.Contains(out, "node_not_found") // it was, by the try before
	})
}

// id returns the id of a node that runs.
func (c *testCluster) id(i int) string {
	c.t.Helper()
	s, err := c.status(i)
	if err != nil {
		c.t.Fatal(err)
	}
	return s.Node
}

// awaitVotes waits until a node names these nodes as members, no other, and votes
// as theirs.
func (c *testCluster) awaitVotes(through int, members, voters []int) {
	c.t.Helper()
	c.until("the members are what they are to be", func() bool {
		s, err := c.status(through)
		if err != nil || len(s.Members) != len(members) {
			return false
		}
		for _, m := range s.Members {
			i := c.at(m.Address)
			if !slices.Contains(members, i) || m.Voter != slices.Contains(voters, i) || !m.Alive {
				return false
			}
		}
		return true
	})
}

// says waits until a node names a problem with all of these words.
func (c *testCluster) says(i int, words ...string) {
	c.t.Helper()
	c.until("node "+c.node(i).host.Addr().String()+" says: "+strings.Join(words, " … "), func() bool {
		s, err := c.status(i)
		return err == nil && slices.ContainsFunc(s.Problems, func(p string) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(p, w) })
		})
	})
}

// A node that comes back with an empty disk is another one: the cluster takes it
// in when an operator has said that the old one is gone, and never that one again.
func TestClusterReplacesNode(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := startCluster(t, 3, clusterOptions{})
	key := c.createKey(1, "app")
	c.createModel(2, "stored", "openai/fake-gpt", "stored-id")
	all := []int{1, 2, 3}
	old, data := c.id(3), c.node(3).data
	lost := data + "-lost"

	h := startHistory(c, "replace", 1)
	c.kill9(3)
	if err := os.Rename(data, lost); err != nil {
		t.Fatal(err)
	}
	c.launch(3)
	c.says(3, "modelgateway cluster remove "+old, "address of node "+old)
	if c.ready(3) {
		t.Error("a node that is not taken in says that it is ready")
	}
	if s := c.chat(3, key, "fast"); s != http.StatusServiceUnavailable {
		t.Errorf("a node that is not taken in answers %d to a good key, which it cannot know", s)
	}
	if s, err := c.status(1); err != nil || len(s.Members) != 3 || !slices.ContainsFunc(s.Members, func(m clusterMember) bool { return m.Node == old }) {
		t.Errorf("the members are %+v, %v", s.Members, err)
	}

	c.manages(1, "remove", old)
	c.awaitReady(3)
	c.awaitVotes(1, all, all)
	c.awaitLeader()
	if s := c.chat(3, key, "stored"); s != http.StatusOK {
		t.Errorf("the new node answers %d to a key and a model that were made before it", s)
	}
	if second := c.id(3); second == old {
		t.Errorf("the new node is %s, as the old one was", second)
	}
	h.check()
	c.sameState()
	if _, err := c.cli(1, "remove", old); err == nil {
		t.Error("a node that is no member can be removed")
	}

	c.staysOut(3, lost, key)
	c.wipe(3)
	c.launch(3)
	c.awaitReady(3)
	c.awaitVotes(1, all, all)
	c.awaitLeader()
	c.sameState()
}

// staysOut removes a node and starts it with the disk of one that was removed
// before: its address is free now, and still nobody takes it in. It is stopped
// again.
func (c *testCluster) staysOut(i int, lost, key string) {
	c.t.Helper()
	second := c.id(i)
	c.stop(i)
	others := c.others(i)
	c.manages(others[0], "remove", second)
	c.wipe(i)
	if err := os.Rename(lost, c.node(i).data); err != nil {
		c.t.Fatal(err)
	}
	c.launch(i)
	c.says(i, "taken out", "empty data directory")
	c.awaitVotes(others[0], others, others)
	if s := c.chat(i, key, "fast"); s != http.StatusServiceUnavailable || c.ready(i) {
		c.t.Errorf("a node that was removed answers %d to a key of the cluster, ready: %v", s, c.ready(i))
	}
	for _, n := range others {
		c.awaitWrite(n, "without")
	}
	c.awaitAgreement(others...)
	c.stop(i)
}

// A gateway that was alone becomes a cluster and keeps what it has. A node without
// a vote serves all of it, whoever leads.
func TestClusterGrows(t *testing.T) {
	if !inLab(t) {
		return
	}
	c := newCluster(t, 3, clusterOptions{observer: 1})
	first := c.node(1)
	clustered := first.config
	text, err := os.ReadFile(clustered)
	if err != nil {
		t.Fatal(err)
	}
	alone, _, _ := strings.Cut(string(text), "cluster:\n")
	first.config = filepath.Join(filepath.Dir(clustered), "alone.yaml")
	if err := os.WriteFile(first.config, []byte(alone), 0o600); err != nil {
		t.Fatal(err)
	}
	c.restart(1)
	early := c.createKey(1, "early")
	c.createModel(1, "stored", "openai/fake-gpt", "stored-id")
	if s := c.chat(1, early, "stored"); s != http.StatusOK {
		t.Fatalf("a node alone answers %d", s)
	}
	first.config = clustered
	c.restart(1)
	if rows := first.spend(""); len(rows) != 1 {
		t.Errorf("%d usage events are left, want 1", len(rows))
	}
	for _, i := range []int{2, 3, 4} {
		c.launch(i)
	}
	c.awaitReady()
	c.awaitVotes(4, []int{1, 2, 3, 4}, []int{1, 2, 3})
	leader := c.awaitLeader()
	late := c.createKey(4, "late") // through the one that has no vote
	for _, n := range c.nodes {
		for _, key := range []string{early, late} {
			c.until("all nodes have everything", func() bool { return c.chat(n.i, key, "stored") == http.StatusOK })
		}
	}

	h := startHistory(c, "grown", 2)
	tr := clustertest.StartTraffic(t, clustertest.TrafficConfig{
		Nodes: 1, Callers: 2, Ready: func(int) bool { return true },
		Send: func(int) error { return c.answers(4, early) },
	})
	c.awaitTraffic(tr, 20)
	c.kill9(leader)
	if next := c.awaitLeader(c.others(leader)...); next == 4 {
		t.Error("a node without a vote leads")
	}
	t.Logf("the leader was killed: a node without a vote takes changes after %v", c.awaitWrite(4, "grown"))
	c.awaitTraffic(tr, 50)
	c.restart(leader)
	c.awaitLeader()
	c.endTraffic(tr, "at the node without a vote")
	h.check()
	c.sameState()
}
