package extproc

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// keyAccount is the account of appKey.
func keyAccount() id.Account {
	hash := id.HashKey(appKey)
	return id.Account{Kind: id.AccountKey, Owner: hex.EncodeToString(hash[:])}
}

// bounded gives appKey limits.
func bounded(l tenancy.Limits) change {
	return func(k *kit, d *pipeline.Deps) {
		set, err := tenancy.New([]tenancy.Key{{Alias: "app", Hash: id.HashKey(appKey), Limits: l, Aliases: map[string]string{"nickname": "fast"}}}, vault.Secret{})
		if err != nil {
			k.tb.Fatal(err)
		}
		view := &cluster.View{Revision: 1, Catalog: k.catalog, Keys: set, Prompts: prompts.New()}
		d.View = func() *cluster.View { return view }
	}
}

// budget is limits with an amount of money.
func budget(most money.Pico) tenancy.Limits { return tenancy.Limits{MaxBudget: &most} }

// bank grants this node all that is left of every budget.
type bank struct {
	manager *lease.Manager
	most    money.Pico // of every account: a dollar
	window  money.Pico // spent of every account

	mu       sync.Mutex
	reserved []money.Pico // what was asked for, in turn
}

func newBank(tb testing.TB, window money.Pico) *bank {
	tb.Helper()
	b := &bank{most: money.USD, window: window}
	b.manager = lease.New(lease.Config{
		Node: "bank",
		Load: func(id.Account) (lease.State, error) { return b.state(), nil },
		Move: func(_ context.Context, m *clusterv1.MoveLeases) error { return b.move(m) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- b.manager.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			tb.Error(err)
		}
	})
	return b
}

func (b *bank) state() lease.State {
	return lease.State{Window: b.window, Epoch: 3, Left: b.most - b.window, Max: b.most, Bounded: true}
}

// move grants nothing more.
func (b *bank) move(m *clusterv1.MoveLeases) error {
	for _, ask := range m.GetAsks() {
		a := ask.GetAccount()
		b.manager.Applied(id.Account{Kind: id.AccountKind(a.GetKind()), Owner: a.GetOwner(), Part: a.GetPart()}, b.state(), 0)
	}
	return nil
}

// Reserve notes the amount.
func (b *bank) Reserve(ctx context.Context, bounds []lease.Bound, amounts ...money.Pico) (*lease.Hold, error) {
	b.mu.Lock()
	b.reserved = append(b.reserved, amounts...)
	b.mu.Unlock()
	return b.manager.Reserve(ctx, bounds, amounts...)
}

func (b *bank) Check(ctx context.Context, bounds []lease.Bound) error {
	return b.manager.Check(ctx, bounds)
}

func (b *bank) Spent(a id.Account) (lease.State, money.Pico, bool) { return b.manager.Spent(a) }

// use makes a pipeline use the bank.
func (b *bank) use(_ *kit, d *pipeline.Deps) { d.Budgets = b }

// free checks how much of a key's budget is neither spent nor set aside.
func (b *bank) free(tb testing.TB, want money.Pico) {
	tb.Helper()
	bounds := []lease.Bound{{Account: keyAccount(), Max: b.most, Bounded: true}}
	hold, err := b.manager.Reserve(context.Background(), bounds, want)
	if err != nil {
		tb.Fatalf("less than %s is free: %v", want, err)
	}
	hold.Cancel()
	if hold, err = b.manager.Reserve(context.Background(), bounds, want+1); err == nil {
		hold.Cancel()
		tb.Errorf("more than %s is free", want)
	}
}

// helloCost is what hello costs by the provider's report: 9 tokens in, 3 out.
const helloCost = 39 * money.USD / 1_000_000

// helloMost is what is reserved for it: 13 tokens in, which is the bound of its 8, and
// 1,024 out for a caller that does not set how many.
const helloMost = (13 + 10*1024) * money.USD / 1_000_000

