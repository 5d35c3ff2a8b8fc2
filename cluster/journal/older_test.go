package journal_test

import (
	"context"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// olderRecord is a record of a journal from before intentVersion 4.
type olderRecord struct {
	space      store.Space
	key, value []byte
}

// olderRecords reads testdata/records.hex. Each line has the keyspace, the key and the value.
func olderRecords(t *testing.T) []olderRecord {
	t.Helper()
	text, err := os.ReadFile("testdata/records.hex")
	if err != nil {
		t.Fatal(err)
	}
	spaces := map[string]store.Space{"intent": store.SpaceIntent, "event": store.SpaceEvent}
	var out []olderRecord
	for line := range strings.Lines(string(text)) {
		columns := strings.Fields(line)
		key, errKey := hex.DecodeString(columns[1])
		value, errValue := hex.DecodeString(columns[2])
		if errKey != nil || errValue != nil || spaces[columns[0]] == 0 {
			t.Fatalf("not a record: %s", line)
		}
		out = append(out, olderRecord{spaces[columns[0]], key, value})
	}
	return out
}

// olderEvents returns the events of testdata/records.hex.
func olderEvents() []journal.Event {
	first := fullEvent("req_5")
	first.Steps = usage.Steps{Counted: true, Retries: 1, Fallbacks: 2}
	first.ClientStatus = 200
	first.Failures = []usage.Failure{
		{Attempt: 1, Deployment: "dep-0", Provider: "groq", Status: 500, Cause: "http_5xx", Type: "server_error", Code: "boom", Message: "It broke.", RequestID: "up-1"},
		{Attempt: 2, Cause: "reset"},
	}
	return []journal.Event{first, {Attempt: usage.Attempt{Request: "req_6", Number: 1}}, fullEvent("req_7"), blocked("req_8")}
}

// olderIntents returns the intents of testdata/records.hex. They had no tags.
func olderIntents() []usage.Attempt {
	full := func(request id.Request) usage.Attempt {
		a := fullIntent(request)
		a.Tags = nil
		return a
	}
	dated, shared := full("req_3"), full("req_4")
	dated.Steps = usage.Steps{Counted: true, Retries: 1, Fallbacks: 2}
	dated.Start, dated.OwnClock, dated.NotBefore = origin.Add(time.Hour), true, origin
	shared.OfOrganization, shared.Parents = false, nil
	return []usage.Attempt{full("req_1"), {Request: "req_2", Number: 1}, dated, shared}
}

// TestJournalOfAnOlderVersion opens a journal with records of the previous version: events are
// unchanged, and intents become events of crashed attempts.
func TestJournalOfAnOlderVersion(t *testing.T) {
	mem := vfs.NewMem()
	s, err := store.Open(config(mem))
	if err != nil {
		t.Fatal(err)
	}
	b := s.NewBatch()
	for _, r := range olderRecords(t) {
		b.Set(r.space, r.key, r.value)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	n := start(t, config(mem), journal.Config{})
	want := olderEvents()
	for _, a := range olderIntents() {
		want = append(want, journal.Event{Attempt: a, Result: usage.Result{
			End: a.Start, Outcome: usage.Crashed, ErrorCode: journal.CodeCrashed, Source: usage.Estimated, FallbackCount: a.Number - 1, Final: true,
		}})
	}
	for i := range want {
		want[i].ID = journal.EventID{Node: n.store.Identity().Node, Epoch: 1, Seq: uint64(i + 1)}
	}
	if diff := cmp.Diff(want, list(t, n.Journal, journal.Filter{})); diff != "" {
		t.Error(diff)
	}
}

// TestEventsAreStoredAsBefore: the previous version can read the events of this one, because
// the bytes are equal.
func TestEventsAreStoredAsBefore(t *testing.T) {
	n := start(t, config(vfs.NewMem()), journal.Config{})
	await(t, n.Settle(nil, olderEvents()))
	var want []olderRecord
	for _, r := range olderRecords(t) {
		if r.space == store.SpaceEvent {
			want = append(want, r)
		}
	}
	_, texts, err := n.Batch(t.Context(), 0, 10, 1<<20)
	if err != nil || len(texts) != len(want) {
		t.Fatalf("%d events, want %d (%v)", len(texts), len(want), err)
	}
	for i, r := range want {
		if diff := cmp.Diff(r.value, texts[i]); diff != "" {
			t.Errorf("event %d: -before +now\n%s", i+1, diff)
		}
	}
}

// TestIntentOfANewerVersion: older gateways stop at the version of this one's intents. This one
// stops at those of newer gateways, in the intent and in the event within.
func TestIntentOfANewerVersion(t *testing.T) {
	for name, m := range map[string]*clusterv1.UsageIntent{
		"intent":   {Version: 5, Event: &clusterv1.UsageEvent{Version: 1}},
		"event":    {Version: 4, Event: &clusterv1.UsageEvent{Version: 8}},
		"no event": {Version: 4},
	} {
		t.Run(name, func(t *testing.T) {
			mem := vfs.NewMem()
			s, err := store.Open(config(mem))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			value, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			b := s.NewBatch()
			b.Set(store.SpaceIntent, make([]byte, 8), value)
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			b.Close()
			_, err = journal.Open(journal.Config{Store: s})
			unavailable(t, err, "was written by a newer version")
		})
	}
	n := start(t, config(vfs.NewMem()), journal.Config{})
	await(t, n.Intent(fullIntent("req_1")))
	err := n.store.Scan(context.Background(), store.Range{Space: store.SpaceIntent}, func(_, value []byte) bool {
		m := &clusterv1.UsageIntent{}
		if err := proto.Unmarshal(value, m); err != nil || m.GetVersion() != 4 {
			t.Errorf("the intent has version %d, %v", m.GetVersion(), err)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}
