package journal_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestEndUserOfAnOlderVersion: an event without the field names an end user that all keys
// share, regardless of the key's organization. Events of this version name one of the
// organization, and have a version at which older readers stop.
func TestEndUserOfAnOlderVersion(t *testing.T) {
	old, err := proto.Marshal(&clusterv1.UsageEvent{Version: 2, EndUser: "alice", Organization: "acme", ParentHashes: [][]byte{make([]byte, 32)}})
	if err != nil {
		t.Fatal(err)
	}
	ev, err := journal.Decode("n", 1, 1, old)
	if err != nil || ev.EndUserAccount() != (id.Account{Kind: id.AccountCustomer, Owner: "alice"}) {
		t.Errorf("an old event is of %+v, %v", ev.EndUserAccount(), err)
	}
	n := start(t, config(vfs.NewMem()), journal.Config{})
	for _, ev := range []journal.Event{
		{Attempt: usage.Attempt{Request: "req_1", EndUser: "alice", Organization: "acme", OfOrganization: true}},
		{Attempt: usage.Attempt{Request: "req_2", EndUser: "alice", OfOrganization: true}},
		{Attempt: usage.Attempt{Request: "req_3", Organization: "acme", OfOrganization: true}},
	} {
		await(t, n.Settle(nil, []journal.Event{ev}))
	}
	_, texts, err := n.Batch(t.Context(), 0, 10, 1<<20)
	if err != nil || len(texts) != 3 {
		t.Fatalf("%d events, %v", len(texts), err)
	}
	for i, want := range []struct {
		version uint32
		account id.Account
	}{
		{3, id.Account{Kind: id.AccountCustomer, Owner: "alice", Part: "acme"}},
		{1, id.Account{Kind: id.AccountCustomer, Owner: "alice"}},
		{1, id.Account{Kind: id.AccountCustomer}},
	} {
		m := &clusterv1.UsageEvent{}
		if err := proto.Unmarshal(texts[i], m); err != nil || m.GetVersion() != want.version {
			t.Errorf("event %d has version %d, %v", i+1, m.GetVersion(), err)
		}
		if got := list(t, n.Journal, journal.Filter{})[i].EndUserAccount(); got != want.account {
			t.Errorf("event %d is of %+v, want %+v", i+1, got, want.account)
		}
	}
}

// TestEventsThatOlderNodesWouldPostDifferently: an event whose audit record has more fields
// than version 1 knows has a version at which older readers stop.
func TestEventsThatOlderNodesWouldPostDifferently(t *testing.T) {
	n := start(t, config(vfs.NewMem()), journal.Config{})
	events := []journal.Event{
		{Attempt: usage.Attempt{Request: "req_1", Steps: usage.Steps{Counted: true}}},
		{Attempt: usage.Attempt{Request: "req_2"}, Result: usage.Result{ClientStatus: 200}},
		{Attempt: usage.Attempt{Request: "req_3"}, Result: usage.Result{Failures: []usage.Failure{{Attempt: 1, Cause: "http_429"}}}},
		{Attempt: usage.Attempt{Request: "req_4", Steps: usage.Steps{Counted: true}, EndUser: "alice", Organization: "acme", OfOrganization: true}},
		{Attempt: usage.Attempt{Request: "req_5"}},
		{Attempt: usage.Attempt{Request: "req_6", Steps: usage.Steps{Counted: true}, Team: "blue", BoundedBy: "ada"}},
		{Attempt: usage.Attempt{Request: "req_7", Team: "blue", BoundedBy: "ada"}, Result: usage.Result{Source: usage.Measured}},
		{Attempt: usage.Attempt{Request: "req_8", Prompt: usage.Prompt{ID: "p", Version: 1}}, Result: usage.Result{Source: usage.Measured}},
		{Attempt: usage.Attempt{Request: "req_9", Prompt: usage.Prompt{ID: "p", Version: 1}}, Result: usage.Result{Guardrails: []string{"pii"}}},
		{Attempt: usage.Attempt{Request: "req_a"}, Result: usage.Result{Violations: []usage.Violation{{Guardrail: "pii", Count: 1}}}},
	}
	for _, ev := range events {
		await(t, n.Settle(nil, []journal.Event{ev}))
	}
	_, texts, err := n.Batch(t.Context(), 0, 10, 1<<20)
	if err != nil || len(texts) != len(events) {
		t.Fatalf("%d events, %v", len(texts), err)
	}
	for i, want := range []uint32{2, 2, 2, 3, 1, 4, 5, 6, 7, 7} {
		m := &clusterv1.UsageEvent{}
		if err := proto.Unmarshal(texts[i], m); err != nil || m.GetVersion() != want {
			t.Errorf("event %d has version %d, want %d (%v)", i+1, m.GetVersion(), want, err)
		}
	}
}
