package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// journals are the events of nodes, posted or not.
type journals map[journalName][]*clusterv1.UsageEvent

// drawAccount draws an account of one of the kinds with limits in these tests.
func drawAccount(t *rapid.T) id.Account {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0, 1:
		return keyAccount(rapid.IntRange(0, 2).Draw(t, "key"))
	case 2:
		return id.Account{Kind: id.AccountTeam, Owner: rapid.SampledFrom([]string{"red", "blue"}).Draw(t, "team")}
	}
	return id.Account{Kind: id.AccountCustomer, Owner: "carl", Part: rapid.SampledFrom([]string{"", "acme"}).Draw(t, "of")}
}

// endUser returns the account of an event's end user.
func endUser(e *clusterv1.UsageEvent) id.Account {
	a := id.Account{Kind: id.AccountCustomer, Owner: e.GetEndUser()}
	if e.GetEndUserOfOrganization() {
		a.Part = e.GetOrganization()
	}
	return a
}

// drawEvent draws an event. Most of its charges are of existing or earlier windows.
func drawEvent(t *rapid.T, epoch func(id.Account) uint64) *clusterv1.UsageEvent {
	key := rapid.IntRange(0, 2).Draw(t, "key")
	e := attempt(key, rapid.Int64Range(0, 60).Draw(t, "cost"))
	if rapid.IntRange(0, 2).Draw(t, "regenerated") == 0 {
		regenerated(e, key)
	}
	e.Request = fmt.Sprint("req_", rapid.IntRange(0, 20).Draw(t, "request"))
	e.Team = rapid.SampledFrom([]string{"", "red", "blue"}).Draw(t, "team")
	e.User = rapid.SampledFrom([]string{"", "ada"}).Draw(t, "user")
	e.Organization = rapid.SampledFrom([]string{"", "acme", "20261122"}).Draw(t, "organization")
	if e.EndUserOfOrganization = rapid.Bool().Draw(t, "end user of the organization"); e.GetEndUserOfOrganization() {
		e.Version = 3
	}
	e.EndUser = rapid.SampledFrom([]string{"", "carl", "c\u00e4sar"}).Draw(t, "customer")
	e.Group = rapid.SampledFrom([]string{"gpt", "claude"}).Draw(t, "group")
	e.Provider = rapid.SampledFrom([]string{"openai", "azure"}).Draw(t, "provider")
	e.Outcome = clusterv1.Outcome(rapid.Int32Range(1, 4).Draw(t, "outcome"))
	e.Final = rapid.Bool().Draw(t, "final")
	e.StartUnixNano = day0().Add(rapid.SampledFrom([]time.Duration{0, 30 * time.Second, 61 * time.Second}).Draw(t, "start")).UnixNano()
	e.EndUnixNano = e.GetStartUnixNano() + rapid.Int64Range(0, 5e9).Draw(t, "took")
	if rapid.IntRange(0, 9).Draw(t, "notice") == 0 {
		a := drawAccount(t)
		e.CostPico = 0
		e.Notice = &clusterv1.Notice{Type: rapid.SampledFrom([]string{"request.blocked", "request.failed"}).Draw(t, "type"), Account: accountID(a), AccountEpoch: epoch(a)}
		return e
	}
	for _, a := range []id.Account{keyAccount(key), {Kind: id.AccountTeam, Owner: e.GetTeam()}, endUser(e)} {
		if a.Owner == "" || rapid.IntRange(0, 3).Draw(t, "free") == 0 {
			continue
		}
		c := &clusterv1.Charge{Kind: clusterv1.AccountKind(a.Kind), Epoch: epoch(a)}
		if late := rapid.IntRange(-8, 1).Draw(t, "late"); late > 0 && c.GetEpoch() > 0 {
			c.Epoch--
		}
		if rapid.Bool().Draw(t, "soft") {
			c.SoftPico = 50
		}
		if rapid.Bool().Draw(t, "hard") {
			c.MaxPico = new(int64(200))
			c.HoldPico = rapid.SampledFrom([]int64{0, 0, 30}).Draw(t, "hold")
		}
		e.Charges = append(e.GetCharges(), c)
	}
	return e
}

func drawNode(t *rapid.T) string {
	return rapid.SampledFrom([]string{"n1", "n2", "n3"}).Draw(t, "node")
}

// machine runs random changes on a ledger and on the model.
type machine struct {
	s     *store.Store
	naive *naive
	now   time.Time
	has   journals
	notes []ledger.Note // since the last comparison
}

