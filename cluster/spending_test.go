package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

const perRequest = money.Pico(1_000_000) // the most that one request may cost

// spender makes requests that cost money, at whatever node, and keeps its own books:
// the provider's.
type spender struct {
	lab    *lab
	name   string
	key    id.KeyHash
	budget money.Pico // 0: none
	window string     // how long one is; empty: for ever
	born   time.Time
	early  uint64 // windows that have begun although they were not due
	exact  bool   // each request costs what was estimated
	limit  int    // requests that it makes at most; 0: no bound

	mu      sync.Mutex
	random  *rand.Rand
	made    int
	refused map[string]int
	book    []bill
}

// bill is what is known of one request.
type bill struct {
	request  id.Request
	at       birth
	cost     money.Pico // what it did cost
	estimate money.Pico // what it is charged with if its node dies
	intended bool       // the intent was confirmed: there is an event, whatever happens
	told     bool       // the settle was: there is an event of that cost
	epoch    uint64     // of the window that it was admitted in
}

func newSpender(l *lab, name string, budget money.Pico) *spender {
	return &spender{
		born: time.Now(), lab: l, name: name, key: id.HashKey(text(name)), budget: budget,
		random: rand.New(rand.NewPCG(7, uint64(len(name))+uint64(name[len(name)-1]))), refused: map[string]int{},
	}
}

func (c *spender) account() id.Account { return id.Account{Kind: id.AccountKey, Owner: c.key.Hex()} }

// hashes are the hash that a request uses, and that whose account it has: the key was
// regenerated, and both of its hashes are accepted. Which is used goes by the cost, so
// that it changes nothing else.
func (c *spender) hashes(cost money.Pico) (used, origin id.KeyHash) {
	if cost%2 == 0 {
		return c.key, id.KeyHash{}
	}
	return id.HashKey(text(c.name) + "-again"), c.key
}

// draw returns a number below n.
func (c *spender) draw(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// refuse counts a request that was refused.
func (c *spender) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[codeOf(err)]++
}

// work spends until end.
func (c *spender) work(end time.Time, hosts []*host) {
	for time.Now().Before(end) && (c.limit == 0 || c.made < c.limit) {
		c.made++
		h := hosts[c.draw(len(hosts))]
		if node, at := h.now(); node != nil {
			c.spend(at, node)
		}
		tick(time.Duration(50+c.draw(400)) * time.Millisecond)
	}
}

// spend makes one request: it is reserved for, intended, works for a while, and is
// settled. Several may be under way at once.
func (c *spender) spend(at birth, node *cluster.Node) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	if err := node.Journal().Healthy(); err != nil { // as every request asks first
		c.refuse(err)
		return
	}
	b := bill{request: id.NewRequest(), at: at, estimate: perRequest, cost: money.Pico(c.draw(int(perRequest)))}
	if c.exact {
		b.cost = b.estimate
	}
	var bounds []lease.Bound
	if c.budget > 0 {
		bounds = []lease.Bound{{Account: c.account(), Max: c.budget, Bounded: true, Soft: c.budget / 2, Duration: c.window}}
		bounds[0].Resets, _ = period.NextReset(c.window, at.on.clock()) // as a reader of this node sees it
	}
	hold, err := node.Budgets().Reserve(ctx, bounds, perRequest)
	if err != nil {
		c.refuse(err)
		return
	}
	charges := append([]usage.Charge(nil), hold.Charges()...)
	if len(charges) > 0 {
		b.epoch = charges[0].Epoch
	}
	start := at.on.clock()
	used, origin := c.hashes(b.cost)
	in := node.Journal().Intent(usage.Attempt{
		Request: b.request, Number: 1, Key: used, Origin: origin, KeyAlias: c.name, Deployment: "d", Group: "m", Provider: "openai", Model: "gpt",
		CallType: "chat.completions", Start: start, Tokens: usage.Tokens{Input: 10}, Cost: b.estimate, Charges: charges,
	})
	b.intended = in.Wait(ctx) == nil
	tick(time.Duration(c.draw(300)) * time.Millisecond)
	settled := node.Journal().Settle([]*journal.Pending{in}, []journal.Event{{
		Attempt: usage.Attempt{
			Request: b.request, Number: 1, Key: used, Origin: origin, KeyAlias: c.name, Deployment: "d", Group: "m", Provider: "openai", Model: "gpt",
			CallType: "chat.completions", Start: start,
			Tokens: usage.Tokens{Input: 10, Output: 5}, Cost: b.cost, Charges: charges,
		},
		Result: usage.Result{End: at.on.clock(), Status: 200, Outcome: journal.Success, Final: true, Source: usage.Provider},
	}})
	hold.Settle(b.cost)
	b.told = settled.Wait(ctx) == nil
	if at.on.node() != node { // its power was cut meanwhile, and nobody heard it
		b.told, b.intended = false, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.book = append(c.book, b)
}

