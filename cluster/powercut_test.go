package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// begun is a request that is under way: its intent is on disk.
type begun struct {
	node   *cluster.Node
	key    id.KeyHash
	hold   *lease.Hold
	intent usage.Attempt
	wrote  *journal.Pending
}

// begin reserves perRequest for a request of c, and writes its intent. It returns false if
// the budget denies it.
func (c *spender) begin(node *cluster.Node) (begun, bool) {
	c.lab.t.Helper()
	ctx, cancel := context.WithTimeout(c.lab.t.Context(), answerTime)
	defer cancel()
	var hold *lease.Hold
	var err error
	until(answerTime, func() bool {
		hold, err = node.Budgets().Reserve(ctx, []lease.Bound{{Account: c.account(), Max: c.budget, Bounded: true}}, perRequest)
		return err == nil || codeOf(err) == "budget_exceeded" // else there is no leader yet
	})
	switch {
	case codeOf(err) == "budget_exceeded":
		return begun{}, false
	case err != nil:
		c.lab.t.Fatal(err)
	}
	in := usage.Attempt{
		Request: id.NewRequest(), Number: 1, Key: c.key, KeyAlias: c.name, Deployment: "d", Group: "m", Provider: "openai", Model: "gpt",
		CallType: "chat.completions", Start: time.Now(), Tokens: usage.Tokens{Input: 10}, Cost: perRequest,
		Charges: append([]usage.Charge(nil), hold.Charges()...),
	}
	wrote := node.Journal().Intent(in)
	if err := wrote.Wait(ctx); err != nil {
		c.lab.t.Fatal(err)
	}
	return begun{node, c.key, hold, in, wrote}, true
}

// end settles the request at what was reserved for it.
func (b begun) end(t *testing.T) {
	t.Helper()
	in := &b.intent
	settled := b.node.Journal().Settle([]*journal.Pending{b.wrote}, []journal.Event{{
		Attempt: usage.Attempt{
			Request: in.Request, Number: 1, Key: b.key, KeyAlias: in.KeyAlias, Deployment: in.Deployment, Group: in.Group, Provider: in.Provider, Model: in.Model,
			CallType: in.CallType, Start: in.Start,
			Tokens: usage.Tokens{Input: 10, Output: 5}, Cost: perRequest, Charges: in.Charges,
		},
		Result: usage.Result{End: time.Now(), Status: 200, Outcome: journal.Success, Final: true, Source: usage.Provider},
	}})
	b.hold.Settle(perRequest)
	if err := settled.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestCrashedRequestsCountAgainstTheBudget: a power cut takes what the state has not synced. The
// next start applies the log again, and with it the posting of events that the journal has
// trimmed. These must not hide the cost of requests that were under way at the power cut.
func TestCrashedRequestsCountAgainstTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 3)
		defer l.close()
		h := l.add(1)
		h.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		c := newSpender(l, "s1", 20*perRequest)
		for range 5 { // posted, and trimmed from the journal
			if b, ok := c.begin(h.node()); ok {
				b.end(t)
			}
			if err := l.drained(l.hosts, settleTime); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 { // under way at the power cut
			c.begin(h.node())
		}
		h.cut(100)
		h.start()
		// The first comes before the state has caught up, and is under way until the end: the
		// counts of an account where nothing is under way correct themselves.
		var under []begun
		for {
			b, ok := c.begin(h.node())
			if !ok {
				break
			}
			if under = append(under, b); len(under) > 1 {
				continue
			}
			if err := l.ready(l.hosts, settleTime); err != nil {
				t.Fatal(err)
			}
			if err := l.drained(l.hosts, settleTime); err != nil {
				t.Fatal(err)
			}
		}
		for _, b := range under {
			b.end(t)
		}
		if err := l.drained(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		state, err := h.node().Account(t.Context(), c.account())
		if err != nil {
			t.Fatal(err)
		}
		if want := c.budget; state.Window.Pico() != want {
			t.Errorf("%s are spent of a budget of %s", state.Window.Pico(), want)
		}
	})
}
