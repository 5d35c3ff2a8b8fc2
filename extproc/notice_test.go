package extproc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// Blocked requests are recorded, with their caller as far as it is known.
func TestRecordsBlockedRequests(t *testing.T) {
	path := `{"path":"/v1/chat/completions"}`
	own := newKit(t, one())
	their := newKit(t, catalog.Spec{
		Deployments: []catalog.DeploymentSpec{place("a", "fast", "fast-1", 0), place("b", "slow", "slow-1", 0)}, Router: quick(0),
	}, office)
	for _, test := range []struct {
		name, key, body string
		kit             *kit
		want            *journal.Event // nil: nothing is
	}{
		{"no key", "", hello, own, &journal.Event{Result: usage.Result{ErrorCode: "missing_api_key"}}},
		{"an unknown key", "sk-nobody", hello, own, &journal.Event{Result: usage.Result{ErrorCode: "invalid_api_key"}}},
		{"a key that is gone", "sk-somebody-had-this-once", hello, own, &journal.Event{Attempt: usage.Attempt{Key: id.HashKey("sk-somebody-had-this-once")}, Result: usage.Result{ErrorCode: "invalid_api_key"}}},
		{"no key of ours", "a-password-of-somebody", hello, own, &journal.Event{Result: usage.Result{ErrorCode: "invalid_api_key"}}},
		{"an expired key", expiredKey, hello, own, &journal.Event{Attempt: usage.Attempt{Key: id.HashKey(expiredKey), KeyAlias: "expired", Actor: "key:expired"}, Result: usage.Result{ErrorCode: "expired_api_key"}}},
		{"a blocked key", blockedKey, hello, own, &journal.Event{Attempt: usage.Attempt{Key: id.HashKey(blockedKey), KeyAlias: "blocked", Actor: "key:blocked"}, Result: usage.Result{ErrorCode: "key_blocked"}}},
		{"a model that the key may not use", fewKey, strings.Replace(hello, "fast", "smart", 1), own, &journal.Event{
			Attempt: usage.Attempt{Key: id.HashKey(fewKey), KeyAlias: "few", Actor: "key:few", Group: "smart"},
			Result: usage.Result{
				ErrorCode: "model_access_denied",
			},
		}},
		{"a model that there is not", appKey, strings.Replace(hello, "fast", "smart", 1), own, nil},
		{"nonsense", appKey, "{", own, nil},
		{"a blocked team", "sk-of-shut", hello, their, &journal.Event{
			Attempt: usage.Attempt{Key: id.HashKey("sk-of-shut"), KeyAlias: "shut", Actor: "key:shut", Team: "shut"},
			Result: usage.Result{
				ErrorCode: "team_blocked",
			},
		}},
		{"a key for other things", "sk-of-manager", hello, their, &journal.Event{
			Attempt: usage.Attempt{Key: id.HashKey("sk-of-manager"), KeyAlias: "manager", Actor: "key:manager"},
			Result: usage.Result{
				ErrorCode: "route_not_allowed",
			},
		}},
		{"an end user", "sk-of-team", with(`"user":"mallory"`), their, &journal.Event{
			Attempt: usage.Attempt{
				Key: id.HashKey("sk-of-team"), KeyAlias: "team", Actor: "key:team", Team: "blue", Organization: "acme",
				EndUser: "mallory", Group: "fast",
			},
			Result: usage.Result{
				ErrorCode: "customer_blocked",
			},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := test.kit.open(t)
			var list []string
			if test.key != "" {
				list = []string{"x-api-key", test.key}
			}
			if out := e.request(plainHeaders(e.uuid, list...), test.body); out.refused == nil {
				t.Fatal("the request is not rejected")
			}
			e.close()
			got := test.kit.recorded(e.uuid)
			if test.want == nil {
				if len(got) != 0 {
					t.Errorf("recorded %+v", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("recorded %+v", got)
			}
			want := *test.want
			want.CallType = "chat.completions"
			want.ID, want.Request, want.Start, want.End, want.Final = got[0].ID, id.RequestFromUUID(e.uuid), got[0].Start, got[0].End, true
			want.Notice = &journal.Notice{Type: "request.blocked", Code: want.ErrorCode, Details: path}
			if diff := cmp.Diff(want, got[0]); diff != "" || got[0].End.IsZero() {
				t.Errorf("recorded (-want +got):\n%s", diff)
			}
		})
	}
}

// A flood of invalid requests does not decide how much is recorded, and all of them count.
func TestRecordsAFloodAsOne(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), steady)
	ask := func(n int, key string) {
		for range n {
			e := k.open(t)
			e.request(plainHeaders(e.uuid, "x-api-key", key), hello)
			e.close()
		}
	}
	for i := range 50 {
		ask(1, fmt.Sprintf("sk-nobody-has-this-%02d", i)) // all unknown keys are one source
	}
	ask(3, blockedKey)
	if n := len(k.notices("")); n != 10+3 {
		t.Fatalf("%d are recorded", n)
	}
	k.ticks.Add(1000)
	ask(1, blockedKey)
	notices := k.notices("")
	if len(notices) != 10+3+1+1 {
		t.Fatalf("%d are recorded", len(notices))
	}
	var total uint64
	for _, ev := range notices {
		total += max(ev.Notice.Count, 1)
		if ev.Notice.Count > 1 && (ev.Notice.Count != 40 || ev.Notice.Code != "invalid_api_key" || ev.Request != "" || ev.Notice.Details != "" || ev.Key != id.KeyHash{}) {
			t.Errorf("the sum is %+v", ev)
		}
	}
	if total != 50+3+1 {
		t.Errorf("%d are counted", total)
	}
}

