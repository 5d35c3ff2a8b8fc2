package ledger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestPostToAllAccounts posts one attempt of a caller that belongs to everything: each account
// gets its cost once, and the provider gets it with the opposite sign.
func TestPostToAllAccounts(t *testing.T) {
	s := open(t)
	e := attempt(1, 70)
	e.Team, e.User, e.Organization, e.EndUser = "red", "ada", "acme", "cust\x00omer"
	if _, f := post(t, s, run(t, "n1", 1, e), day0()); f != nil {
		t.Fatal(f)
	}
	key := keyAccount(1).Owner
	want := map[id.Account]money.Pico{
		{Kind: id.AccountKey, Owner: key}:                                70,
		{Kind: id.AccountKeyModel, Owner: key, Part: "gpt"}:              70,
		{Kind: id.AccountTeam, Owner: "red"}:                             70,
		{Kind: id.AccountTeamModel, Owner: "red", Part: "gpt"}:           70,
		{Kind: id.AccountTeamMember, Owner: "red", Part: "ada"}:          70,
		{Kind: id.AccountOrganization, Owner: "acme"}:                    70,
		{Kind: id.AccountOrganizationModel, Owner: "acme", Part: "gpt"}:  70,
		{Kind: id.AccountOrganizationMember, Owner: "acme", Part: "ada"}: 70,
		{Kind: id.AccountUser, Owner: "ada"}:                             70,
		{Kind: id.AccountUserModel, Owner: "ada", Part: "gpt"}:           70,
		{Kind: id.AccountCustomer, Owner: "cust\uFFFDomer"}:              70,
		{Kind: id.AccountProvider, Owner: "openai"}:                      -70,
	}
	for a, amount := range want {
		if got := balance(t, s, a); got.Total != amount.Total() || got.Window != amount.Total() || !got.Posted.Equal(day0()) {
			t.Errorf("%s %s %s is %+v, want %s", a.Kind, a.Owner, a.Part, got, amount)
		}
	}
	accounts := 0
	if err := s.Scan(t.Context(), store.Range{Space: store.SpaceAccount}, func(_, _ []byte) bool { accounts++; return true }); err != nil {
		t.Fatal(err)
	}
	if accounts != len(want) {
		t.Errorf("%d accounts, want %d", accounts, len(want))
	}
	sound(t, s)
}

