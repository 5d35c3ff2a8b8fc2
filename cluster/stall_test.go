package cluster_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// TestUsageThatCannotBePosted cuts a node off until it owes more than it may: callers and
// the operator read why, and both texts end when the usage is posted.
func TestUsageThatCannotBePosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startedLab(t, 21, 3)
		defer l.close()
		h := l.hosts[0]
		if h == l.leader(settleTime) {
			h = l.hosts[1]
		}
		l.network.Isolate(h.address)
		settled := h.node().Journal().Settle(nil, []journal.Event{{
			Attempt: usage.Attempt{
				Request: "req_dear", Number: 1, Key: id.HashKey(text("file")), Start: h.clock(), Cost: 101 * money.USD,
			},
			Result: usage.Result{
				End: h.clock(), Status: 200,
				Outcome: journal.Success, Final: true,
			},
		}})
		if err := settled.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		var said *fault.Error
		if !until(settleTime, func() bool {
			said = fault.From(h.node().Journal().Healthy())
			return said != nil && strings.Contains(said.Message(), "no leader, or this node does not reach it") && strings.Contains(problemsOf(h), "usage: ")
		}) {
			t.Fatalf("the cut off node says %v; problems %q", said, problemsOf(h))
		}
		if said.Code != journal.CodeBacklog || said.Kind != fault.StorageUnavailable {
			t.Errorf("the error is %s %s", said.Kind, said.Code)
		}
		for _, part := range []string{"events that cost $101 wait, and at most $100 may", "Repair the network between the nodes", "another node"} {
			if !strings.Contains(said.Message(), part) {
				t.Errorf("callers do not read %q in %q", part, said.Message())
			}
		}
		if strings.Contains(said.Message(), "10.0.0.") {
			t.Errorf("callers read an address: %s", said.Message())
		}
		for _, part := range []string{"usage: 1 events that cost $101 are not posted, for ", "no leader right now"} {
			if !strings.Contains(problemsOf(h), part) {
				t.Errorf("the operator does not read %q in %q", part, problemsOf(h))
			}
		}
		l.network.Heal()
		if err := l.drained(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		if !until(10*time.Second, func() bool { return h.node().Journal().Healthy() == nil && !strings.Contains(problemsOf(h), "usage: ") }) {
			t.Errorf("after the usage is posted the node says %v; problems %q", h.node().Journal().Healthy(), problemsOf(h))
		}
	})
}