func (m *machine) write(t *rapid.T) {
	name := journalName{drawNode(t), rapid.Uint64Range(1, 2).Draw(t, "epoch")}
	for range rapid.IntRange(1, 5).Draw(t, "events") {
		m.has[name] = append(m.has[name], drawEvent(t, m.epoch))
	}
}

func (m *machine) epoch(a id.Account) uint64 { return m.naive.account(a).epoch }

func (m *machine) ship(t *rapid.T) {
	name := journalName{drawNode(t), rapid.Uint64Range(1, 2).Draw(t, "epoch")}
	if len(m.has[name]) == 0 {
		m.has[name] = append(m.has[name], drawEvent(t, m.epoch))
	}
	events := m.has[name]
	first := rapid.IntRange(1, len(events)).Draw(t, "first")
	last := rapid.IntRange(first, len(events)).Draw(t, "last")
	r := run(t, name.node, uint64(first), events[first-1:last]...)
	r.Epoch = name.epoch
	before := m.naive.posted[name]
	posted, f := post(t, m.s, r, m.now)
	if uint64(first) > before+1 {
		if f == nil || f.Kind != fault.Conflict || f.Code != ledger.CodeGap {
			t.Fatalf("a run from %d on after %d returned %v", first, before, f)
		}
		return
	}
	if f != nil {
		t.Fatalf("a run from %d to %d after %d was rejected: %v", first, last, before, f)
	}
	for i := first; i <= last; i++ {
		m.naive.post(name, uint64(i), events[i-1])
	}
	if posted.First != before+1 || posted.Last != m.naive.posted[name] {
		t.Fatalf("a run from %d to %d after %d posted %d to %d", first, last, before, posted.First, posted.Last)
	}
	m.notes = append(m.notes, posted.Notes...)
}

func (m *machine) lease(t *rapid.T) {
	change := &clusterv1.MoveLeases{Node: drawNode(t)}
	for range rapid.IntRange(0, 2).Draw(t, "returns") {
		a := drawAccount(t)
		r := &clusterv1.LeaseReturn{Account: accountID(a), Epoch: m.naive.account(a).epoch, AmountPico: rapid.Int64Range(0, 50).Draw(t, "amount")}
		if rapid.IntRange(0, 4).Draw(t, "old") == 0 {
			r.Epoch++
		} else {
			m.naive.account(a).take(change.GetNode(), r.GetAmountPico())
		}
		change.Returns = append(change.GetReturns(), r)
	}
	for range rapid.IntRange(0, 2).Draw(t, "asks") {
		a := drawAccount(t)
		if slices.ContainsFunc(change.GetAsks(), func(ask *clusterv1.LeaseAsk) bool { return accountNamed(ask.GetAccount()) == a }) {
			continue // the check below uses the last budget only
		}
		ask := &clusterv1.LeaseAsk{
			Account: accountID(a), LeastPico: rapid.Int64Range(0, 20).Draw(t, "least"),
			WantPico: rapid.Int64Range(0, 40).Draw(t, "want"), AskPico: rapid.Int64Range(0, 100).Draw(t, "ask"),
		}
		if rapid.IntRange(0, 3).Draw(t, "bounded") > 0 {
			ask.MaxPico = new(rapid.SampledFrom([]int64{0, 100, 200, 400}).Draw(t, "max"))
		}
		if d := rapid.SampledFrom([]time.Duration{0, time.Minute, time.Hour}).Draw(t, "duration"); d != 0 {
			ask.Duration = d.String()
			ask.ResetsUnixNano = m.now.Truncate(d).Add(d).Add(-rapid.SampledFrom([]time.Duration{0, 0, 0, d}).Draw(t, "behind")).UnixNano()
		}
		change.Asks = append(change.GetAsks(), ask)
	}
	before := map[id.Account]money.Pico{}
	for _, ask := range change.GetAsks() {
		a := accountNamed(ask.GetAccount())
		before[a] = leased(balance(t, m.s, a))
		m.naive.ask(change.GetNode(), ask, m.now)
	}
	moved := move(t, m.s, change, m.now)
	m.notes = append(m.notes, moved.Notes...)
	for a, held := range before {
		state := balance(t, m.s, a)
		if all := leased(state); all > held && state.Window.Pico()+all > state.Max {
			t.Fatalf("after a grant, spend is %s and leases are %s of %s", state.Window, all, state.Max)
		}
	}
}

func leased(s ledger.State) (sum money.Pico) {
	for _, l := range s.Leases {
		sum += l.Left
	}
	return sum
}

