package journal_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

var origin = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// fullIntent has every field set.
func fullIntent(request id.Request) usage.Attempt {
	return usage.Attempt{
		Request: request, Number: 2, Key: id.HashKey("sk-1"), Origin: id.HashKey("sk-0"), Parents: []id.KeyHash{id.HashKey("sk-p"), id.HashKey("sk-q")}, KeyAlias: "alice",
		Deployment: "dep-1", Group: "gpt", Provider: "openai", Model: "gpt-x", CallType: "acompletion",
		Stream: true, EndUser: "u-1", OfOrganization: true, Session: "s-1", Tags: []string{"a", "b"}, Start: origin,
		Team: "t-1", User: "u-9", Organization: "o-1", Actor: "alice", Charges: charges(),
		Tokens: usage.Tokens{Input: 10, InputImage: 2}, Cost: 25,
	}
}

// charges has every form of a charge.
func charges() []usage.Charge {
	return []usage.Charge{
		{Kind: id.AccountKey, Epoch: 3, Hold: 5, Soft: 70, Max: 90, Bounded: true},
		{Kind: id.AccountTeam, Epoch: 1, Bounded: true},
		{Kind: id.AccountOrganizationModel, Soft: 1},
		{Kind: id.AccountKeyModel, Key: id.HashKey("sk-p"), Epoch: 2, Max: 9, Bounded: true},
	}
}

// fullEvent has every field set but the ID and the notice.
func fullEvent(request id.Request) journal.Event {
	return journal.Event{
		Attempt: usage.Attempt{
			Request: request, Number: 2, Key: id.HashKey("sk-1"), Origin: id.HashKey("sk-0"), Parents: []id.KeyHash{id.HashKey("sk-p"), id.HashKey("sk-q")}, KeyAlias: "alice",
			Deployment: "dep-1", Group: "gpt", Provider: "openai", Model: "gpt-x", CallType: "acompletion",
			Stream: true, EndUser: "u-1", OfOrganization: true, Session: "s-1", Tags: []string{"a", "b"},
			Team: "t-1", User: "u-9", Organization: "o-1", Actor: "alice", Charges: charges(),
			Start: origin,
			Tokens: usage.Tokens{
				Input: 100, CacheRead: 1, CacheWrite: 2, CacheWrite1h: 3, InputAudio: 4, InputImage: 5,
				Output: 60, Reasoning: 6, OutputAudio: 7, OutputImage: 9, SearchQueries: 8,
				Images: 10, InputCharacters: 11, InputMillis: 12, OutputMillis: 13, Pages: 14,
			}, Cost: 12345,
		},
		Result: usage.Result{
			FirstToken: origin.Add(time.Second), End: origin.Add(2 * time.Second),
			Status: 200, Outcome: journal.Success, ErrorCode: "none", FinishReason: "stop",
			Source: usage.Provider, FallbackCount: 1, ServiceTier: "priority", UsageCapped: true, Final: true,
		},
		Fallbacks: []journal.Fallback{
			{Attempt: 1, Deployment: "dep-0", Provider: "groq", Model: "llama", Status: 500, ErrorCode: "upstream_error", From: "gpt", To: "other"},
			{Attempt: 2, ErrorCode: "unknown", From: "other", To: "gpt-5"},
		},
	}
}

// blocked is a notice with every field set.
func blocked(request id.Request) journal.Event {
	return journal.Event{
		Attempt: usage.Attempt{
			Request: request, Key: id.HashKey("sk-1"), Actor: "alice", Group: "gpt", Start: origin,
		},
		Result: usage.Result{End: origin, Final: true},
		Notice: &journal.Notice{
			Type: "request.blocked", Code: "budget_exceeded", Count: 2, Details: `{"a":1}`,
			Account: id.Account{Kind: id.AccountTeamMember, Owner: "t-1", Part: "u-9"}, AccountEpoch: 4,
		},
	}
}

