package ledger_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// inPico returns a sum as an integer of any size.
func inPico(t money.Total) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(t.High), 64)
	return n.Add(n, big.NewInt(int64(t.Low)))
}

// TestBooksBeyondAPico posts amounts whose sums exceed a Pico, in both directions: each account
// and the rows of the day have the exact sum.
func TestBooksBeyondAPico(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := open(t)
		want := map[id.Account]*big.Int{}
		add := func(a id.Account, cost *big.Int) {
			if want[a] == nil {
				want[a] = new(big.Int)
			}
			want[a].Add(want[a], cost)
		}
		all := new(big.Int)
		for seq := range uint64(rapid.IntRange(1, 12).Draw(t, "events")) {
			key := rapid.IntRange(0, 1).Draw(t, "key")
			e := attempt(key, rapid.OneOf(
				rapid.Int64Range(math.MaxInt64-5, math.MaxInt64),
				rapid.Int64Range(-math.MaxInt64, 5-math.MaxInt64),
				rapid.Int64Range(-math.MaxInt64, math.MaxInt64),
			).Draw(t, "cost"))
			e.Organization, e.Provider = "acme", rapid.SampledFrom([]string{"openai", "azure"}).Draw(t, "provider")
			if _, f := post(t, s, run(t, "n1", seq+1, e), day0()); f != nil {
				t.Fatal(f)
			}
			cost := big.NewInt(e.GetCostPico())
			all.Add(all, cost)
			add(keyAccount(key), cost)
			add(id.Account{Kind: id.AccountKeyModel, Owner: keyAccount(key).Owner, Part: "gpt"}, cost)
			add(id.Account{Kind: id.AccountOrganization, Owner: "acme"}, cost)
			add(id.Account{Kind: id.AccountProvider, Owner: e.GetProvider()}, new(big.Int).Neg(cost))
		}
		for a, sum := range want {
			state := balance(t, s, a)
			if inPico(state.Total).Cmp(sum) != 0 || inPico(state.Window).Cmp(sum) != 0 {
				t.Fatalf("%s %s has %s in all and %s in its window, want %s pico-dollars", a.Kind, a.Owner, state.Total, state.Window, sum)
			}
		}
		var rows money.Total
		if err := ledger.Daily(t.Context(), s, ledger.DailyFilter{}, func(r ledger.DailyRow) bool {
			rows = rows.Add(r.Spend)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if inPico(rows).Cmp(all) != 0 {
			t.Fatalf("the rows have %s, want %s pico-dollars", rows, all)
		}
		sound(t, s)
	})
}

// TestWindowBeyondABudget: a window whose spend exceeds any possible budget is over the largest
// one. It gets no grants, it resets, and a new window and a set spend start from their values.
func TestWindowBeyondABudget(t *testing.T) {
	s, a, most := open(t), keyAccount(1), int64(math.MaxInt64)
	ask := func(ends time.Time) *clusterv1.MoveLeases {
		return &clusterv1.MoveLeases{Node: "n1", Asks: []*clusterv1.LeaseAsk{{
			Account: accountID(a), MaxPico: &most, LeastPico: 1, WantPico: 5, AskPico: 5, Duration: "1d", ResetsUnixNano: ends.UnixNano(),
		}}}
	}
	ends := day0().Add(time.Hour)
	move(t, s, ask(ends), day0())
	var reported []string
	for seq := range uint64(3) {
		e := attempt(1, most-1, &clusterv1.Charge{Kind: clusterv1.AccountKind_ACCOUNT_KIND_KEY, SoftPico: most, MaxPico: &most})
		posted, f := post(t, s, run(t, "n1", seq+1, e), day0())
		if f != nil {
			t.Fatal(f)
		}
		reported = append(reported, crossings(posted.Notes)...)
	}
	if diff := cmp.Diff([]string{event.TypeBudgetThreshold, event.TypeBudgetExceeded, event.TypeKeyBudgetExceeded}, reported); diff != "" {
		t.Errorf("crossings: -want +got\n%s", diff)
	}
	const three = "27670116.110564327418" // 3 x (2^63 - 2) pico-dollars
	move(t, s, ask(ends), day0())
	if state := balance(t, s, a); state.Window.String() != three || len(state.Leases) != 0 || !state.Strict() {
		t.Errorf("the window is %+v, want %s in it and no lease", state, three)
	}
	ended := move(t, s, ask(ends.Add(time.Hour)), ends)
	if len(ended.Notes) != 1 || ended.Notes[0].Crossing.Window.String() != three {
		t.Errorf("the reset reported %+v, want %s", ended.Notes, three)
	}
	if state := balance(t, s, a); state.Window != (money.Total{}) || state.Total.String() != three || len(state.Leases) != 1 {
		t.Errorf("the next window is %+v", state)
	}
	for seq := range uint64(2) {
		if _, f := post(t, s, run(t, "n1", seq+4, attempt(1, most)), ends); f != nil {
			t.Fatal(f)
		}
	}
	_, f := entry(t, s, func(tx *store.Tx) (ledger.Moved, *fault.Error) {
		return ledger.SetSpends(tx, []*clusterv1.SetSpend{{Account: accountID(a), WindowPico: most}}, ends)
	})
	if state := balance(t, s, a); f != nil || state.Window != money.Pico(most).Total() {
		t.Errorf("spend was set to %s, %v", state.Window, f)
	}
	sound(t, s)
}