func (m *machine) roll(t *rapid.T) {
	due, err := ledger.Due(t.Context(), m.s, m.now, 2)
	if err != nil {
		t.Fatal(err)
	}
	var over []int64
	for _, a := range m.naive.accounts {
		if a.resets != 0 && a.resets <= m.now.UnixNano() {
			over = append(over, a.resets)
		}
	}
	if len(due) != min(len(over), 2) {
		t.Fatalf("%d windows are due, want %d but at most 2", len(due), len(over))
	}
	change := &clusterv1.RollWindows{}
	for _, d := range due {
		end := &clusterv1.WindowEnd{Account: accountID(d.Account), Epoch: d.Epoch, ResetsUnixNano: m.now.Add(time.Hour).UnixNano()}
		if rapid.IntRange(0, 4).Draw(t, "old") == 0 {
			end.Epoch++
		} else {
			a := m.naive.account(d.Account)
			if a.duration != d.Duration {
				t.Fatalf("the duration is %q, want %q", d.Duration, a.duration)
			}
			m.naive.roll(a, end.GetResetsUnixNano())
		}
		change.Windows = append(change.GetWindows(), end, end) // the second one must have no effect
	}
	m.notes = append(m.notes, roll(t, m.s, change, m.now).Notes...)
}

func (m *machine) set(t *rapid.T) {
	a, value := drawAccount(t), rapid.Int64Range(0, 300).Draw(t, "value")
	_, f := entry(t, m.s, func(tx *store.Tx) (ledger.Moved, *fault.Error) {
		return ledger.SetSpends(tx, []*clusterv1.SetSpend{{Account: accountID(a), WindowPico: value}}, m.now)
	})
	if f != nil {
		t.Fatal(f)
	}
	m.naive.set(a, value)
}

func (m *machine) drop(t *rapid.T) {
	node := drawNode(t)
	_, f := entry(t, m.s, func(tx *store.Tx) (ledger.Moved, *fault.Error) { return ledger.DropNode(tx, id.Node(node)) })
	if f != nil {
		t.Fatal(f)
	}
	for _, a := range m.naive.accounts {
		a.take(node, a.leases[node])
	}
}

// check compares the ledger with the model.
func (m *machine) check(t *rapid.T) {
	for name, want := range m.naive.accounts {
		got := balance(t, m.s, name)
		w := ledger.State{
			Total: money.Pico(want.total).Total(), Window: money.Pico(want.window).Total(), Epoch: want.epoch, Duration: want.duration,
			Warned: want.warned, Exceeded: want.exceeded, Scarce: want.scarce, Posted: got.Posted,
		}
		if want.resets != 0 {
			w.Resets = time.Unix(0, want.resets).UTC()
		}
		if want.max != nil {
			w.Max, w.Bounded = money.Pico(*want.max), true
		}
		for node, left := range want.leases {
			w.Leases = append(w.Leases, ledger.Lease{Node: id.Node(node), Left: money.Pico(left)})
		}
		slices.SortFunc(w.Leases, func(a, b ledger.Lease) int { return cmpStrings(a.Node, b.Node) })
		if diff := cmp.Diff(w, got); diff != "" {
			t.Fatalf("%s %s: -want +got\n%s", name.Kind, name.Owner, diff)
		}
	}
	if diff := cmp.Diff(m.naive.crossings, crossings(m.notes)); diff != "" {
		t.Fatalf("crossings: -want +got\n%s", diff)
	}
	m.naive.crossings, m.notes = nil, nil
	for name, seq := range m.naive.posted {
		if got, err := ledger.Applied(m.s, id.Node(name.node), name.epoch); got != seq || err != nil {
			t.Fatalf("%v is posted up to %d, %v; want %d", name, got, err, seq)
		}
	}
	sound(t, m.s)
}

func cmpStrings(a, b id.Node) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// TestLedgerEqualsTheModel runs changes of all kinds on the ledger and on the model.
func TestLedgerEqualsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{s: open(t), naive: newNaive(), now: day0(), has: journals{}}
		t.Repeat(map[string]func(*rapid.T){
			"write": m.write, "ship": m.ship, "ship again": m.ship, "lease": m.lease, "lease again": m.lease,
			"roll": m.roll, "set": m.set, "drop": m.drop,
			"wait": func(t *rapid.T) {
				m.now = m.now.Add(rapid.SampledFrom([]time.Duration{time.Second, 20 * time.Second, time.Hour}).Draw(t, "wait"))
			},
			"": m.check,
		})
	})
}

