package extproc

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// atLimit checks that a request is rejected for a limit of requests in flight.
func (k *kit) atLimit(t *testing.T, scope string) {
	t.Helper()
	e := k.open(t)
	a := e.ask(hello).refused
	m := rejectedWith(t, e, a, 429, "rate_limit_exceeded")
	if a.headers["retry-after"] != "1" || m.Type != "rate_limit_error" || m.Details["scope"] != scope || m.Details["limit_type"] != "parallel" {
		t.Errorf("rejected with %+v, retry-after %s", m, a.headers["retry-after"])
	}
	e.close()
}

// narrow has one deployment that serves one request at a time.
func narrow() catalog.Spec {
	spec := one()
	spec.Deployments[0].MaxParallel = 1
	return spec
}

// limitedTo bounds the requests in flight at the node.
func limitedTo(n int64) change { return func(_ *kit, d *pipeline.Deps) { d.Settings.MaxParallel = n } }

// TestSlotsAreReleasedOnce: however a request ends, it held the only slot until then,
// and there is exactly one slot afterwards.
func TestSlotsAreReleasedOnce(t *testing.T) {
	t.Parallel()
	whole := func(c came) func(k *kit, e *envoy) {
		return func(_ *kit, e *envoy) { e.answer(c) }
	}
	for _, scope := range []string{"deployment", "gateway"} {
		for _, end := range []struct {
			name string
			body string
			end  func(k *kit, e *envoy)
		}{
			{"answered", hello, whole(jsonAnswer(goodReply))},
			{"rejected by the provider", hello, whole(failedWith(400, "x", "x"))},
			{"not understood", hello, whole(jsonAnswer(`{"object":`))},
			{"timed out", hello, whole(local(timedOut))},
			{"not connected", hello, whole(local(refused))},
			{"streamed", streaming(), func(_ *kit, e *envoy) {
				relayed(t, e, streaming(), text("hi"), stop(), reported(), "data: [DONE]\n\n")
			}},
			{"the caller left", hello, func(_ *kit, e *envoy) { e.quit() }},
			{"the caller left within the stream", streaming(), func(_ *kit, e *envoy) {
				e.head(streamAnswer())
				e.begun(streamAnswer())
				e.piece(text("hi"))
				e.out(text("hi"))
				e.quit()
			}},
			{"the provider broke off", streaming(), func(k *kit, e *envoy) {
				e.head(streamAnswer())
				e.begun(streamAnswer())
				k.attempt(e.uuid, 1, 200, cut())
				e.leave()
			}},
			{"Envoy died", hello, func(k *kit, e *envoy) {
				k.server.live.each((*pipeline.Exchange).Unlogged)
				e.leave()
			}},
		} {
			t.Run(scope+"/"+end.name, func(t *testing.T) {
				t.Parallel()
				k := newKit(t, narrow())
				if scope == "gateway" {
					k = newKit(t, one(), limitedTo(1))
				}
				e := k.open(t)
				if end.name != "streamed" { // relayed sends the request itself
					taken(t, e, end.body)
					k.atLimit(t, scope)
				}
				end.end(k, e)
				k.settled()

				next := k.open(t)
				taken(t, next, hello)
				k.atLimit(t, scope)
				next.answer(jsonAnswer(goodReply))
				k.settled()
			})
		}
	}
}

// TestSlotsOfRejectedRequests: a request that is rejected after its slot was reserved
// does not keep it.
func TestSlotsOfRejectedRequests(t *testing.T) {
	t.Parallel()
	b := &purse{bank: newBank(t, 0), err: &fault.Error{Kind: fault.OverBudget, Code: "budget_exceeded", Err: &lease.Exceeded{Account: keyAccount()}}}
	k := newKit(t, narrow(), steady, bounded(budget(money.USD)), func(_ *kit, d *pipeline.Deps) { d.Budgets = b }, limitedTo(1))
	for range 3 {
		e := k.open(t)
		rejectedWith(t, e, e.ask(hello).refused, 429, "budget_exceeded")
		e.close()
		k.settled()
	}
	b.err = nil
	e := k.open(t)
	taken(t, e, hello)
	e.answer(jsonAnswer(goodReply))
	k.settled()
}

// TestSlotIsFreeBeforeTheCallerIsDone: a caller that sends one request after the other
// is not rejected because Envoy has yet to end the stream of the one before.
func TestSlotIsFreeBeforeTheCallerIsDone(t *testing.T) {
	t.Parallel()
	k := newKit(t, narrow(), limitedTo(1))
	first := k.open(t)
	taken(t, first, hello)
	first.head(jsonAnswer(goodReply))
	first.piece(goodReply, last)
	first.begun(jsonAnswer(goodReply))
	second := k.open(t)
	taken(t, second, hello)
	second.answer(jsonAnswer(goodReply))
	first.out(goodReply)
	first.close()
	k.settled()
}