// steady stops a kit's clock but for what ticks are added by hand.
func steady(k *kit, d *pipeline.Deps) {
	d.Now = func() time.Time { return epoch().Add(time.Duration(k.ticks.Load()) * time.Millisecond) }
}

// Notices of other packages are bounded as well, except those that are no rejections.
func TestRecordsAFloodOfOthersAsOne(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), steady)
	for range 50 {
		k.server.pipeline.Notify(journal.Event{Notice: &journal.Notice{Type: "request.blocked", Code: "invalid_api_key"}})
		k.server.pipeline.Notify(journal.Event{Notice: &journal.Notice{Type: "management.changed"}})
	}
	if n := len(k.notices("")); n != 10+50 {
		t.Fatalf("%d are recorded", n)
	}
}

// Held-back notices are recorded without a further rejection, and when the gateway stops.
func TestRecordsTheEndOfAFlood(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), steady)
	for range 12 {
		e := k.open(t)
		e.request(plainHeaders(e.uuid, "x-api-key", "sk-nobody"), hello)
		e.close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.server.pipeline.Run(ctx); err != nil {
		t.Fatal(err)
	}
	notices := k.notices("")
	if len(notices) != 11 {
		t.Fatalf("%d are recorded", len(notices))
	}
	for i, ev := range notices {
		if want := uint64(max(0, i-9) * 2); ev.Notice.Count != want {
			t.Errorf("notice %d counts %d", i, ev.Notice.Count)
		}
	}
}

// The summary of a budget's rejections names the account too.
func TestFloodsOfABudgetNameIt(t *testing.T) {
	t.Parallel()
	customer := id.Account{Kind: id.AccountCustomer, Owner: "bob"}
	over := &fault.Error{Kind: fault.OverBudget, Code: "budget_exceeded", Err: &lease.Exceeded{Account: customer, Epoch: 4}}
	if _, ok := errors.AsType[*lease.Exceeded](error(over)); !ok {
		t.Fatal("the cause is lost")
	}
	k := newKit(t, one(), steady, bounded(budget(1)), func(_ *kit, d *pipeline.Deps) { d.Budgets = broke{over} })
	for range 15 {
		e := k.open(t)
		rejectedWith(t, e, e.ask(with(`"user":"bob"`)).refused, 429, "budget_exceeded")
		e.close()
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := k.server.pipeline.Run(ended); err != nil { // it records what was held back
		t.Fatal(err)
	}
	notices := k.notices("")
	sum := notices[len(notices)-1]
	want := &journal.Notice{Type: "request.blocked", Code: "budget_exceeded", Count: 5, Account: customer, AccountEpoch: 4}
	if diff := cmp.Diff(want, sum.Notice); diff != "" || sum.EndUser != "bob" || sum.KeyAlias != "app" {
		t.Errorf("the sum is %+v (-want +got):\n%s", sum, diff)
	}
}
