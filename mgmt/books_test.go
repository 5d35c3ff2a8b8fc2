package mgmt

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// books are the part of a state that no transaction writes, in memory.
type books map[string][]byte

func (b books) Get(space store.Space, key []byte) (value []byte, ok bool, err error) {
	value, ok = b[string(rune(space))+string(key)]
	return value, ok, nil
}

// scan calls fn for each key of a range, as a store does.
func (b books) scan(r store.Range, fn func(key, value []byte) bool) error {
	keys := slices.Sorted(maps.Keys(b))
	if r.Reverse {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		of, key := k[:len(string(rune(r.Space)))], k[len(string(rune(r.Space))):]
		if of != string(rune(r.Space)) || !strings.HasPrefix(key, string(r.Prefix)) || key < string(r.From) || len(r.To) > 0 && key >= string(r.To) {
			continue
		}
		if !fn([]byte(key), b[k]) {
			break
		}
	}
	return nil
}

func (b books) Scan(_ context.Context, r store.Range, fn func(key, value []byte) bool) error {
	return b.scan(r, fn)
}

// batch is the books as a state machine writes them.
type batch struct{ books }

func (b batch) Set(space store.Space, key, value []byte) {
	b.books[string(rune(space))+string(key)] = slices.Clone(value)
}

func (b batch) Delete(space store.Space, key []byte) {
	delete(b.books, string(rune(space))+string(key))
}

func (b batch) Scan(r store.Range, fn func(key, value []byte) bool) error { return b.scan(r, fn) }

// note writes what a transaction says beside its records, as a node does.
func (n *fakeNode) note(tx *record.Txn) error {
	m, err := tx.Message()
	if err != nil {
		return err
	}
	if _, f := ledger.SetSpends(batch{n.mu.books}, m.GetSetSpends(), n.mu.now); f != nil {
		return f
	}
	if f := audit.AppendAll(batch{n.mu.books}, audit.DefaultWorkspace, m.GetAudit(), n.mu.now); f != nil {
		return f
	}
	return nil
}

// post posts events of a node's journal, which are its next ones.
func (n *fakeNode) post(t *testing.T, events ...*clusterv1.UsageEvent) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	run := &clusterv1.PostUsage{Node: "11111111111111111111111111111111", Epoch: 1, First: n.mu.posted + 1}
	for _, e := range events {
		text, err := proto.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		run.Events = append(run.Events, text)
	}
	if _, f := ledger.Post(batch{n.mu.books}, run, n.mu.now); f != nil {
		t.Fatal(f)
	}
	n.mu.posted += uint64(len(events))
}

func (n *fakeNode) Account(ctx context.Context, a id.Account) (ledger.State, error) {
	if err := n.begin(ctx); err != nil {
		return ledger.State{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s, _, err := ledger.Account(n.mu.books, a)
	return s, err
}

func (n *fakeNode) KeyAccount(ctx context.Context, key id.KeyHash) (id.KeyHash, error) {
	if err := n.begin(ctx); err != nil {
		return key, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return ledger.KeyAccount(n.mu.books, key)
}

func (n *fakeNode) Customers(ctx context.Context, from id.EndUser, fn func(id.EndUser) bool) error {
	if err := n.begin(ctx); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return ledger.EndUsers(ctx, n.mu.books, from, fn)
}

func (n *fakeNode) Models(ctx context.Context, kind id.AccountKind, owner string, fn func(string, ledger.State) bool) error {
	if err := n.begin(ctx); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return ledger.Parts(ctx, n.mu.books, kind, owner, fn)
}

func (n *fakeNode) Logs(ctx context.Context, f ledger.LogFilter, fn func(ledger.Record) bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	f.Reads = 3 // so that most queries take several
	return ledger.Logs(ctx, n.mu.books, f, fn)
}

func (n *fakeNode) Daily(ctx context.Context, f ledger.DailyFilter, fn func(ledger.DailyRow) bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dailies.Add(1)
	return ledger.Daily(ctx, n.mu.books, f, fn)
}

func (n *fakeNode) Notify(ev journal.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.notices = append(n.mu.notices, ev)
}

// noticed returns what was told since the last call.
func (n *fakeNode) noticed() []journal.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.mu.notices
	n.mu.notices = nil
	return out
}

// auditOf is the audit log of a node.
type auditOf struct{ *fakeNode }

func (a auditOf) Query(ctx context.Context, f audit.Filter, fn func(audit.Record) bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return audit.Query(ctx, a.mu.books, audit.DefaultWorkspace, f, fn)
}

func (a auditOf) Record(ctx context.Context, number uint64) (audit.Record, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return audit.Get(ctx, a.mu.books, audit.DefaultWorkspace, number)
}

func (a auditOf) Export(ctx context.Context, out io.Writer, from uint64) error {
	return audit.StreamExport(ctx, out, func(fn func(audit.Reader) error) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		return fn(a.mu.books)
	}, audit.Export{Workspace: audit.DefaultWorkspace, From: from})
}

func (a auditOf) Verify(ctx context.Context, from, to uint64) (audit.Report, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return audit.Verify(ctx, a.mu.books, audit.DefaultWorkspace, audit.Check{From: from, To: to})
}

// records are the records of the audit log from a number on, in its order.
func (a auditOf) records(t *testing.T, from uint64) []audit.Record {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []audit.Record
	if err := audit.From(t.Context(), a.mu.books, audit.DefaultWorkspace, from, func(r audit.Record) bool {
		out = append(out, r)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return slices.Clip(out)
}

// used is an event of a request that took one attempt.
func used(at time.Time, cost int64) *clusterv1.UsageEvent {
	return &clusterv1.UsageEvent{
		Version: 1,
		Request: "req_0a1b2c3d4e5f60718293a4b5c6d7e8f9", Attempt: 1, KeyHash: make([]byte, 32), Outcome: clusterv1.Outcome_OUTCOME_SUCCESS,
		Tokens: &clusterv1.TokenCounts{Input: 100, CacheRead: 40, Output: 10},
		Group:  "fast", Model: "gpt-4o", Provider: "openai", CallType: "chat.completions",
		StartUnixNano: at.UnixNano(), EndUnixNano: at.Add(time.Second).UnixNano(),
		CostPico: cost, Final: true,
	}
}

// window gives an account a window that ends at a time.
func (n *fakeNode) window(t *testing.T, a id.Account, duration string, ends time.Time) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	_, f := ledger.Move(batch{n.mu.books}, &clusterv1.MoveLeases{
		Node: "11111111111111111111111111111111",
		Asks: []*clusterv1.LeaseAsk{{
			Account:  &clusterv1.AccountID{Kind: clusterv1.AccountKind(a.Kind), Owner: a.Owner, Part: a.Part},
			Duration: duration, ResetsUnixNano: ends.UnixNano(),
		}},
	}, n.mu.now)
	if f != nil {
		t.Fatal(f)
	}
}
