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
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
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
	random *rand.Rand
	limit  int // requests that it makes at most; 0: no bound

	mu      sync.Mutex
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
}

func newSpender(l *lab, name string, budget money.Pico) *spender {
	return &spender{
		lab: l, name: name, key: id.HashKey(text(name)), budget: budget,
		random: rand.New(rand.NewPCG(7, uint64(len(name))+uint64(name[len(name)-1]))), refused: map[string]int{},
	}
}

func (c *spender) account() id.Account { return id.Account{Kind: id.AccountKey, Owner: c.key.Hex()} }

// work spends until end.
func (c *spender) work(end time.Time, hosts []*host) {
	for time.Now().Before(end) && (c.limit == 0 || c.made < c.limit) {
		c.made++
		h := hosts[c.random.IntN(len(hosts))]
		if node, at := h.now(); node != nil {
			c.spend(at, node)
		}
		tick(time.Duration(50+c.random.IntN(400)) * time.Millisecond)
	}
}

// spend makes one request: it is reserved for, intended, works for a while, and is
// settled.
func (c *spender) spend(at birth, node *cluster.Node) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	b := bill{request: id.NewRequest(), at: at, estimate: perRequest, cost: money.Pico(c.random.Int64N(int64(perRequest)))}
	var bounds []lease.Bound
	if c.budget > 0 {
		bounds = []lease.Bound{{Account: c.account(), Max: c.budget, Bounded: true, Soft: c.budget / 2}}
	}
	hold, err := node.Budgets().Reserve(ctx, bounds, perRequest)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refused[fault.From(err).Code]++
		return
	}
	charges := append([]usage.Charge(nil), hold.Charges()...)
	start := time.Now()
	in := node.Journal().Intent(journal.Intent{
		Request: b.request, Attempt: 1, Key: c.key, KeyAlias: c.name, Deployment: "d", Group: "m", Provider: "openai", Model: "gpt",
		CallType: "chat.completions", Start: start, Estimate: usage.Tokens{Input: 10}, EstimatedCost: b.estimate, Charges: charges,
	})
	b.intended = in.Wait(ctx) == nil
	tick(time.Duration(c.random.IntN(300)) * time.Millisecond)
	settled := node.Journal().Settle([]*journal.Pending{in}, []journal.Event{{
		Request: b.request, Attempt: 1, Key: c.key, KeyAlias: c.name, Deployment: "d", Group: "m", Provider: "openai", Model: "gpt",
		CallType: "chat.completions", Start: start, End: time.Now(), Status: 200, Outcome: journal.Success, Final: true,
		Tokens: usage.Tokens{Input: 10, Output: 5}, Source: usage.Provider, Cost: b.cost, Charges: charges,
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

// drained waits until everything that any node has recorded is posted.
func (l *lab) drained(hosts []*host, limit time.Duration) error {
	var err error
	until(limit, func() bool {
		err = nil
		for _, h := range hosts {
			if n := h.node().Journal().Backlog(); n > 0 {
				err = fmt.Errorf("%s has %d events that are not posted", h.name, n)
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
			}
		}
		state, err := node.Account(ctx, c.account())
		if err != nil {
			return err
		}
		if state.Total != sum {
			errs = append(errs, fmt.Errorf("%s: the account has %s, and its requests sum up to %s", c.name, state.Total, sum))
		}
		if c.budget > 0 && state.Window > c.budget {
			errs = append(errs, fmt.Errorf("%s: %s were spent of %s", c.name, state.Window, c.budget))
		}
	}
	errs = append(errs, node.CheckLedger(ctx), node.Audit(func(r audit.Reader) error {
		report, err := audit.Verify(ctx, r, audit.DefaultWorkspace, audit.Check{})
		if err == nil && !report.Valid {
			err = fmt.Errorf("the audit log is broken at %d: %s", report.BrokenAt, report.Reason)
		}
		if err == nil && report.Checked < uint64(len(posted)) {
			err = fmt.Errorf("the audit log has %d records of %d requests", report.Checked, len(posted))
		}
		return err
	}))
	return errors.Join(errs...)
}

// TestSpendIsPosted: what three nodes spend is in the ledger of each, once.
func TestSpendIsPosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1)
		defer l.close()
		for range 3 {
			l.add(3).start()
		}
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
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
