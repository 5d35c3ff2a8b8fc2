package ledger_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestRegeneratedKeyPaysFromOneAccount: a key and its regenerated successor share one account,
// with one window, one set of leases and one row per day. The record of each event names the
// key that was used.
func TestRegeneratedKeyPaysFromOneAccount(t *testing.T) {
	s, a := open(t), keyAccount(1)
	move(t, s, &clusterv1.MoveLeases{Node: "n1", Asks: []*clusterv1.LeaseAsk{{Account: accountID(a), MaxPico: new(int64(100)), WantPico: 100, AskPico: 100}}}, day0())
	charge := &clusterv1.Charge{Kind: clusterv1.AccountKind_ACCOUNT_KIND_KEY, MaxPico: new(int64(100))}
	old, young, crashed := attempt(1, 30, charge), attempt(1, 50, charge), attempt(1, 20, charge)
	regenerated(young, 1)
	regenerated(crashed, 1)
	crashed.Outcome = clusterv1.Outcome_OUTCOME_CRASHED
	posted, f := post(t, s, run(t, "n1", 1, old, young, crashed), day0())
	if f != nil {
		t.Fatal(f)
	}
	if got := balance(t, s, a); got.Total != money.Pico(100).Total() || got.Window != money.Pico(100).Total() || len(got.Leases) != 0 || !got.Exceeded {
		t.Errorf("the account is %+v", got)
	}
	if got := balance(t, s, keyAccount(101)); !got.Posted.IsZero() {
		t.Errorf("the key that replaced it has an account: %+v", got)
	}
	if got := balance(t, s, id.Account{Kind: id.AccountKeyModel, Owner: a.Owner, Part: "gpt"}); got.Total != money.Pico(100).Total() {
		t.Errorf("the model has %+v", got)
	}
	for _, n := range posted.Notes {
		if n.Crossing != nil && (n.Crossing.Account != a || !proto.Equal(n.Event, crashed)) {
			t.Errorf("reported %+v by %v", n.Crossing, n.Event)
		}
	}
	rows := 0
	if err := ledger.Daily(t.Context(), s, ledger.DailyFilter{Kind: id.AccountKey, Owners: []string{a.Owner}}, func(r ledger.DailyRow) bool {
		if rows++; r.Key != keyOf(1) || r.Attempts != 3 {
			t.Errorf("the row is %+v", r)
		}
		return true
	}); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
	sound(t, s)
}

// TestKeyAccount: the state keeps the account that a key has used, even after the records of
// its use are gone.
func TestKeyAccount(t *testing.T) {
	s := open(t)
	young := attempt(1, 1)
	regenerated(young, 1)
	notice := attempt(2, 0)
	regenerated(notice, 2)
	notice.Notice = &clusterv1.Notice{Type: "request.blocked"}
	if _, f := post(t, s, run(t, "n1", 1, young, notice, attempt(3, 1)), day0()); f != nil {
		t.Fatal(f)
	}
	if n, f := entry(t, s, func(tx *store.Tx) (int, *fault.Error) { return ledger.TrimUsage(tx, day0().Add(time.Hour), 10) }); n != 2 || f != nil {
		t.Fatalf("%d records are dropped, %v", n, f)
	}
	for n, want := range map[int]int{1: 1, 101: 1, 2: 2, 102: 102, 3: 3, 4: 4} {
		if got, err := ledger.KeyAccount(s, keyOf(n)); got != keyOf(want) || err != nil {
			t.Errorf("the account of key %d is %v, %v; want that of %d", n, got, err, want)
		}
	}
	sound(t, s)
}
