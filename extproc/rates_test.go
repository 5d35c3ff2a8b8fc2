package extproc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// limiter counts rates from the kit's beginning.
func limiter(_ *kit, d *pipeline.Deps) { d.Rates = rate.New(epoch()) }

func TestRejectsAboveTheRate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		limits tenancy.Limits
		body   string
		pass   int // how many pass before
		want   headers
	}{
		{"requests", tenancy.Limits{RPM: new(uint32(2))}, hello, 2, headers{
			"retry-after": "30", "x-ratelimit-limit-requests": "2", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m0s",
		}},
		{"tokens", tenancy.Limits{TPM: new(uint32(600))}, with(`"max_tokens":486`), 1, headers{
			"retry-after": "40", "x-ratelimit-limit-tokens": "600", "x-ratelimit-remaining-tokens": "101", "x-ratelimit-reset-tokens": "49.9s",
		}},
		{"parallel requests", tenancy.Limits{MaxParallel: new(uint32(1))}, hello, 1, headers{
			"retry-after": "1", "x-ratelimit-limit-requests": "1", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "0s",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, one(), steady, bounded(test.limits), limiter)
			for range test.pass {
				taken(t, k.open(t), test.body)
			}
			e := k.open(t)
			a := e.ask(test.body).refused
			m := rejectedWith(t, e, a, 429, "rate_limit_exceeded")
			if m.Type != "rate_limit_error" {
				t.Errorf("the type is %s", m.Type)
			}
			for _, name := range []string{"content-type", "x-request-id", "x-gateway-request-id"} {
				delete(a.headers, name)
			}
			if diff := cmp.Diff(test.want, a.headers); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			e.close()
			if n := k.notices(e.uuid); len(n) != 0 {
				t.Errorf("recorded as blocked: %+v", n)
			}
		})
	}
}

// A request that has ended is no longer in flight, and counts the tokens that it used.
func TestReleasesRates(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), steady, bounded(tenancy.Limits{MaxParallel: new(uint32(1)), TPM: new(uint32(1000))}), limiter)
	for _, end := range []func(e *envoy){
		func(e *envoy) { e.answer(jsonAnswer(goodReply)) }, // 12 tokens
		func(e *envoy) { e.answer(failedWith(400, "x", "x")) },
		func(e *envoy) { e.answer(local(refused)) },
	} {
		e := k.open(t)
		taken(t, e, with(`"max_tokens":900`))
		end(e)
	}
	e := k.open(t)
	taken(t, e, hello)
	a := e.answer(jsonAnswer(goodReply))
	if got := a.headers["x-ratelimit-remaining-tokens"]; got != itoa(1000-12-13) {
		t.Errorf("%s tokens remain", got)
	}
}

// Between the soft and the hard budget a key has a share of its rates; without any it
// has a share of its requests.
func TestThrottlesBetweenSoftAndHard(t *testing.T) {
	t.Parallel()
	soft := money.USD / 2
	for _, test := range []struct {
		name   string
		window money.Pico
		rpm    *uint32
		soft   *money.Pico
		factor float64
		want   string // of eight requests, which pass
	}{
		{"below", soft - 1, nil, &soft, 0.25, "yyyyyyyy"},
		{"above", soft, nil, &soft, 0.25, "ynnnynnn"},
		{"half", soft, nil, &soft, 0.5, "ynynynyn"},
		{"off", soft, nil, &soft, 1, "yyyyyyyy"},
		{"no soft budget", soft, nil, nil, 0.25, "yyyyyyyy"},
		{"a rate", soft, new(uint32(12)), &soft, 0.25, "yyynnnnn"},
		{"a rate, below", soft - 1, new(uint32(12)), &soft, 0.25, "yyyyyyyy"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			limits := budget(money.USD)
			limits.SoftBudget, limits.RPM = test.soft, test.rpm
			b := newBank(t, test.window)
			k := newKit(t, one(), steady, bounded(limits), limiter, b.use, func(_ *kit, d *pipeline.Deps) { d.ThrottleFactor = func() float64 { return test.factor } })
			var got strings.Builder
			for range 8 {
				e := k.open(t)
				out := e.ask(hello)
				if out.refused == nil {
					got.WriteByte('y')
					e.answer(failedWith(400, "x", "x")) // costs nothing
					continue
				}
				got.WriteByte('n')
				m := rejectedWith(t, e, out.refused, 429, "rate_limit_exceeded")
				if test.rpm == nil && m.Message != "Throttled: this API key is over its soft budget. Send fewer requests, or have the budget raised." {
					t.Errorf("the rejection says %q", m.Message)
				}
				e.close()
			}
			if got.String() != test.want {
				t.Errorf("of the requests pass %s, want %s", got.String(), test.want)
			}
			k.settled()
		})
	}
}
