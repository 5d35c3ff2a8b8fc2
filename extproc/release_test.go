package extproc

import (
	"context"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// purse is a bank that is closed while err is set. It is used by one stream at a time.
type purse struct {
	*bank
	err error
}

func (p *purse) Reserve(ctx context.Context, bounds []lease.Bound, amounts ...money.Pico) (*lease.Hold, error) {
	if p.err != nil {
		return nil, p.err
	}
	return p.bank.Reserve(ctx, bounds, amounts...)
}

// A request that is rejected before dispatch, for whatever reason, uses no rate: the one
// request that the limits allow is still available.
func TestRejectedRequestsCountNowhere(t *testing.T) {
	t.Parallel()
	const other = `"model":"other"`
	over := &fault.Error{Kind: fault.OverBudget, Code: "budget_exceeded", Err: &lease.Exceeded{Account: keyAccount()}}
	for _, test := range []struct {
		name    string
		refuse  func(k *kit, b *purse) // before
		body    string
		status  int
		allowed func(k *kit, b *purse) // afterwards
	}{
		{"no money left", func(_ *kit, b *purse) { b.err = over }, hello, 429, func(_ *kit, b *purse) { b.err = nil }},
		{
			"nobody knows how much is left", func(_ *kit, b *purse) { b.err = fault.New(fault.Unavailable, "", "no leader") },
			hello, 503, func(_ *kit, b *purse) { b.err = nil },
		},
		{"the limit of the model", nil, strings.Replace(hello, `"model":"fast"`, other, 1), 429, nil},
		{"the provider cannot do that", nil, with(`"n":2`), 400, nil},
		{
			"no deployment", func(k *kit, _ *purse) { k.unacked = clusters(k) },
			hello, 503, func(k *kit, _ *purse) { k.unacked = nil },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			limits := budget(money.USD)
			limits.RPM, limits.MaxParallel = new(uint32(1)), new(uint32(1))
			limits.TPM, limits.TPD = new(uint32(60)), new(uint32(60))
			limits.Models = []tenancy.ModelLimits{{Model: "other", TPM: new(uint32(0))}}
			b := &purse{bank: newBank(t, 0)}
			spec := catalog.Spec{Deployments: []catalog.DeploymentSpec{claude("claude", "fast", 0), place("o", "other", "o", 0)}, Router: quick(0)}
			k := newKit(t, spec, steady, bounded(limits), limiter, func(_ *kit, d *pipeline.Deps) { d.Budgets = b })
			if test.refuse != nil {
				test.refuse(k, b)
			}
			for range 3 {
				e := k.open(t)
				if a := e.ask(test.body).refused; a == nil || a.status != test.status {
					t.Fatalf("the answer is %+v, want %d", a, test.status)
				}
				e.close()
			}
			if test.allowed != nil {
				test.allowed(k, b)
			}
			b.free(t, money.USD)
			e := k.open(t)
			taken(t, e, hello)
			a := e.answer(jsonAnswer(`{"id":"m","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":3}}`))
			if got := a.headers["x-ratelimit-remaining-tokens"]; got != itoa(60-13) {
				t.Errorf("%s tokens remain of 60", got)
			}
			k.settled()
		})
	}
}

// clusters are all that Envoy may be asked for.
func clusters(k *kit) []string {
	var out []string
	for _, d := range k.catalog.Deployments() {
		out = append(out, contract.ClusterName(d.Endpoint.ID, contract.Bare))
	}
	return out
}

// A dispatched request counts as one request, whatever its outcome; its tokens and its place
// among the parallel requests are released.
func TestDispatchedRequestsCount(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), steady, bounded(tenancy.Limits{RPM: new(uint32(1)), TPM: new(uint32(60)), MaxParallel: new(uint32(1))}), limiter)
	e := k.open(t)
	taken(t, e, hello)
	e.answer(local(refused)) // nobody was reached
	e = k.open(t)
	a := e.ask(hello).refused
	rejectedWith(t, e, a, 429, "rate_limit_exceeded")
	if got := a.headers["x-ratelimit-limit-requests"]; got != "1" || a.headers["retry-after"] != "60" {
		t.Errorf("the rejection says %v", a.headers)
	}
	e.close()
}

// A request that the budget rejects does not use the share of a throttled account.
func TestRejectionKeepsTheThrottledShare(t *testing.T) {
	t.Parallel()
	soft := money.USD / 2
	limits := budget(money.USD)
	limits.SoftBudget = &soft
	b := newBank(t, soft)
	k := newKit(t, one(), steady, bounded(limits), limiter, b.use, func(_ *kit, d *pipeline.Deps) { d.ThrottleFactor = func() float64 { return 0.25 } })
	ask := func(body string) string {
		e := k.open(t)
		out := e.ask(body)
		if out.refused == nil {
			e.answer(failedWith(400, "x", "x")) // costs nothing
			return "passes"
		}
		e.close()
		if out.refused.headers["x-should-retry"] == "false" {
			return "no money"
		}
		return "throttled"
	}
	dear := with(`"n":50,"max_tokens":4096`)
	for i, step := range []struct{ body, want string }{
		{hello, "passes"},
		{hello, "throttled"},
		{hello, "throttled"},
		{dear, "no money"}, // a throttling error would invite a useless retry
		{hello, "throttled"},
		{hello, "passes"},
		{dear, "no money"},
		{hello, "throttled"},
		{hello, "throttled"},
	} {
		if got := ask(step.body); got != step.want {
			t.Errorf("request %d: %s, want %s", i+1, got, step.want)
		}
	}
}