// drained waits until everything that any node has recorded is posted, and all nodes
// have it.
func (l *lab) drained(hosts []*host, limit time.Duration) error {
	var err error
	until(limit, func() bool {
		err = nil
		for _, h := range hosts {
			if n := h.node().Journal().Backlog(); n > 0 {
				err = fmt.Errorf("%s has %d events that are not posted", h.name, n)
			}
		}
		for _, h := range hosts { // what one has posted another hears of a little later
			if err == nil {
				_, err = h.node().Current(l.t.Context())
			}
		}
		return err == nil
	})
	return err
}

// audit holds the spenders' books against the ledger of a host, and the ledger
// against itself.
func (l *lab) audit(h *host, spenders []*spender) error {
	ctx := l.t.Context()
	node := h.node()
	posted := map[id.Request][]money.Pico{}
	if err := node.Logs(ctx, ledger.LogFilter{}, func(r ledger.Record) bool {
		posted[r.Request] = append(posted[r.Request], r.Cost)
		return true
	}); err != nil {
		return err
	}
	var errs []error
	for _, c := range spenders {
		var sum money.Pico
		windows := map[uint64]money.Pico{}
		for _, b := range c.book {
			costs := posted[b.request]
			lost := b.at.disk != b.at.on.disks // with its disk
			switch {
			case len(costs) > 1:
				errs = append(errs, fmt.Errorf("%s: request %s is posted %d times", c.name, b.request, len(costs)))
			case len(costs) == 0 && b.intended && !lost:
				errs = append(errs, fmt.Errorf("%s: request %s is not posted", c.name, b.request))
			case len(costs) == 1 && costs[0] != b.cost && (b.told || costs[0] != b.estimate):
				errs = append(errs, fmt.Errorf("%s: request %s cost %s and is posted with %s", c.name, b.request, b.cost, costs[0]))
			}
			for _, cost := range costs {
				sum += cost
				windows[b.epoch] += cost
			}
		}
		state, err := node.Account(ctx, c.account())
		if err != nil {
			return err
		}
		if state.Total != sum.Total() {
			errs = append(errs, fmt.Errorf("%s: the account has %s, and its requests sum up to %s", c.name, state.Total, sum))
		}
		for epoch, spent := range windows {
			if c.budget > 0 && spent > c.budget {
				errs = append(errs, fmt.Errorf("%s: %s were spent of %s in window %d", c.name, spent, c.budget, epoch))
			}
		}
		if passed := c.passed() + c.early; c.window != "" && state.Epoch > passed {
			errs = append(errs, fmt.Errorf("%s: %d windows have begun, and %d are over", c.name, state.Epoch, passed))
		}
	}
	errs = append(errs, node.CheckLedger(ctx), node.Audit(func(r audit.Reader) error {
		report, err := audit.Verify(ctx, r, audit.DefaultWorkspace, audit.Check{})
		if err == nil && !report.Valid {
			err = fmt.Errorf("the audit log is broken at %d: %s", report.BrokenAt, report.Reason)
		}
		if err == nil {
			err = inOrder(ctx, r)
		}
		if err == nil && report.Checked < uint64(len(posted)) {
			err = fmt.Errorf("the audit log has %d records of %d requests", report.Checked, len(posted))
		}
		return err
	}))
	return errors.Join(errs...)
}

// passed is how many windows have ended since the spender was born.
func (c *spender) passed() (n uint64) {
	for at, ok := period.NextReset(c.window, c.born); ok && !at.After(time.Now()); n++ {
		at, ok = period.NextReset(c.window, at)
	}
	return n
}

// inOrder checks that no record of the audit log was written before the one that it
// follows.
func inOrder(ctx context.Context, r audit.Reader) error {
	var last audit.Record
	var errs []error
	err := audit.From(ctx, r, audit.DefaultWorkspace, 1, func(x audit.Record) bool {
		if x.Recorded.Before(last.Recorded) {
			errs = append(errs, fmt.Errorf("record %d is of %s, and the one before it of %s", x.Number, x.Recorded, last.Recorded))
		}
		last = x
		return len(errs) == 0
	})
	return errors.Join(append(errs, err)...)
}

// TestSpendIsPosted: what three nodes spend is in the ledger of each, once.
func TestSpendIsPosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startedLab(t, 1, 3)
		defer l.close()
		spenders := []*spender{newSpender(l, "s1", 0), newSpender(l, "s2", 200*perRequest), newSpender(l, "s3", 10*perRequest)}
		end := time.Now().Add(20 * time.Second)
		var wait sync.WaitGroup
		for _, c := range spenders {
			wait.Go(func() { c.work(end, l.hosts) })
		}
		wait.Wait()
		if err := l.drained(l.hosts, 5*time.Second); err != nil {
			t.Error(err)
		}
		for _, h := range l.hosts {
			if err := l.audit(h, spenders); err != nil {
				t.Errorf("%s: %v", h.name, err)
			}
		}
		for _, c := range spenders[:2] {
			if len(c.refused) > 0 {
				t.Errorf("%s, who has enough, was refused: %v", c.name, c.refused)
			}
		}
		if c := spenders[2]; c.refused["budget_exceeded"] == 0 {
			t.Errorf("nobody has refused %s, whose budget is used up: %d requests, %v", c.name, len(c.book), c.refused)
		}
	})
}
