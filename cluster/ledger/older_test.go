package ledger_test

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// TestRecordsOfAnOlderVersion reads usage records of the previous version. Each line of
// testdata/records.hex has the keyspace, the key and the value.
func TestRecordsOfAnOlderVersion(t *testing.T) {
	text, err := os.ReadFile("testdata/records.hex")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t)
	tx := s.NewTx()
	for line := range strings.Lines(string(text)) {
		columns := strings.Fields(line)
		key, errKey := hex.DecodeString(columns[1])
		value, errValue := hex.DecodeString(columns[2])
		if errKey != nil || errValue != nil {
			t.Fatalf("not a record: %s", line)
		}
		tx.Set(store.SpaceUsage, key, value)
	}
	if err := tx.CommitReplayable(); err != nil {
		t.Fatal(err)
	}
	tx.Close()
	origin := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	third := ledger.Record{
		Node: "n1", Epoch: 1, Seq: 3,
		Attempt: usage.Attempt{
			Request: "req_7", Number: 2, Key: id.HashKey("sk-1"), Origin: id.HashKey("sk-0"), KeyAlias: "alice",
			Deployment: "dep-1", Group: "gpt", Provider: "openai", Model: "gpt-x", CallType: "acompletion",
			Stream: true, EndUser: "u-1", OfOrganization: true, Session: "s-1", Tags: []string{"a", "b"},
			Team: "t-1", User: "u-9", Organization: "o-1", Actor: "alice", Start: origin,
			Tokens: usage.Tokens{
				Input: 100, CacheRead: 1, CacheWrite: 2, CacheWrite1h: 3, InputAudio: 4, InputImage: 5,
				Output: 60, Reasoning: 6, OutputAudio: 7, OutputImage: 9, SearchQueries: 8,
				Images: 10, InputCharacters: 11, InputMillis: 12, OutputMillis: 13, Pages: 14,
			},
			Cost: 12345,
		},
		Result: usage.Result{
			FirstToken: origin.Add(time.Second), End: origin.Add(2 * time.Second), Status: 200, Outcome: usage.Success, ErrorCode: "none",
			FinishReason: "stop", Source: usage.Provider, FallbackCount: 1, ServiceTier: "priority", UsageCapped: true, Final: true,
		},
	}
	first := third
	first.Request, first.Seq, first.ClientStatus = "req_5", 1, 200
	first.Steps = usage.Steps{Counted: true, Retries: 1, Fallbacks: 2}
	first.Failures = []usage.Failure{
		{Attempt: 1, Deployment: "dep-0", Provider: "groq", Status: 500, Cause: "http_5xx", Type: "server_error", Code: "boom", Message: "It broke.", RequestID: "up-1"},
		{Attempt: 2, Cause: "reset"},
	}
	want := []ledger.Record{{Node: "n1", Epoch: 1, Seq: 2, Attempt: usage.Attempt{Request: "req_6", Number: 1}}, first, third}
	var got []ledger.Record
	if err := ledger.Logs(t.Context(), s, ledger.LogFilter{}, func(r ledger.Record) bool { got = append(got, r); return true }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(ledger.Record{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if a, b, c := got[0].Fallbacks(), got[1].Fallbacks(), got[2].Fallbacks(); a != 0 || b != 2 || c != 1 || got[1].Account() != id.HashKey("sk-0") {
		t.Errorf("%d, %d and %d fallbacks, paid by %v", a, b, c, got[1].Account())
	}
}