// TestSkipsFullDeployments: requests go to deployments with a free slot, then to
// the fallback, then nowhere.
func TestSkipsFullDeployments(t *testing.T) {
	t.Parallel()
	spec := trio()
	for i := range spec.Deployments {
		spec.Deployments[i].MaxParallel = int64(1 + i%2) // a: 1, b: 2, c: 1
	}
	k := newKit(t, spec)
	var open []*envoy
	for i, want := range []string{"a", "b", "b", "c"} { // c is the fallback
		e := k.open(t)
		out := taken(t, e, hello)
		if out.plan[0] != k.cluster(t, want, contract.Bare) {
			t.Fatalf("request %d goes to %v, want %s first", i, out.plan, want)
		}
		open = append(open, e)
	}
	k.atLimit(t, "deployment")
	a := open[3].answer(jsonAnswer(goodReply))
	if a.headers["x-gateway-model-id"] != "c" || a.headers["x-gateway-attempted-fallbacks"] != "1" {
		t.Errorf("the fallback's response says %v", a.headers)
	}
	if f := k.event(open[3].uuid).Fallbacks; len(f) != 1 || f[0].ErrorCode != "rate_limit_exceeded" || f[0].To != "other" {
		t.Errorf("the fallback is recorded as %+v", f)
	}
	open[0].answer(jsonAnswer(goodReply))
	e := k.open(t)
	if out := taken(t, e, hello); out.plan[0] != k.cluster(t, "a", contract.Bare) {
		t.Errorf("with a slot free again, the request goes to %v", out.plan)
	}
	for _, e := range append(open[1:3], e) {
		e.answer(jsonAnswer(goodReply))
	}
	k.settled()
}

// TestOwnLimitOverridesTheDefault: the router's default bounds deployments that have
// no limit of their own.
func TestOwnLimitOverridesTheDefault(t *testing.T) {
	t.Parallel()
	spec := narrow()
	spec.Deployments[0].MaxParallel = 2
	spec.Deployments = append(spec.Deployments, place("b", "other", "m", 0))
	spec.Router.DefaultMaxParallel = new(1)
	k := newKit(t, spec)
	for model, want := range map[string]int64{"solo": 2, "b": 1} {
		if d, _ := k.catalog.Deployment(id.Deployment(model)); d.MaxParallel != want {
			t.Errorf("%s has the limit %d, want %d", model, d.MaxParallel, want)
		}
	}
	next := spec.Router
	next.DefaultMaxParallel = new(7)
	c, err := k.catalog.WithRouter(next)
	if err != nil {
		t.Fatal(err)
	}
	if d, _ := c.Deployment("b"); d.MaxParallel != 7 {
		t.Errorf("after the change of the default: %d", d.MaxParallel)
	}
}

// TestAttemptsHoldTheSlotOfTheirDeployment: a retry or fallback releases the slot of
// the deployment that failed and reserves that of its own, and waits for it.
func TestAttemptsHoldTheSlotOfTheirDeployment(t *testing.T) {
	t.Parallel()
	spec := trio()
	for i := range spec.Deployments {
		spec.Deployments[i].MaxParallel = 1
		spec.Deployments[i].Timeout = time.Minute
	}
	k := newKit(t, spec)
	one := k.open(t)
	taken(t, one, hello) // at a, then b, a, c
	two := k.open(t)
	taken(t, two, hello) // at b

	k.attempt(one.uuid, 1, 500, nil)
	retry := k.openAs(t, one.uuid, contract.RoleRewrite)
	retried := make(chan *outgoing, 1)
	var group sync.WaitGroup
	group.Go(func() { retried <- retry.upstreamHead(2, plainHeaders(one.uuid)) })
	// It releases the slot at a before it waits for the one at b.
	end, ok := k.cooldown.Await(t.Context(), "a", 1)
	if !ok {
		t.Fatal("the slot at a is not released")
	}
	end()
	if len(retried) > 0 {
		t.Error("the retry does not wait for the slot at b")
	}
	two.answer(jsonAnswer(goodReply))
	group.Wait()
	if out := <-retried; out == nil || out.headers[":authority"] != "b.example" {
		t.Fatalf("the retry goes out as %+v", out)
	}
	retry.wait()
	retry.cancel()
	if a, b := k.cooldown.InFlight("a"), k.cooldown.InFlight("b"); a != 0 || b != 1 {
		t.Errorf("%d requests in flight at a, %d at b", a, b)
	}
	k.attempt(one.uuid, 2, 500, nil)
	if out := k.again(t, one.uuid, 3); out == nil || out.headers[":authority"] != "a.example" {
		t.Errorf("the third attempt goes out as %+v", out)
	}
	if a, b := k.cooldown.InFlight("a"), k.cooldown.InFlight("b"); a != 1 || b != 0 {
		t.Errorf("%d requests in flight at a, %d at b", a, b)
	}
	c := jsonAnswer(goodReply)
	c.attempt = 3
	one.answer(c)
	k.settled()
}

