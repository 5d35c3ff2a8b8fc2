package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/modelgateway/modelgateway/bench/internal/precise"
	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// The owners of the requests, in turn. All keys have a budget.
const (
	provider  = "openai"
	payers    = 50
	teams     = 5
	customers = 100
)

// The cost of a request, its reservation, and the budget of a key, which is large enough for
// all requests.
const (
	cost     = 100 * money.USD / 1_000_000
	reserved = 4 * cost
	budget   = 100_000 * money.USD
)

// providerTime is the duration of an attempt when times are measured: longer than IntentDelay,
// so that each intent has its own sync in that time.
const providerTime = 20 * time.Millisecond

// load makes requests.
type load struct {
	world *world
	made  atomic.Int64
}

// settled is the result of one request.
type settled struct {
	node *cluster.Node
	seq  uint64        // of its event
	took time.Duration // delay of the response's last byte
	at   time.Time     // end of that delay
}

// request makes the next request, on the nodes in turn. busy is the duration of the attempt.
func (l *load) request(ctx context.Context, busy time.Duration) (settled, error) {
	i := int(l.made.Add(1)) - 1
	node := l.world.nodes[i%len(l.world.nodes)]
	key := id.HashKey(fmt.Sprint("key-", i%payers))
	hold, err := node.Budgets().Reserve(ctx, []lease.Bound{{
		Account: id.Account{Kind: id.AccountKey, Owner: key.Hex()}, Max: budget, Bounded: true, Soft: budget / 2,
	}}, reserved)
	if err != nil {
		return settled{}, err
	}
	charges := append([]usage.Charge(nil), hold.Charges()...)
	ev := event(i, key, charges)
	before := ev.Attempt
	before.Tokens, before.Cost = usage.Tokens{Input: ev.Tokens.Input}, cost/2
	intent := node.Journal().Intent(before)
	if err := precise.Sleep(busy); err != nil {
		return settled{}, err
	}
	ev.End = time.Now()
	events := []journal.Event{ev}
	began := time.Now()
	pending := node.Journal().Settle([]*journal.Pending{intent}, events)
	hold.Settle(cost)
	if err := pending.Wait(ctx); err != nil {
		return settled{}, err
	}
	end := time.Now()
	return settled{node: node, seq: events[0].ID.Seq, took: end.Sub(began), at: end}, nil
}

// event returns the event of the i-th request, which has one attempt.
func event(i int, key id.KeyHash, charges []usage.Charge) journal.Event {
	who := i % payers
	return journal.Event{
		Attempt: usage.Attempt{
			Request: id.NewRequest(), Number: 1, Key: key, KeyAlias: fmt.Sprint("key-", who), Actor: fmt.Sprint("key-", who),
			Deployment: "gpt-4o-mini-0123456789abcdef", Group: "gpt-4o-mini", Provider: provider, Model: "gpt-4o-mini-2024-07-18",
			CallType: "chat.completions", EndUser: fmt.Sprint("customer-", i%customers),
			Team: id.Team(fmt.Sprint("team-", who%teams)), User: id.User(fmt.Sprint("user-", who)), Organization: "acme", Charges: charges,
			Start: time.Now(), Tokens: usage.Tokens{Input: 400, Output: 70}, Cost: cost,
		},
		Result: usage.Result{Status: 200, Outcome: journal.Success, FinishReason: "stop", Source: usage.Provider, Final: true},
	}
}

// flood makes n requests as fast as this number of callers can.
func (l *load) flood(ctx context.Context, n, callers int) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(callers, n) {
		group.Go(func() error {
			for next.Add(1) <= int64(n) {
				if _, err := l.request(ctx, 0); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// arrive makes requests at random times with an average rate, equal in each run, and waits for
// all of them.
func (l *load) arrive(ctx context.Context, o options) ([]settled, error) {
	timer, err := precise.Get()
	if err != nil {
		return nil, err
	}
	defer precise.Put(timer)
	var mu sync.Mutex // guards all
	var all []settled
	requests, alive := errgroup.WithContext(ctx)
	random := rand.New(rand.NewPCG(42, 7))
	start := time.Now()
	for due := time.Duration(0); due < o.length && alive.Err() == nil; {
		if err = timer.SleepUntil(start.Add(due)); err != nil {
			break
		}
		requests.Go(func() error {
			s, err := l.request(alive, providerTime)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, s)
			return nil
		})
		due += time.Duration(random.ExpFloat64() * float64(time.Second) / o.rate)
	}
	err = errors.Join(err, requests.Wait(), context.Cause(ctx))
	return all, err
}

// spent returns the cost of all requests.
func (l *load) spent() money.Pico { return money.Times(cost, l.made.Load()) }

// posted waits until every node's ledger has the total cost.
func (l *load) posted(ctx context.Context) error {
	account := id.Account{Kind: id.AccountProvider, Owner: provider}
	return l.world.until(ctx, "all is posted", func() (bool, error) {
		for _, n := range l.world.nodes {
			state, err := n.Account(ctx, account)
			if err != nil {
				return false, err
			}
			owed, spent := state.Total.Neg(), l.spent()
			switch owed.Compare(spent.Total()) {
			case 1:
				return false, fmt.Errorf("%s were spent, and a ledger has %s", spent, owed)
			case -1:
				return false, nil
			}
		}
		return true, nil
	})
}
