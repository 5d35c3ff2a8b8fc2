package ledger_test

import (
	"math"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestStrict: below one twentieth of a budget, a grant is what a request needs.
func TestStrict(t *testing.T) {
	for _, c := range []struct {
		limit, window money.Pico
		want          bool
	}{
		{100, 0, false},
		{100, 95, false}, // exactly one twentieth
		{100, 96, true},
		{100, 100, true},
		{100, 900, true},
		{101, 95, false},
		{101, 96, true}, // 5 of 101 are less than one twentieth
		{19, 19, true},
		{19, 18, false},
		{0, 0, true},
		{math.MaxInt64, 0, false},
		{math.MaxInt64, math.MaxInt64 - 1, true},
	} {
		if got := (ledger.State{Max: c.limit, Window: c.window.Total(), Bounded: true}).Strict(); got != c.want {
			t.Errorf("%d spent of %d: %v, want %v", c.window, c.limit, got, c.want)
		}
	}
	if (ledger.State{Window: money.Total{Low: 5}}).Strict() {
		t.Error("an account without a budget is strict")
	}
}

// TestGrants requests parts of one budget of 1000, one node after the other.
func TestGrants(t *testing.T) {
	s, a := open(t), keyAccount(1)
	for i, step := range []struct {
		node              string
		least, want, most int64
		back              int64 // released before
		left              money.Pico
		scarce            bool
	}{
		{"n1", 10, 10, 10_000, 0, 500, false},  // half of the rest
		{"n2", 10, 10, 100, 0, 100, false},     // no more than requested
		{"n2", 10, 10, 10_000, 0, 200, false},  // a quarter of 400, because two nodes hold parts
		{"n3", 10, 200, 10_000, 0, 200, false}, // the need, if that is more
		{"n3", 10, 200, 10_000, 0, 300, false}, // everything that is left
		{"n4", 10, 10, 10, 0, 0, true},         // nothing is left, and other nodes hold leases
		{"n1", 1, 1, 1, 400, 101, false},       // released first, then requested
		{"n4", 10, 10, 10, 0, 10, false},
	} {
		change := &clusterv1.MoveLeases{Node: step.node, Asks: []*clusterv1.LeaseAsk{{
			Account: accountID(a), MaxPico: new(int64(1000)), LeastPico: step.least, WantPico: step.want, AskPico: step.most,
		}}}
		if step.back > 0 {
			change.Returns = []*clusterv1.LeaseReturn{{Account: accountID(a), AmountPico: step.back}}
		}
		moved := move(t, s, change, day0())
		state := balance(t, s, a)
		var left money.Pico
		for _, l := range state.Leases {
			if string(l.Node) == step.node {
				left = l.Left
			}
		}
		if left != step.left || state.Scarce != step.scarce {
			t.Errorf("step %d: %s has %d, scarce %v; want %d, %v", i, step.node, left, state.Scarce, step.left, step.scarce)
		}
		if len(moved.Changed) != 1 || moved.Changed[0].Account != a || moved.Changed[0].State.Scarce != step.scarce {
			t.Errorf("step %d: reported %+v", i, moved.Changed)
		}
	}
	sound(t, s)
}

// TestRaisedBudgetEndsAgain: a budget that was exhausted and then raised is reported again when
// it is exhausted again.
func TestRaisedBudgetEndsAgain(t *testing.T) {
	s, a := open(t), keyAccount(1)
	seq := uint64(0)
	for i, limit := range []int64{10, 10, 30} {
		move(t, s, &clusterv1.MoveLeases{Node: "n1", Asks: []*clusterv1.LeaseAsk{{Account: accountID(a), MaxPico: &limit, LeastPico: 1, WantPico: 1}}}, day0())
		e := attempt(1, 15, &clusterv1.Charge{Kind: clusterv1.AccountKind_ACCOUNT_KIND_KEY, MaxPico: &limit})
		seq++
		posted, f := post(t, s, run(t, "n1", seq, e), day0())
		if f != nil {
			t.Fatal(f)
		}
		if reported := len(crossings(posted.Notes)) > 0; reported != (i != 1) {
			t.Errorf("%s of %d: reported %v", balance(t, s, a).Window, limit, reported)
		}
		if i == 1 { // otherwise the raised budget would be exhausted before it counts
			_, f := entry(t, s, func(tx *store.Tx) (ledger.Moved, *fault.Error) {
				return ledger.SetSpends(tx, []*clusterv1.SetSpend{{Account: accountID(a), WindowPico: 20}}, day0())
			})
			if f != nil {
				t.Fatal(f)
			}
		}
	}
}

// TestRequestOfASlowClock: a node with a slow clock does not change an expired window, because
// it does not know the end of the next one.
func TestRequestOfASlowClock(t *testing.T) {
	s, a := open(t), keyAccount(1)
	ask := func(ends, at time.Time) ledger.State {
		move(t, s, &clusterv1.MoveLeases{Node: "n1", Asks: []*clusterv1.LeaseAsk{{Account: accountID(a), Duration: "1h", ResetsUnixNano: ends.UnixNano()}}}, at)
		return balance(t, s, a)
	}
	end := day0().Add(time.Hour)
	for i, step := range []struct {
		ends, at time.Time
		epoch    uint64
		want     time.Time
	}{
		{end, day0(), 0, end},
		{end, end.Add(time.Second), 0, end},
		{end.Add(time.Hour), end.Add(2 * time.Second), 1, end.Add(time.Hour)},
		{end, end.Add(3 * time.Second), 1, end.Add(time.Hour)},
	} {
		if got := ask(step.ends, step.at); got.Epoch != step.epoch || !got.Resets.Equal(step.want) {
			t.Errorf("step %d: window %d until %s, want %d until %s", i, got.Epoch, got.Resets, step.epoch, step.want)
		}
	}
	sound(t, s)
}

// TestInvalidNames: they are rejected, and change nothing.
func TestInvalidNames(t *testing.T) {
	s := open(t)
	none := &clusterv1.AccountID{Owner: "nobody"}
	for name, change := range map[string]func(tx *store.Tx) (ledger.Moved, *fault.Error){
		"ask": func(tx *store.Tx) (ledger.Moved, *fault.Error) {
			return ledger.Move(tx, &clusterv1.MoveLeases{Node: "n1", Asks: []*clusterv1.LeaseAsk{{Account: none}}}, day0())
		},
		"node": func(tx *store.Tx) (ledger.Moved, *fault.Error) {
			return ledger.Move(tx, &clusterv1.MoveLeases{}, day0())
		},
		"roll": func(tx *store.Tx) (ledger.Moved, *fault.Error) {
			return ledger.Roll(tx, &clusterv1.RollWindows{Windows: []*clusterv1.WindowEnd{{Account: none}}}, day0())
		},
		"set": func(tx *store.Tx) (ledger.Moved, *fault.Error) {
			return ledger.SetSpends(tx, []*clusterv1.SetSpend{{Account: none}}, day0())
		},
		"less than nothing": func(tx *store.Tx) (ledger.Moved, *fault.Error) {
			return ledger.SetSpends(tx, []*clusterv1.SetSpend{{Account: accountID(id.Account{Kind: id.AccountUser, Owner: "ada"}), WindowPico: -1}}, day0())
		},
	} {
		if _, f := entry(t, s, change); f == nil || f.Kind != fault.Malformed {
			t.Errorf("%s: got %v", name, f)
		}
	}
	if left := dump(t, s); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
