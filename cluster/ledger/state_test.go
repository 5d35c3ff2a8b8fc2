package ledger_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// tb is a test, of rapid or not.
type tb interface {
	rapid.TB
	Cleanup(fn func())
	Context() context.Context
}

// open opens an in-memory replicated state.
func open(t tb) *store.Store {
	s, err := store.Open(store.Config{Kind: store.StateStore, Dir: "state", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, f := entry(t, s, func(tx *store.Tx) (int, *fault.Error) { return 0, ledger.BeginRows(tx) }); f != nil {
		t.Fatal(f)
	}
	return s
}

// entry makes a change like a log entry: a fault discards it.
func entry[T any](t tb, s *store.Store, change func(tx *store.Tx) (T, *fault.Error)) (T, *fault.Error) {
	tx := s.NewTx()
	defer tx.Close()
	out, f := change(tx)
	if f != nil {
		if f.Kind == fault.Internal || f.Kind == fault.StorageUnavailable {
			t.Fatalf("a node would stop: %v", f)
		}
		return out, f
	}
	if err := tx.CommitReplayable(); err != nil {
		t.Fatal(err)
	}
	return out, nil
}

func post(t tb, s *store.Store, run *clusterv1.PostUsage, at time.Time) (ledger.Posted, *fault.Error) {
	return entry(t, s, func(tx *store.Tx) (ledger.Posted, *fault.Error) { return ledger.Post(tx, run, at) })
}

func move(t tb, s *store.Store, m *clusterv1.MoveLeases, at time.Time) ledger.Moved {
	out, f := entry(t, s, func(tx *store.Tx) (ledger.Moved, *fault.Error) { return ledger.Move(tx, m, at) })
	if f != nil {
		t.Fatalf("move was rejected: %v", f)
	}
	return out
}

func roll(t tb, s *store.Store, r *clusterv1.RollWindows, at time.Time) ledger.Moved {
	out, f := entry(t, s, func(tx *store.Tx) (ledger.Moved, *fault.Error) { return ledger.Roll(tx, r, at) })
	if f != nil {
		t.Fatalf("roll was rejected: %v", f)
	}
	return out
}

// balance reads an account that may not exist.
func balance(t tb, s *store.Store, a id.Account) ledger.State {
	state, _, err := ledger.Account(s, a)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// sound checks the invariants.
func sound(t tb, s *store.Store) {
	if err := ledger.Invariants(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// dump returns the ledger's part of the state, by space and key.
func dump(t tb, s *store.Store) map[string]string {
	out := map[string]string{}
	for _, space := range []store.Space{
		store.SpaceAccount, store.SpaceAccountEnd, store.SpaceShipped,
		store.SpaceUsage, store.SpaceUsageIndex, store.SpaceDaily,
	} {
		err := s.Scan(t.Context(), store.Range{Space: space}, func(key, value []byte) bool {
			out[fmt.Sprintf("%c%q", space, key)] = string(value)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// day0 is the start of the tests.
func day0() time.Time { return time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC) }

// keyOf returns the hash of the n-th key.
func keyOf(n int) id.KeyHash { return id.HashKey(fmt.Sprint("sk-", n)) }

// keyAccount returns the account of the n-th key.
func keyAccount(n int) id.Account {
	h := keyOf(n)
	return id.Account{Kind: id.AccountKey, Owner: hex.EncodeToString(h[:])}
}

// regenerated makes the n-th key's regenerated successor the key of an event.
func regenerated(e *clusterv1.UsageEvent, n int) {
	origin, h := keyOf(n), keyOf(100+n)
	e.KeyHash, e.OriginHash = h[:], origin[:]
}

// paidBy returns the hash of the key that pays for an event.
func paidBy(e *clusterv1.UsageEvent) []byte {
	if e.GetOriginHash() != nil {
		return e.GetOriginHash()
	}
	return e.GetKeyHash()
}

func accountID(a id.Account) *clusterv1.AccountID {
	return &clusterv1.AccountID{Kind: clusterv1.AccountKind(a.Kind), Owner: a.Owner, Part: a.Part}
}

// accountNamed is the inverse of accountID.
func accountNamed(m *clusterv1.AccountID) id.Account {
	return id.Account{Kind: id.AccountKind(m.GetKind()), Owner: m.GetOwner(), Part: m.GetPart()}
}

// attempt returns a successful event with a cost, which ends its request.
func attempt(key int, cost int64, charges ...*clusterv1.Charge) *clusterv1.UsageEvent {
	h := keyOf(key)
	return &clusterv1.UsageEvent{
		Version: 1, Request: fmt.Sprintf("req_%032x", key), Attempt: 1, KeyHash: h[:], KeyAlias: "ada",
		Group: "gpt", Provider: "openai", Model: "gpt-5", CallType: "acompletion",
		StartUnixNano: day0().UnixNano(), EndUnixNano: day0().Add(time.Second).UnixNano(),
		Outcome: clusterv1.Outcome_OUTCOME_SUCCESS, Final: true,
		Tokens: &clusterv1.TokenCounts{Input: 10, Output: 5}, CostPico: cost, Charges: charges,
	}
}

// run returns a run of events of a node's first epoch.
func run(t tb, node string, first uint64, events ...*clusterv1.UsageEvent) *clusterv1.PostUsage {
	out := &clusterv1.PostUsage{Node: node, Epoch: 1, First: first}
	for _, e := range events {
		text, err := proto.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out.Events = append(out.GetEvents(), text)
	}
	return out
}

// crossings returns the types of the crossings among notes.
func crossings(notes []ledger.Note) []string {
	var out []string
	for _, n := range notes {
		if n.Crossing != nil {
			out = append(out, n.Crossing.Type)
		}
	}
	return out
}