// TestPostToEndUserOfOrganization: end users with the same id in two organizations, and without
// one, have separate accounts. An event of an older version is posted to the one without,
// regardless of the key's organization.
func TestPostToEndUserOfOrganization(t *testing.T) {
	s := open(t)
	var events []*clusterv1.UsageEvent
	for _, of := range []struct {
		organization string
		scoped       bool
		cost         int64
	}{{"acme", true, 1}, {"initech", true, 20}, {"", true, 300}, {"acme", false, 4000}} {
		e := attempt(1, of.cost)
		e.EndUser, e.Organization, e.EndUserOfOrganization = "alice", of.organization, of.scoped
		if of.scoped {
			e.Version = 3
		}
		events = append(events, e)
	}
	if _, f := post(t, s, run(t, "n1", 1, events...), day0()); f != nil {
		t.Fatal(f)
	}
	for organization, want := range map[id.Organization]money.Pico{"acme": 1, "initech": 20, "": 4300, "other": 0} {
		u := id.EndUser{Organization: organization, ID: "alice"}
		if got := balance(t, s, u.Account()); got.Total != want.Total() || got.Window != want.Total() {
			t.Errorf("alice of %q is %+v, want %s", organization, got, want)
		}
	}
	for name, test := range map[string]struct {
		from id.EndUser
		want []id.EndUser
	}{
		"all":          {id.EndUser{}, []id.EndUser{{ID: "alice"}, {ID: "alice", Organization: "acme"}, {ID: "alice", Organization: "initech"}}},
		"from one on":  {id.EndUser{ID: "alice", Organization: "acme"}, []id.EndUser{{ID: "alice", Organization: "acme"}, {ID: "alice", Organization: "initech"}}},
		"behind them":  {id.EndUser{ID: "alice0"}, nil},
		"before them":  {id.EndUser{ID: "alic", Organization: "zz"}, []id.EndUser{{ID: "alice"}, {ID: "alice", Organization: "acme"}, {ID: "alice", Organization: "initech"}}},
		"between them": {id.EndUser{ID: "alice", Organization: "b"}, []id.EndUser{{ID: "alice", Organization: "initech"}}},
	} {
		var got []id.EndUser
		if err := ledger.EndUsers(t.Context(), s, test.from, func(u id.EndUser) bool { got = append(got, u); return true }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	sound(t, s)
}

// TestPostOnce: repeated events are skipped, gaps are rejected, and each epoch of a node counts
// separately.
func TestPostOnce(t *testing.T) {
	s := open(t)
	events := []*clusterv1.UsageEvent{attempt(1, 1), attempt(1, 10), attempt(1, 100)}
	other := run(t, "n1", 1, events[0])
	other.Epoch = 2
	for _, step := range []struct {
		run         *clusterv1.PostUsage
		first, last uint64
		code        string
		spent       money.Pico
	}{
		{run(t, "n1", 2, events[1]), 0, 0, ledger.CodeGap, 0},
		{run(t, "n1", 1, events[:2]...), 1, 2, "", 11},
		{run(t, "n1", 1, events[:2]...), 3, 2, "", 11},
		{run(t, "n1", 2, events[1:]...), 3, 3, "", 111},
		{run(t, "n1", 1), 4, 3, "", 111},
		{run(t, "n1", 5, events[0]), 0, 0, ledger.CodeGap, 111},
		{other, 1, 1, "", 112},
		{run(t, "n2", 1, events[2]), 1, 1, "", 212},
		{run(t, "", 1, events[0]), 0, 0, "invalid_value", 212},
		{run(t, "n1", 0, events[0]), 0, 0, "invalid_value", 212},
		{&clusterv1.PostUsage{Node: "n3", First: 1, Events: [][]byte{{0xff}}}, 0, 0, "invalid_value", 212},
	} {
		posted, f := post(t, s, step.run, day0())
		code := ""
		if f != nil {
			code = f.Code
		}
		if posted.First != step.first || posted.Last != step.last || code != step.code {
			t.Errorf("a run from %d on: posted %d to %d, %q; want %d to %d, %q", step.run.GetFirst(), posted.First, posted.Last, code, step.first, step.last, step.code)
		}
		if got := balance(t, s, keyAccount(1)).Total; got != step.spent.Total() {
			t.Errorf("after it the spend is %s, want %s", got, step.spent)
		}
	}
	if seq, err := ledger.Applied(s, "n1", 1); seq != 3 || err != nil {
		t.Errorf("n1 is posted up to %d, %v", seq, err)
	}
	sound(t, s)
}

// TestPostToUserWhoBoundsTheKey: a key without a user counts in the windows of the accounts
// of the user who bounds it, and not in their totals.
func TestPostToUserWhoBoundsTheKey(t *testing.T) {
	s := open(t)
	e := attempt(1, 100)
	e.Version, e.Team, e.Organization, e.BoundedByUser = 4, "blue", "acme", "ada"
	if _, f := post(t, s, run(t, "n1", 1, e), day0()); f != nil {
		t.Fatal(f)
	}
	for _, c := range []struct {
		account id.Account
		total   money.Pico
	}{
		{keyAccount(1), 100},
		{id.Account{Kind: id.AccountTeam, Owner: "blue"}, 100},
		{id.Account{Kind: id.AccountTeamMember, Owner: "blue", Part: "ada"}, 0},
		{id.Account{Kind: id.AccountOrganization, Owner: "acme"}, 100},
		{id.Account{Kind: id.AccountOrganizationMember, Owner: "acme", Part: "ada"}, 0},
		{id.Account{Kind: id.AccountUser, Owner: "ada"}, 0},
		{id.Account{Kind: id.AccountUserModel, Owner: "ada", Part: "gpt"}, 0},
	} {
		if got := balance(t, s, c.account); got.Window.Pico() != 100 || got.Total != c.total.Total() {
			t.Errorf("%+v: window %s, total %s", c.account, got.Window, got.Total)
		}
	}
	sound(t, s)
}

// TestEventOfANewerVersion stops the node, because nodes that understand the event post it.
func TestEventOfANewerVersion(t *testing.T) {
	s := open(t)
	e := attempt(1, 1)
	e.Version = 9
	tx := s.NewTx()
	defer tx.Close()
	if _, f := ledger.Post(tx, run(t, "n1", 1, e), day0()); f == nil || f.Kind != fault.Internal {
		t.Errorf("got %v", f)
	}
}

// TestCrossings: each limit is reported once per window, with the event that reached it.
func TestCrossings(t *testing.T) {
	s := open(t)
	a := keyAccount(1)
	charge := func(epoch uint64) *clusterv1.Charge {
		return &clusterv1.Charge{Kind: clusterv1.AccountKind_ACCOUNT_KIND_KEY, Epoch: epoch, SoftPico: 50, MaxPico: new(int64(100))}
	}
	blocked := attempt(1, 0)
	blocked.Notice = &clusterv1.Notice{Type: "request.blocked", Account: accountID(a), AccountEpoch: 1}
	blockedBefore := proto.CloneOf(blocked)
	blockedBefore.Notice.AccountEpoch = 0
	move(t, s, &clusterv1.MoveLeases{Node: "n1", Asks: []*clusterv1.LeaseAsk{{
		Account: accountID(a), MaxPico: new(int64(100)), LeastPico: 1, WantPico: 10, AskPico: 10,
		Duration: "1d", ResetsUnixNano: day0().Add(time.Minute).UnixNano(),
	}}}, day0())
	next := &clusterv1.RollWindows{Windows: []*clusterv1.WindowEnd{{Account: accountID(a), ResetsUnixNano: day0().Add(25 * time.Hour).UnixNano()}}}
	for i, step := range []struct {
		event *clusterv1.UsageEvent // nil: the window ends
		want  []string
	}{
		{attempt(1, 49, charge(0)), nil},
		{attempt(1, 1, charge(0)), []string{event.TypeBudgetThreshold}},
		{attempt(1, 49, charge(0)), nil},
		{attempt(1, 1, charge(0)), []string{event.TypeBudgetExceeded, event.TypeKeyBudgetExceeded}},
		{attempt(1, 1, charge(0)), nil},
		{blockedBefore, nil},
		{nil, []string{event.TypeBudgetReset}},
		{attempt(1, 500, charge(0)), nil}, // late: it belongs to the previous window
		{blockedBefore, nil},
		{attempt(1, 20, charge(1)), nil},
		{blocked, []string{event.TypeBudgetExceeded, event.TypeKeyBudgetExceeded}},
		{blocked, nil},
		{attempt(1, 500, charge(1)), []string{event.TypeBudgetThreshold}},
	} {
		var notes []ledger.Note
		if step.event == nil {
			notes = roll(t, s, next, day0().Add(time.Hour)).Notes
		} else {
			seq, err := ledger.Applied(s, "n1", 1)
			if err != nil {
				t.Fatal(err)
			}
			posted, f := post(t, s, run(t, "n1", seq+1, step.event), day0().Add(time.Hour))
			if f != nil {
				t.Fatal(f)
			}
			notes = posted.Notes
			if notes[0].Crossing != nil || !proto.Equal(notes[0].Event, step.event) || notes[0].Seq != seq+1 {
				t.Errorf("step %d: the first note is %+v", i, notes[0])
			}
		}
		if diff := cmp.Diff(step.want, crossings(notes)); diff != "" {
			t.Errorf("step %d: -want +got\n%s", i, diff)
		}
	}
	if got := balance(t, s, a); got.Total.Pico() != 1121 || got.Window.Pico() != 520 || got.Epoch != 1 {
		t.Errorf("the account is %+v", got)
	}
	sound(t, s)
}

// TestOwn: a node learns which part of its own spend under a budget is posted, late or not.
func TestOwn(t *testing.T) {
	s := open(t)
	kind := clusterv1.AccountKind_ACCOUNT_KIND_KEY
	bounded := &clusterv1.Charge{Kind: kind, MaxPico: new(int64(100))}
	posted, f := post(t, s, run(t, "n1", 1, attempt(1, 3, bounded), attempt(1, 4, bounded), attempt(1, 5), attempt(2, 6, &clusterv1.Charge{Kind: kind, SoftPico: 1})), day0())
	if f != nil {
		t.Fatal(f)
	}
	want := map[id.Account]money.Pico{keyAccount(1): 7, keyAccount(2): 0}
	got := map[id.Account]money.Pico{}
	for _, c := range posted.Changed {
		got[c.Account] = c.Own
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestUnknownFieldsSurvive: fields of a newer version in an event, an account or a row remain
// after a change by this version.
func TestUnknownFieldsSurvive(t *testing.T) {
	s := open(t)
	unknown := protowire.AppendString(protowire.AppendTag(nil, 5000, protowire.BytesType), "from the future")
	text := run(t, "n1", 1, attempt(1, 1)).GetEvents()[0]
	if _, f := post(t, s, &clusterv1.PostUsage{Node: "n1", Epoch: 1, First: 1, Events: [][]byte{append(text, unknown...)}}, day0()); f != nil {
		t.Fatal(f)
	}
	tx := s.NewTx()
	defer tx.Close()
	for key, value := range dump(t, s) {
		space := store.Space(key[0])
		if space == store.SpaceUsage {
			m := &clusterv1.UsageRecord{}
			if err := proto.Unmarshal([]byte(value), m); err != nil || string(m.GetEvent().ProtoReflect().GetUnknown()) != string(unknown) {
				t.Errorf("the usage record has lost unknown fields: %v, %v", m, err)
			}
		}
	}
	mark := func(space store.Space) {
		err := s.Scan(t.Context(), store.Range{Space: space}, func(key, value []byte) bool {
			tx.Set(space, key, append(append([]byte{}, value...), unknown...))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	mark(store.SpaceAccount)
	mark(store.SpaceDaily)
	mark(store.SpaceShipped)
	if err := tx.CommitReplayable(); err != nil {
		t.Fatal(err)
	}
	if _, f := post(t, s, run(t, "n1", 2, attempt(1, 1)), day0()); f != nil {
		t.Fatal(f)
	}
	for _, space := range []store.Space{store.SpaceAccount, store.SpaceDaily, store.SpaceShipped} {
		err := s.Scan(t.Context(), store.Range{Space: space}, func(key, value []byte) bool {
			if n := len(value) - len(unknown); n < 0 || string(value[n:]) != string(unknown) {
				t.Errorf("%c%q has lost unknown fields", space, key)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sound(t, s)
}