// However the request ends, its reservation is released, except its cost.
func TestReleasesWhatItDidNotSpend(t *testing.T) {
	t.Parallel()
	unreachable := func(k *kit, e *envoy) { e.answer(local(refused)) }
	for _, test := range []struct {
		name string
		end  func(k *kit, e *envoy)
		cost money.Pico
	}{
		{"success", func(_ *kit, e *envoy) { e.answer(jsonAnswer(goodReply)) }, helloCost},
		{"failure", func(_ *kit, e *envoy) { e.answer(failedWith(400, "x", "x")) }, 0},
		{"garbage", func(_ *kit, e *envoy) {
			c := jsonAnswer("<html>")
			c.headers = []string{"content-type", "text/html"}
			e.answer(c)
		}, -1},
		{"the provider was not reached", unreachable, 0},
		{"the caller leaves", func(_ *kit, e *envoy) { e.quit() }, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBank(t, 0)
			k := newKit(t, one(), bounded(budget(money.USD)), b.use)
			e := k.open(t)
			taken(t, e, hello)
			if diff := cmp.Diff([]money.Pico{helloMost}, b.reserved); diff != "" {
				t.Errorf("reserved (-want +got):\n%s", diff)
			}
			b.free(t, money.USD-helloMost)
			test.end(k, e)
			cost := test.cost
			if cost < 0 {
				cost = k.event(e.uuid).Cost
			}
			b.free(t, money.USD-cost)
			k.settled()
		})
	}
}

// watched is a journal that shows the test each event first.
type watched struct {
	pipeline.Journal
	settle func()
}

func (w watched) Settle(intents []*journal.Pending, events []journal.Event) *journal.Pending {
	w.settle()
	return w.Journal.Settle(intents, events)
}

// The journal has the cost before the reservation ends: otherwise the money could be spent
// twice in between.
func TestKeepsTheReservationUntilTheCostIsQueued(t *testing.T) {
	t.Parallel()
	b := newBank(t, 0)
	looked := false
	k := newKit(t, one(), bounded(budget(money.USD)), b.use, func(_ *kit, d *pipeline.Deps) {
		d.Journal = watched{d.Journal, func() {
			looked = true
			b.free(t, money.USD-helloMost)
		}}
	})
	e := k.open(t)
	taken(t, e, hello)
	e.answer(jsonAnswer(goodReply))
	if !looked {
		t.Error("nothing was settled")
	}
	b.free(t, money.USD-helloCost)
}

// A request that is rejected after its budget was reserved leaves no reservation.
func TestReleasesIfDispatchFails(t *testing.T) {
	t.Parallel()
	b := newBank(t, 0)
	k := newKit(t, one(), bounded(budget(money.USD)), b.use, func(_ *kit, d *pipeline.Deps) { d.Settings.SyncBeforeDispatch = true })
	k.gate.close()
	e := k.open(t)
	if refused := e.requestHeaders(plainHeaders(e.uuid, "x-api-key", appKey)); refused != nil {
		t.Fatal(refused.body)
	}
	e.requestBody(hello)
	<-k.gate.reached // the intent is not on the disk, so nothing goes out
	if len(b.reserved) != 1 {
		t.Fatalf("reserved: %v", b.reserved)
	}
	e.leave()
	k.gate.open()
	b.free(t, money.USD)
	notAsked(t, k)
}

// The amount is the input of each attempt and the most expensive output, with as many
// choices and tokens as the caller allows, within reason.
func TestReservesWhatARequestMayCost(t *testing.T) {
	t.Parallel()
	dear := place("dear", "other", "model-c", 0)
	dear.Prices = map[string]string{"input_cost_per_token": "0.000002", "output_cost_per_token": "0.00003"}
	spec := trio()
	spec.Deployments[2] = dear
	flex := one()
	flex.Deployments[0].Prices["output_cost_per_token_flex"] = "0.000005"
	for _, test := range []struct {
		name, body string
		spec       catalog.Spec
		want       money.Pico // in millionths of a dollar, of the whole plan
	}{
		{"nothing said", hello, one(), 13 + 10*1024},
		{"tokens said", with(`"max_tokens":100`), one(), 13 + 10*100},
		{"the larger of two", with(`"max_tokens":100,"max_completion_tokens":200`), one(), 13 + 10*200},
		{"more than anybody writes", with(`"max_tokens":100000`), one(), 13 + 10*4096},
		{"choices", with(`"n":3,"max_tokens":100`), one(), 13 + 10*300},
		{"tools", with(`"tools":[{"type":"function","function":{"name":"f"}}]`), one(), 22 + 10*1024},
		{"every attempt's input and the most expensive answer", hello, spec, 13 + 13 + 13 + 2*13 + 30*1024},
		{"retries at one deployment", hello, catalog.Spec{Deployments: one().Deployments, Router: quick(2)}, 3*13 + 10*1024},
		{"a cheaper tier may not be served", with(`"service_tier":"flex"`), flex, 13 + 10*1024},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBank(t, 0)
			k := newKit(t, test.spec, bounded(budget(money.USD)), b.use)
			e := k.open(t)
			taken(t, e, test.body)
			b.free(t, money.USD-test.want*money.USD/1_000_000)
			e.quit()
		})
	}
}