// TestRunsDoNotMatter posts the same events in other runs, some of them twice: all bytes of the
// state and all notes are equal.
func TestRunsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, split := open(t), open(t)
		has := map[string][]*clusterv1.UsageEvent{}
		var wholeNotes, splitNotes []ledger.Note
		ship := func(s *store.Store, node string, from, to int) []ledger.Note {
			posted, f := post(t, s, run(t, node, uint64(from+1), has[node][from:to]...), day0())
			if f != nil {
				t.Fatal(f)
			}
			return posted.Notes
		}
		for range rapid.IntRange(1, 6).Draw(t, "segments") {
			node := drawNode(t)
			from := len(has[node])
			for range rapid.IntRange(1, 8).Draw(t, "events") {
				has[node] = append(has[node], drawEvent(t, func(id.Account) uint64 { return 0 }))
			}
			to := len(has[node])
			wholeNotes = append(wholeNotes, ship(whole, node, from, to)...)
			for at := from; at < to; {
				at = rapid.IntRange(at+1, to).Draw(t, "to")
				splitNotes = append(splitNotes, ship(split, node, rapid.IntRange(0, from).Draw(t, "from"), at)...)
			}
		}
		if diff := cmp.Diff(dump(t, whole), dump(t, split)); diff != "" {
			t.Fatalf("-whole +split\n%s", diff)
		}
		if len(wholeNotes) != len(splitNotes) {
			t.Fatalf("%d notes of whole runs, %d of split ones", len(wholeNotes), len(splitNotes))
		}
		for i, w := range wholeNotes {
			if p := splitNotes[i]; p.Seq != w.Seq || !proto.Equal(p.Event, w.Event) || !cmp.Equal(p.Crossing, w.Crossing) {
				t.Fatalf("note %d is %+v of whole runs, %+v of split ones", i, w, p)
			}
		}
	})
}

// TestHardBudget has nodes that spend only leased amounts, with one budget and several windows:
// the spend of a window plus all leases never exceeds the budget.
func TestHardBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now, a := open(t), day0(), keyAccount(1)
		budget := rapid.Int64Range(1, 500).Draw(t, "budget")
		type pending struct {
			event *clusterv1.UsageEvent
			taken int64
			epoch uint64
		}
		waiting, seqs := map[string][]pending{}, map[string]uint64{}
		idle := func(node string) int64 { // the rest of the node's lease
			state := balance(t, s, a)
			left := int64(0)
			for _, l := range state.Leases {
				if string(l.Node) == node {
					left = int64(l.Left)
				}
			}
			for _, p := range waiting[node] {
				if p.epoch == state.Epoch {
					left -= p.taken
				}
			}
			return left
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				want := rapid.Int64Range(1, 50).Draw(t, "want")
				move(t, s, &clusterv1.MoveLeases{Node: drawNode(t), Asks: []*clusterv1.LeaseAsk{{
					Account: accountID(a), MaxPico: &budget, LeastPico: rapid.Int64Range(1, want).Draw(t, "least"), WantPico: want,
					AskPico: rapid.Int64Range(want, 1000).Draw(t, "ask"), Duration: "1h", ResetsUnixNano: now.Truncate(time.Hour).Add(time.Hour).UnixNano(),
				}}}, now)
			},
			"give back": func(t *rapid.T) {
				node := drawNode(t)
				if n := idle(node); n > 0 {
					move(t, s, &clusterv1.MoveLeases{Node: node, Returns: []*clusterv1.LeaseReturn{{Account: accountID(a), Epoch: balance(t, s, a).Epoch, AmountPico: rapid.Int64Range(1, n).Draw(t, "amount")}}}, now)
				}
			},
			"spend": func(t *rapid.T) {
				node := drawNode(t)
				if n := idle(node); n > 0 {
					hold := rapid.Int64Range(1, n).Draw(t, "hold")
					c := &clusterv1.Charge{Kind: clusterv1.AccountKind_ACCOUNT_KIND_KEY, Epoch: balance(t, s, a).Epoch, HoldPico: hold, MaxPico: &budget}
					waiting[node] = append(waiting[node], pending{attempt(1, rapid.Int64Range(0, hold).Draw(t, "cost"), c), hold, c.GetEpoch()})
				}
			},
			"ship": func(t *rapid.T) {
				node := drawNode(t)
				if len(waiting[node]) > 0 {
					if _, f := post(t, s, run(t, node, seqs[node]+1, waiting[node][0].event), now); f != nil {
						t.Fatal(f)
					}
					seqs[node]++
					waiting[node] = waiting[node][1:]
				}
			},
			"wait": func(*rapid.T) { now = now.Add(17 * time.Minute) },
			"": func(t *rapid.T) {
				if state := balance(t, s, a); int64(state.Window.Pico()+leased(state)) > budget {
					t.Fatalf("spend is %s and leases are %v, the budget is %d", state.Window, state.Leases, budget)
				}
			},
		})
		sound(t, s)
	})
}
