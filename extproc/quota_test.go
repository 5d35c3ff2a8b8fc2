package extproc

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/extproc/inflight"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// room bounds the bytes in flight: a key may have a quarter.
func room(k *kit, d *pipeline.Deps) {
	d.Bytes = inflight.New(4000)
	d.Settings.MaxRequestBytes = 1000
	k.bytes = d.Bytes
}

// declared are a request's headers with the length of its body.
func declared(e *envoy, length string) []string {
	return plainHeaders(e.uuid, "authorization", "Bearer "+appKey, "content-length", length)
}

// What the headers suffice to reject is rejected before the body: none is sent here.
func TestRejectsOnTheHeaders(t *testing.T) {
	t.Parallel()
	one32 := new(uint32(1))
	for _, test := range []struct {
		name   string
		limits tenancy.Limits
		before int // requests that are let in and wait for their bodies
		length string
		status int
		code   string
	}{
		{"no budget", budget(0), 0, "10", 429, "budget_exceeded"},
		{"no requests left", tenancy.Limits{RPM: one32}, 1, "10", 429, "rate_limit_exceeded"},
		{"no place left", tenancy.Limits{MaxParallel: one32}, 1, "10", 429, "rate_limit_exceeded"},
		{"too large", tenancy.Limits{}, 0, "1001", 413, "request_too_large"},
		{"the share of the key", tenancy.Limits{}, 2, "400", 429, "request_bytes_exceeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBank(t, 0)
			k := newKit(t, one(), steady, bounded(test.limits), limiter, b.use, room)
			var waiting []*envoy
			for range test.before {
				e := k.open(t)
				if a := e.requestHeaders(declared(e, test.length)); a != nil {
					t.Fatalf("rejected: %s", a.body)
				}
				waiting = append(waiting, e)
			}
			e := k.open(t)
			rejectedWith(t, e, e.requestHeaders(declared(e, test.length)), test.status, test.code)
			e.close()
			for _, e := range waiting { // they leave without having sent a body
				e.leave()
			}
			if n := k.bytes.Held(); n != 0 {
				t.Errorf("%d bytes are in flight when nothing is", n)
			}
			if test.before == 0 {
				return
			}
			e = k.open(t)
			taken(t, e, hello, "content-length", itoa(len(hello)))
			e.answer(jsonAnswer(goodReply))
			k.settled()
		})
	}
}

// One request is counted once, on its headers, and its place is free when it has ended.
func TestCountsARequestOnce(t *testing.T) {
	t.Parallel()
	limits := tenancy.Limits{RPM: new(uint32(5)), MaxParallel: new(uint32(2)), TPM: new(uint32(1000))}
	k := newKit(t, one(), steady, bounded(limits), limiter, room)
	for i := range 5 {
		e := k.open(t)
		taken(t, e, hello)
		if n := k.bytes.Held(); n != int64(len(hello)) {
			t.Errorf("%d bytes are in flight, want %d", n, len(hello))
		}
		a := e.answer(jsonAnswer(goodReply))
		if got := a.headers["x-ratelimit-remaining-requests"]; got != itoa(4-i) {
			t.Errorf("%s requests remain of 5 after %d", got, i+1)
		}
	}
	e := k.open(t)
	rejectedWith(t, e, e.ask(hello).refused, 429, "rate_limit_exceeded")
	e.close()
	if n := k.bytes.Held(); n != 0 {
		t.Errorf("%d bytes are in flight when nothing is", n)
	}
}

// A budget that is spent while others still have money rejects on the headers, too.
func TestASpentBudgetRejectsOnTheHeaders(t *testing.T) {
	t.Parallel()
	b := newBank(t, money.USD)
	k := newKit(t, one(), bounded(budget(money.USD)), b.use)
	e := k.open(t)
	a := e.requestHeaders(declared(e, "10"))
	rejectedWith(t, e, a, 429, "budget_exceeded")
	if a.headers["x-should-retry"] != "false" {
		t.Errorf("no header tells SDKs to stop: %v", a.headers)
	}
	e.close()
	if n := len(k.notices(e.uuid)); n != 1 {
		t.Errorf("%d notices, want one that the request was blocked", n)
	}
}