func await(tb testing.TB, pending ...*journal.Pending) {
	tb.Helper()
	for _, p := range pending {
		if err := p.Wait(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
}

func unavailable(tb testing.TB, err error, detail string) {
	tb.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.StorageUnavailable || !strings.Contains(e.Message(), detail) {
		tb.Errorf("got %v; want StorageUnavailable with %q", err, detail)
	}
}

func TestEventSurvivesAsItIs(t *testing.T) {
	mem := vfs.NewMem()
	n, err := boot(config(mem), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	minimal := journal.Event{Attempt: usage.Attempt{Request: "req_2"}, Result: usage.Result{Source: usage.None}}
	// The event after the largest shows leftovers in the encoder's memory.
	events := []journal.Event{fullEvent("req_1"), minimal, blocked("req_3"), {Attempt: usage.Attempt{Request: "req_4"}, Notice: &journal.Notice{Type: "key.invalid"}}}
	await(t, n.Settle(nil, events))
	identity := n.store.Identity()
	for i := range events {
		want := journal.EventID{Node: identity.Node, Epoch: 1, Seq: uint64(i + 1)}
		if events[i].ID != want {
			t.Errorf("event %d was told its ID is %v, want %v", i, events[i].ID, want)
		}
	}
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
	n = start(t, config(mem), journal.Config{})
	if diff := cmp.Diff(events, list(t, n.Journal, journal.Filter{})); diff != "" {
		t.Error(diff)
	}
}

func TestEveryOutcomeAndSourceSurvives(t *testing.T) {
	n := start(t, config(vfs.NewMem()), journal.Config{})
	var events []journal.Event
	for o := usage.Outcome(0); o <= journal.Crashed; o++ {
		for s := usage.None; s <= usage.Measured; s++ {
			events = append(events, journal.Event{Result: usage.Result{Outcome: o, Source: s}})
		}
	}
	await(t, n.Settle(nil, events))
	if diff := cmp.Diff(events, list(t, n.Journal, journal.Filter{})); diff != "" {
		t.Error(diff)
	}
}

func TestTextsThatAreNotUTF8AreKeptReadable(t *testing.T) {
	mem := vfs.NewMem()
	n, err := boot(config(mem), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ev := journal.Event{Attempt: usage.Attempt{Request: "req_1", EndUser: "a\xffb", Tags: []string{"\xc0\xc1"}}}
	in := fullIntent("req_2")
	in.EndUser = "\xfe"
	await(t, n.Settle(nil, []journal.Event{ev}), n.Intent(in))
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
	n = start(t, config(mem), journal.Config{})
	got := list(t, n.Journal, journal.Filter{})
	if len(got) != 2 || got[0].EndUser != "a\uFFFDb" || got[0].Tags[0] != "\uFFFD" || got[1].EndUser != "\uFFFD" {
		t.Errorf("got %+v", got)
	}
}

// TestDeadAttemptsAreCharged opens the journal of a dead process, twice.
func TestDeadAttemptsAreCharged(t *testing.T) {
	mem := vfs.NewMem()
	n, err := boot(config(mem), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	open, ended, dropped := n.Intent(fullIntent("req_1")), n.Intent(fullIntent("req_2")), n.Intent(fullIntent("req_3"))
	await(t, open, ended, dropped)
	await(t, n.Settle([]*journal.Pending{ended}, []journal.Event{fullEvent("req_2")}), n.Settle([]*journal.Pending{dropped}, nil))
	want := []journal.Event{fullEvent("req_2"), {
		Attempt: usage.Attempt{
			Request: "req_1", Number: 2, Key: id.HashKey("sk-1"), Origin: id.HashKey("sk-0"), Parents: []id.KeyHash{id.HashKey("sk-p"), id.HashKey("sk-q")}, KeyAlias: "alice",
			Deployment: "dep-1", Group: "gpt", Provider: "openai", Model: "gpt-x", CallType: "acompletion",
			Stream: true, EndUser: "u-1", OfOrganization: true, Session: "s-1", Tags: []string{"a", "b"}, Start: origin,
			Team: "t-1", User: "u-9", Organization: "o-1", Actor: "alice", Charges: charges(),
			Tokens: usage.Tokens{Input: 10, InputImage: 2}, Cost: 25,
		},
		Result: usage.Result{
			End: origin, Final: true,
			Outcome: journal.Crashed, ErrorCode: journal.CodeCrashed, Source: usage.Estimated, FallbackCount: 1,
		},
	}}
	for i := range want {
		want[i].ID = journal.EventID{Node: n.store.Identity().Node, Epoch: 1, Seq: uint64(i + 1)}
	}
	for range 2 {
		if err := n.shut(); err != nil {
			t.Fatal(err)
		}
		if n, err = boot(config(mem), journal.Config{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, list(t, n.Journal, journal.Filter{})); diff != "" {
			t.Error(diff)
		}
	}
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
}

// TestSettleInTheSameCommitNetsOut queues before Run starts, so that everything is in one
// commit.
func TestSettleInTheSameCommitNetsOut(t *testing.T) {
	s, err := store.Open(config(vfs.NewMem()))
	if err != nil {
		t.Fatal(err)
	}
	var commits []journal.Commit
	j, err := journal.Open(journal.Config{Store: s, Committed: func(c journal.Commit) {
		c.Elapsed = 0
		commits = append(commits, c)
	}})
	if err != nil {
		t.Fatal(err)
	}
	unavailable(t, j.Healthy(), "starting")
	a, b, c := j.Intent(fullIntent("req_1")), j.Intent(fullIntent("req_2")), j.Intent(fullIntent("req_3"))
	pending := []*journal.Pending{
		a, b, c,
		j.Settle([]*journal.Pending{a, nil}, []journal.Event{fullEvent("req_1")}),
		j.Settle([]*journal.Pending{b}, nil),
		j.Settle([]*journal.Pending{b, a}, nil), // again
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- j.Run(ctx) }()
	await(t, pending...)
	if err := j.Healthy(); err != nil {
		t.Error(err)
	}
	if err := j.Run(ctx); err == nil {
		t.Error("Run ran twice")
	}
	await(t, j.Settle([]*journal.Pending{c, pending[3]}, []journal.Event{fullEvent("req_3")}))
	cancel()
	if err := errors.Join(<-ran, s.Close()); err != nil {
		t.Error(err)
	}
	want := []journal.Commit{{Intents: 1, Netted: 2, Events: 1}, {Settled: 1, Events: 1}}
	if diff := cmp.Diff(want, commits); diff != "" {
		t.Error(diff)
	}
}

func TestRunDrainsAndThenRejects(t *testing.T) {
	mem := vfs.NewMem()
	s, err := store.Open(config(mem))
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(journal.Config{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	queued := j.Settle(nil, []journal.Event{fullEvent("req_1")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	unavailable(t, queued.Wait(ctx), "not written in time")
	if err := queued.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is lost: %v", err)
	}
	if err := j.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := queued.Wait(ctx); err != nil {
		t.Errorf("written, but Wait returned %v", err)
	}
	unavailable(t, j.Healthy(), "shutting down")
	late := j.Intent(fullIntent("req_2"))
	<-late.Done()
	unavailable(t, late.Wait(t.Context()), "shutting down")
	unavailable(t, j.Settle([]*journal.Pending{late}, []journal.Event{fullEvent("req_2")}).Wait(t.Context()), "shutting down")
	if got := list(t, j, journal.Filter{}); len(got) != 1 {
		t.Errorf("got %d events", len(got))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestNothingIsShownBeforeItIsSynced delays the sync of the log: only callers of Wait wait for
// it, and no scan returns unsynced events.
func TestNothingIsShownBeforeItIsSynced(t *testing.T) {
	var held atomic.Bool
	entered, release := make(chan struct{}, 1), make(chan struct{})
	fsys := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		isSync := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo
		if isSync && strings.HasSuffix(op.Path, ".log") && held.Load() {
			entered <- struct{}{}
			<-release
		}
		return nil
	}))
	n := start(t, config(fsys), journal.Config{})
	await(t, n.Settle(nil, []journal.Event{fullEvent("req_1")}))
	held.Store(true)
	second := n.Settle(nil, []journal.Event{fullEvent("req_2")})
	<-entered
	intent := n.Intent(fullIntent("req_3")) // none of these waits for the disk
	third := n.Settle([]*journal.Pending{intent}, []journal.Event{fullEvent("req_3")})
	select {
	case <-second.Done():
		t.Error("confirmed before the sync")
	case <-third.Done():
		t.Error("confirmed before the sync")
	default:
	}
	if got := list(t, n.Journal, journal.Filter{}); len(got) != 1 {
		t.Errorf("%d events are returned, 1 is synced", len(got))
	}
	held.Store(false)
	close(release)
	await(t, second, intent, third)
	if got := list(t, n.Journal, journal.Filter{}); len(got) != 3 {
		t.Errorf("%d events are returned, 3 are synced", len(got))
	}
}

func TestTooManyWaiting(t *testing.T) {
	s, err := store.Open(config(vfs.NewMem()))
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(journal.Config{Store: s, MaxPending: 2})
	if err != nil {
		t.Fatal(err)
	}
	pending := []*journal.Pending{j.Intent(fullIntent("req_1")), j.Intent(fullIntent("req_2"))}
	unavailable(t, j.Healthy(), "does not keep up")
	refused := j.Intent(fullIntent("req_3"))
	unavailable(t, refused.Wait(t.Context()), "does not keep up")
	pending = append(pending, j.Settle([]*journal.Pending{refused, pending[0]}, []journal.Event{fullEvent("req_1")}))
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- j.Run(ctx) }()
	await(t, pending...)
	if err := j.Healthy(); err != nil {
		t.Error(err)
	}
	cancel()
	if err := errors.Join(<-ran, s.Close()); err != nil {
		t.Error(err)
	}
}

func TestScanFilters(t *testing.T) {
	n := start(t, config(vfs.NewMem()), journal.Config{})
	alice, bob := id.HashKey("sk-alice"), id.HashKey("sk-bob")
	at := func(m int) time.Time { return origin.Add(time.Duration(m) * time.Minute) }
	await(t, n.Settle(nil, []journal.Event{
		{Attempt: usage.Attempt{Request: "req_1", Key: alice, Start: at(0)}},
		{Attempt: usage.Attempt{Request: "req_2", Key: bob, Start: at(2)}},
		{Attempt: usage.Attempt{Request: "req_2", Key: bob, Start: at(1)}},
		{Attempt: usage.Attempt{Request: "req_3", Key: alice, Start: at(3)}},
	}))
	for _, tc := range []struct {
		name   string
		filter journal.Filter
		want   []uint64
	}{
		{"all", journal.Filter{}, []uint64{1, 2, 3, 4}},
		{"newest first", journal.Filter{NewestFirst: true}, []uint64{4, 3, 2, 1}},
		{"limit", journal.Filter{NewestFirst: true, Limit: 2}, []uint64{4, 3}},
		{"request", journal.Filter{Request: "req_2"}, []uint64{2, 3}},
		{"key", journal.Filter{Key: &alice}, []uint64{1, 4}},
		{"key and limit", journal.Filter{Key: &alice, Limit: 1, NewestFirst: true}, []uint64{4}},
		{"from", journal.Filter{From: at(2)}, []uint64{2, 4}},
		{"to", journal.Filter{To: at(2)}, []uint64{1, 3}},
		{"from and to", journal.Filter{From: at(1), To: at(2)}, []uint64{3}},
		{"none", journal.Filter{Request: "req_9"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []uint64
			for _, ev := range list(t, n.Journal, tc.filter) {
				got = append(got, ev.ID.Seq)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	calls := 0
	err := n.Scan(t.Context(), journal.Filter{}, func(journal.Event) bool { calls++; return false })
	if err != nil || calls != 1 {
		t.Errorf("a scan that must stop makes %d calls, %v", calls, err)
	}
}

// TestDamagedRecordsAreRejected: a journal with a hole would charge less than was used.
func TestDamagedRecordsAreRejected(t *testing.T) {
	newer := []byte("\x08\x63")
	for _, tc := range []struct {
		name       string
		space      store.Space
		key, value []byte
	}{
		{"mark", store.SpaceMark, []byte("\x00\x00\x00\x00\x00\x00\x00\x01"), newer},
		{"garbled mark", store.SpaceMark, []byte("\x00\x00\x00\x00\x00\x00\x00\x01"), []byte("\xff")},
		{"intent", store.SpaceIntent, []byte("\x00\x00\x00\x00\x00\x00\x00\x01"), newer},
		{"garbled intent", store.SpaceIntent, []byte("\x00\x00\x00\x00\x00\x00\x00\x01"), []byte("\xff")},
		{"intent key", store.SpaceIntent, []byte("\x00"), []byte("\x08\x01")},
		{"event key", store.SpaceEvent, []byte("\x00\x00\x00\x00\x00\x00\x00\x01\x00"), []byte("\x08\x01")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := store.Open(config(vfs.NewMem()))
			if err != nil {
				t.Fatal(err)
			}
			b := s.NewBatch()
			b.Set(tc.space, tc.key, tc.value)
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			b.Close()
			_, err = journal.Open(journal.Config{Store: s})
			unavailable(t, err, "cannot be read")
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDamagedEventStopsAScan(t *testing.T) {
	n := start(t, config(vfs.NewMem()), journal.Config{})
	await(t, n.Settle(nil, []journal.Event{fullEvent("req_1"), fullEvent("req_2")}))
	b := n.store.NewBatch()
	b.Set(store.SpaceEvent, []byte("\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02"), []byte("\x08\x63"))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	b.Close()
	seen := 0
	err := n.Scan(t.Context(), journal.Filter{}, func(journal.Event) bool { seen++; return true })
	unavailable(t, err, "cannot be read")
	if seen != 1 {
		t.Errorf("%d events before the damaged one, want 1", seen)
	}
}

func TestNames(t *testing.T) {
	got := []string{usage.Outcome(0).String(), journal.Success.String(), journal.Failed.String(), journal.Canceled.String(), journal.Crashed.String()}
	if diff := cmp.Diff([]string{"unknown", "success", "failed", "canceled", "crashed"}, got); diff != "" {
		t.Error(diff)
	}
	if s := (journal.EventID{Node: "n", Epoch: 1, Seq: 2}).String(); s != "n/1/2" {
		t.Error(s)
	}
}