// Every attempt that reached its provider says by which bounds it was admitted, and
// the cost of all of them is the key's.
func TestChargesEveryAttempt(t *testing.T) {
	t.Parallel()
	b := newBank(t, 0)
	soft := money.USD / 2
	limits := budget(money.USD)
	limits.SoftBudget = &soft
	k := newKit(t, trio(), bounded(limits), b.use)
	e := k.open(t)
	taken(t, e, hello)
	k.attempt(e.uuid, 1, 0, cut())
	k.again(t, e.uuid, 2)
	c := jsonAnswer(goodReply)
	c.attempt = 2
	e.answer(c)
	events := k.recorded(e.uuid)
	if len(events) != 2 {
		t.Fatalf("%d events", len(events))
	}
	want := []usage.Charge{{Kind: id.AccountKey, Epoch: 3, Soft: soft, Max: money.USD, Bounded: true}}
	if diff := cmp.Diff([][]usage.Charge{want, want}, [][]usage.Charge{events[0].Charges, events[1].Charges}); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
	if events[0].Cost == 0 || events[0].Final || !events[1].Final {
		t.Errorf("the first costs %s; final: %v, %v", events[0].Cost, events[0].Final, events[1].Final)
	}
	b.free(t, money.USD-events[0].Cost-events[1].Cost)
}

// The limits of a model apply to its aliases, and a limit of an alias applies to its model.
func TestLimitsOfAModelHoldForItsAliases(t *testing.T) {
	t.Parallel()
	spec := one()
	spec.Deployments = append(spec.Deployments, place("wild", "openai/*", "*", 0))
	spec.Router.ModelGroupAlias = map[string]string{"router": "fast", "wide": "openai/gpt-4o"}
	for group, names := range map[string][]string{
		"fast":          {"fast", "nickname", "router"},
		"openai/gpt-4o": {"openai/gpt-4o", "wide"},
	} {
		for _, limited := range names {
			k := newKit(t, spec, bounded(tenancy.Limits{Models: []tenancy.ModelLimits{{Model: limited, RPM: new(uint32(1))}}}), func(k *kit, d *pipeline.Deps) { d.Rates = rate.New(epoch()) })
			for i, name := range names {
				e := k.open(t)
				body := strings.Replace(hello, "fast", name, 1)
				if i > 0 {
					rejectedWith(t, e, e.ask(body).refused, 429, "rate_limit_exceeded")
					e.close()
					continue
				}
				taken(t, e, body)
				e.answer(jsonAnswer(goodReply))
				if ev := k.event(e.uuid); string(ev.Group) != group {
					t.Errorf("recorded as %s, want %s", ev.Group, group)
				}
			}
			e := k.open(t) // another model is not limited
			taken(t, e, strings.Replace(hello, "fast", "openai/other", 1))
			e.quit()
		}
	}
}

func TestRejectsModelsWithoutAPrice(t *testing.T) {
	t.Parallel()
	free := place("free", "fast", "no-such-model", 0)
	free.Prices = nil
	spec := trio()
	spec.Deployments[0] = free
	lone := catalog.Spec{Deployments: []catalog.DeploymentSpec{free}, Router: quick(0)}
	for _, test := range []struct {
		name  string
		spec  catalog.Spec
		limit tenancy.Limits
		want  []string // empty: refused
	}{
		{"a budget and one without a price", lone, budget(money.USD), nil},
		{"no budget", lone, tenancy.Limits{BudgetDuration: "1d"}, []string{"free"}},
		{"others have one", spec, budget(money.USD), []string{"b", "b", "b", "c~"}},
		{"others, and no budget", spec, tenancy.Limits{BudgetDuration: "1d"}, []string{"free", "b~", "free~", "c~"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBank(t, 0)
			k := newKit(t, test.spec, bounded(test.limit), b.use)
			e := k.open(t)
			out := e.ask(hello)
			if test.want == nil {
				m := rejectedWith(t, e, out.refused, 403, "model_price_unknown")
				if !strings.Contains(m.Message, "fast") || !strings.Contains(m.Message, "input_cost_per_token") || !strings.Contains(m.Message, "base_model") {
					t.Errorf("the error %q does not say what to do", m.Message)
				}
				e.close()
				b.free(t, money.USD)
				return
			}
			if out.refused != nil {
				t.Fatal(out.refused.body)
			}
			if len(out.plan) != len(test.want) {
				t.Errorf("plan %v, want %v", out.plan, test.want)
			}
			e.quit()
		})
	}
}

// broke is an unavailable bank.
type broke struct{ err error }