// TestARetryAtTheSameDeploymentKeepsItsSlot: with its only slot it does not wait for itself.
func TestARetryAtTheSameDeploymentKeepsItsSlot(t *testing.T) {
	t.Parallel()
	spec := narrow()
	spec.Router = quick(1)
	spec.Router.Fallbacks = []map[string][]string{{"fast": {"other"}}}
	spec.Deployments = append(spec.Deployments, place("c", "other", "m", 0))
	k := newKit(t, spec)
	e := k.open(t)
	taken(t, e, hello)
	k.attempt(e.uuid, 1, 500, nil)
	if out := k.again(t, e.uuid, 2); out == nil || out.headers[":authority"] != "solo.example" {
		t.Fatalf("the retry goes out as %+v", out)
	}
	k.atLimitOf(t, "solo", 1)
	e.answer(came{status: 200, attempt: 2, headers: jsonAnswer().headers, pieces: []string{goodReply}})
	k.settled()
}

// atLimitOf checks how many requests are in flight at a deployment.
func (k *kit) atLimitOf(t *testing.T, d id.Deployment, want int64) {
	t.Helper()
	if n := k.cooldown.InFlight(d); n != want {
		t.Errorf("%d requests in flight at %s, want %d", n, d, want)
	}
}

// TestARetryWithoutASlotEndsTheRequest: a retry at a deployment that stays full is
// never sent. The caller gets a 429, the attempt is not charged, and the deployment,
// which did nothing wrong, is not in cooldown.
func TestARetryWithoutASlotEndsTheRequest(t *testing.T) {
	t.Parallel()
	spec := trio()
	spec.Deployments[1].MaxParallel = 1
	spec.Deployments[1].Timeout = 20 * time.Millisecond
	k := newKit(t, spec)
	one := k.open(t)
	taken(t, one, hello)
	end, ok := k.cooldown.TryBegin("b", 1)
	if !ok {
		t.Fatal("b is full")
	}
	k.attempt(one.uuid, 1, 500, nil)
	out := k.again(t, one.uuid, 2)
	if out == nil || out.refused == nil || out.refused.status != http.StatusTooManyRequests {
		t.Fatalf("the retry becomes %+v", out)
	}
	// Envoy passes that on, as an answer of its own.
	a := one.answer(came{status: 429, attempt: 2, details: "ext_proc_immediate", headers: []string{"content-type", "application/json"}, pieces: []string{out.refused.body}})
	m := callerErrorOf(t, a.body)
	if a.status != 429 || m.Code != "rate_limit_exceeded" || a.headers["retry-after"] != "1" {
		t.Errorf("the caller gets %d %+v", a.status, m)
	}
	events := k.events(one.uuid)
	if len(events) != 1 || events[0].Deployment != "a" {
		t.Errorf("attempts on record: %+v", events)
	}
	if _, resting := k.cooldown.InCooldown("b", k.now()); resting {
		t.Error("b is in cooldown")
	}
	k.atLimitOf(t, "b", 1)
	end()
	k.settled()
}

// TestNeverAboveTheLimit has many requests at once at deployments with limits.
func TestNeverAboveTheLimit(t *testing.T) {
	t.Parallel()
	spec := trio()
	for i := range spec.Deployments {
		spec.Deployments[i].MaxParallel = 3
	}
	k := newKit(t, spec)
	var group sync.WaitGroup
	var mu sync.Mutex
	served, rejected := 0, 0
	for range 40 {
		group.Go(func() {
			e := k.open(t)
			out := e.ask(hello)
			for _, d := range []id.Deployment{"a", "b", "c"} {
				if n := k.cooldown.InFlight(d); n > 3 {
					t.Errorf("%d requests in flight at %s", n, d)
				}
			}
			if out.refused == nil {
				e.answer(jsonAnswer(goodReply))
			} else {
				e.close()
			}
			mu.Lock()
			defer mu.Unlock()
			if out.refused == nil {
				served++
			} else {
				rejected++
			}
		})
	}
	group.Wait()
	if served < 9 {
		t.Errorf("%d were served, %d rejected", served, rejected)
	}
	k.settled()
}