func (b broke) Reserve(context.Context, []lease.Bound, ...money.Pico) (*lease.Hold, error) {
	return nil, b.err
}
func (b broke) Check(context.Context, []lease.Bound) error     { return b.err }
func (broke) Spent(id.Account) (lease.State, money.Pico, bool) { return lease.State{}, 0, false }

func TestReportsExhaustedBudgets(t *testing.T) {
	resets := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	over := &lease.Exceeded{Account: keyAccount(), Epoch: 7, Max: money.USD, Spent: money.USD, Resets: resets}
	for _, test := range []struct {
		name   string
		err    error
		status int
		code   string
		want   headers
	}{
		{
			"used up until it begins again",
			&fault.Error{Kind: fault.OverBudget, Code: "budget_exceeded", RetryAfter: 90 * time.Second, NoRetry: true, Err: over},
			429, "budget_exceeded",
			headers{"retry-after": "90", "x-should-retry": "false", "x-gateway-budget-reset-at": "2026-12-01T00:00:00Z"},
		},
		{
			"used up for good",
			&fault.Error{Kind: fault.OverBudget, Code: "budget_exceeded", Err: &lease.Exceeded{Account: keyAccount()}},
			429, "budget_exceeded",
			headers{"retry-after": "3600", "x-should-retry": "false"},
		},
		{
			"held by requests under way",
			&fault.Error{Kind: fault.OverBudget, Code: "budget_exceeded", RetryAfter: time.Second, Err: &lease.Exceeded{Account: keyAccount(), Epoch: 7, Resets: resets, Held: true}},
			429, "budget_exceeded",
			headers{"retry-after": "1", "x-gateway-budget-reset-at": "2026-12-01T00:00:00Z"},
		},
		{
			"nobody can say", &fault.Error{Kind: fault.Unavailable, Code: "budget_unavailable", RetryAfter: time.Second},
			503, "budget_unavailable",
			headers{"retry-after": "1"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			limits := budget(money.USD)
			limits.MaxParallel = new(uint32(1))
			limiter := rate.New(epoch())
			k := newKit(t, one(), bounded(limits), func(_ *kit, d *pipeline.Deps) { d.Budgets, d.Rates = broke{test.err}, limiter })
			for range 3 { // the rates are released each time
				e := k.open(t)
				a := e.ask(hello).refused
				m := rejectedWith(t, e, a, test.status, test.code)
				if test.status == 429 && m.Type != "budget_exceeded" {
					t.Errorf("the type is %s", m.Type)
				}
				for _, name := range []string{"content-type", "x-request-id", "x-gateway-request-id"} {
					delete(a.headers, name)
				}
				if diff := cmp.Diff(test.want, a.headers); diff != "" {
					t.Errorf("headers (-want +got):\n%s", diff)
				}
				e.close()
			}
			notices := k.notices("")
			exceeded, of := errors.AsType[*lease.Exceeded](test.err)
			switch {
			case test.status == 503 && len(notices) != 0:
				t.Errorf("recorded as blocked: %+v", notices)
			case of && exceeded.Held: // only reservations exhaust the budget
				if len(notices) != 3 || notices[0].Notice.Account != (id.Account{}) {
					t.Errorf("recorded %+v", notices)
				}
				return
			case test.status == 429 && (len(notices) != 3 || notices[0].Notice.Account != keyAccount() || notices[0].Notice.Code != test.code):
				t.Errorf("recorded %+v", notices)
			}
			if of && notices[0].Notice.AccountEpoch != exceeded.Epoch {
				t.Errorf("recorded of window %d", notices[0].Notice.AccountEpoch)
			}
		})
	}
}

// A successful response reports how much is left of the tightest rates and of the key's budget.
func TestReportsRemainingLimits(t *testing.T) {
	t.Parallel()
	limits := budget(money.USD)
	limits.RPM, limits.TPM = new(uint32(60)), new(uint32(1000))
	b := newBank(t, money.USD/4)
	k := newKit(t, one(), bounded(limits), b.use, func(_ *kit, d *pipeline.Deps) { d.Rates = rate.New(epoch()) })
	e := k.open(t)
	taken(t, e, with(`"max_tokens":90`))
	a := e.answer(jsonAnswer(goodReply))
	got := headers{}
	for name, value := range a.headers {
		if strings.HasPrefix(name, "x-ratelimit-") || strings.HasPrefix(name, "x-gateway-key-") {
			got[name] = value
		}
	}
	want := headers{
		"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s",
		"x-ratelimit-limit-tokens": "1000", "x-ratelimit-remaining-tokens": "897", "x-ratelimit-reset-tokens": "6.18s",
		"x-gateway-key-max-budget": "1", "x-gateway-key-spend": "0.250039",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
