package audit_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/audit"
	events "github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const workspace = audit.DefaultWorkspace

// base returns the time of the first event.
func base() time.Time { return time.Date(2026, 6, 29, 10, 0, 0, 123456789, time.UTC) }

// open returns an in-memory state, whose records are packed.
func open(tb testing.TB) *store.Store {
	tb.Helper()
	s := openOlder(tb)
	change(tb, s, func(tx *store.Tx) error {
		if f := audit.Begin(tx, workspace); f != nil {
			return f
		}
		return nil
	})
	return s
}

// openOlder returns an in-memory state, whose records are kept as older versions do.
func openOlder(tb testing.TB) *store.Store {
	tb.Helper()
	s, err := store.Open(store.Config{Dir: "state", FS: vfs.NewMem(), Kind: store.StateStore, MinFreeBytes: 1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// change commits a change.
func change(tb testing.TB, s *store.Store, fn func(tx *store.Tx) error) {
	tb.Helper()
	tx := s.NewTx()
	defer tx.Close()
	if err := fn(tx); err != nil {
		tb.Fatal(err)
	}
	if err := tx.CommitReplayable(); err != nil {
		tb.Fatal(err)
	}
}

// write appends events.
func write(t *testing.T, s *store.Store, recorded time.Time, events ...*clusterv1.AuditEvent) {
	t.Helper()
	change(t, s, func(tx *store.Tx) error {
		if f := audit.AppendAll(tx, workspace, events, recorded); f != nil {
			return f
		}
		return nil
	})
}

// sign writes a checkpoint of the current chain.
func sign(t *testing.T, s *store.Store, signer *audit.Signer, now time.Time) string {
	t.Helper()
	head, err := audit.Head(s, workspace)
	if err != nil {
		t.Fatal(err)
	}
	c, err := audit.Sign(head, workspace, now, signer)
	if err != nil {
		t.Fatal(err)
	}
	change(t, s, func(tx *store.Tx) error {
		if f := audit.PutCheckpoint(tx, workspace, c); f != nil {
			return f
		}
		return nil
	})
	return c.GetNote()
}

func newSigner(t *testing.T) *audit.Signer {
	t.Helper()
	private, verifier := audit.NewSigner()
	s, err := audit.ParseSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	if s.Verifier().String() != verifier {
		t.Fatalf("the parsed key is %s, want %s", s.Verifier(), verifier)
	}
	return s
}

// event returns event n of a mix of types.
func event(n int) *clusterv1.AuditEvent {
	key := id.HashKey(fmt.Sprint("sk-", n%3))
	e := &clusterv1.AuditEvent{
		Type: events.Types()[n%5], TimeUnixNano: base().Add(time.Duration(n) * time.Second).UnixNano(),
		OrgId: "acme", TeamId: fmt.Sprint("team-", n%2), KeyHash: key[:], Model: "gpt-4o-eu", Provider: "openai",
		TokensInput: int64(n), TokensOutput: 7, CostPico: 1_250_000 * int64(n), LatencyMs: 812,
		RequestId: fmt.Sprintf("req_%032x", n/2), CustomerId: "c-1", Actor: "ci",
	}
	if n%4 == 3 {
		e = &clusterv1.AuditEvent{Type: "key.created", TimeUnixNano: e.GetTimeUnixNano(), DetailsJson: `{"b":1,"a":{"z":[1.50,2]}}`}
	}
	return e
}

// fill writes n events in entries of 100.
func fill(t *testing.T, s *store.Store, n int) {
	t.Helper()
	for from := 0; from < n; from += 100 {
		var events []*clusterv1.AuditEvent
		for i := from; i < min(from+100, n); i++ {
			events = append(events, event(i))
		}
		write(t, s, base().Add(time.Duration(from)*time.Second), events...)
	}
}

func verify(t *testing.T, s *store.Store, c audit.Check) audit.Report {
	t.Helper()
	report, err := audit.Verify(t.Context(), s, workspace, c)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// golden compares data with a golden file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// story returns unusual events: with all fields, with none, with text that JSON must escape, and
// with details that are not an object.
func story() []*clusterv1.AuditEvent {
	key := id.HashKey("sk-story")
	at := base().UnixNano()
	return []*clusterv1.AuditEvent{
		{
			Type: "request.routed", TimeUnixNano: at, OrgId: "acme", TeamId: "team-1", KeyHash: key[:], CustomerId: "customer-1",
			Model: "gpt-4o-eu", Provider: "openai", TokensInput: 1200, TokensOutput: 340, CostPico: 6_400_000_001,
			LatencyMs: 812, TimeToFirstTokenMs: 95, GuardrailId: "pii", GuardrailViolations: []*clusterv1.GuardrailViolation{
				{Guardrail: "pii", Engine: "presidio", Hook: "pre_call", Entity: "PERSON", Action: "anonymize", Count: 2, Place: "messages[2].content", Offset: 17},
				{Guardrail: `a"b`, Engine: "tool_permission", Hook: "post_call", Entity: "TOOL", Action: "block", Count: 1},
			},
			TokenSavingPlanId: "plan", CacheHit: true, PromptId: "p-1", MemoryId: "m-1", FallbackCount: 2, PolicyVersion: 3,
			RequestId: "req_0123456789abcdef0123456789abcdef", DetailsJson: `{"z":1,"a":"x"}`, Actor: "ci",
		},
		{},
		{Type: "key.created", TimeUnixNano: at, Actor: "<&>\u2028\u2029\x00\x01\b\t\n\f\r\x1f\x7f\"\\/é😀", TeamId: "\xff\xfe", DetailsJson: "{"},
		{
			Type: "management.changed", TimeUnixNano: at, DetailsJson: ` { "€" : 1.000000000001 , "\u000a":[1e5, 10000000000000000001 ], "":{"b":null,"a":true},"<":"\u003c"} `,
			CostPico: -5, KeyHash: []byte("short"),
		},
	}
}

func TestGoldenChain(t *testing.T) {
	s := open(t)
	for i, e := range story() {
		write(t, s, base().Add(time.Duration(i+1)*time.Second), e)
	}
	private, err := os.ReadFile("testdata/signer.txt")
	if err != nil {
		t.Fatal(err)
	}
	sign(t, s, parseSigner(t, private), base().Add(time.Minute))
	var out bytes.Buffer
	if err := audit.WriteExport(t.Context(), &out, s, audit.Export{Workspace: workspace}); err != nil {
		t.Fatal(err)
	}
	golden(t, "chain.jsonl", out.Bytes())
	out.Reset()
	if err := audit.WriteExport(t.Context(), &out, s, audit.Export{Workspace: workspace, From: 3, ExternalOnly: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "external.jsonl", out.Bytes())
	out.Reset()
	for r, err := range audit.Records(t.Context(), s, workspace, audit.Filter{OldestFirst: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(r.Full(), '\n'))
	}
	golden(t, "full.jsonl", out.Bytes())
	out.Reset()
	if err := audit.WriteCSV(&out, audit.Records(t.Context(), s, workspace, audit.Filter{OldestFirst: true})); err != nil {
		t.Fatal(err)
	}
	golden(t, "records.csv", out.Bytes())
	out.Reset()
	r, _, err := audit.Get(t.Context(), s, workspace, 1)
	if err != nil {
		t.Fatal(err)
	}
	body, headers := audit.Delivered(r)
	fmt.Fprintf(&out, "%s\n%s\n", body, headers)
	golden(t, "delivered.txt", out.Bytes())
}

// TestOlderChain: a chain with violations of another form verifies, because the hashes cover the stored bytes.
func TestOlderChain(t *testing.T) {
	private, err := os.ReadFile("testdata/signer.txt")
	if err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile("testdata/chain_older.jsonl")
	if err != nil || !bytes.Contains(older, []byte(`"guardrail_violations":["PERSON"`)) {
		t.Fatalf("%s, %v", older, err)
	}
	verifier := parseSigner(t, private).Verifier()
	report, err := audit.VerifyExport(t.Context(), bytes.NewReader(older), audit.Check{Verifiers: []audit.Verifier{verifier}})
	if err != nil || !report.Valid || report.Checked != 4 || report.Checkpoints != 1 {
		t.Errorf("%+v %v", report, err)
	}
}

func TestEmptyChain(t *testing.T) {
	s := open(t)
	write(t, s, base())
	report := verify(t, s, audit.Check{Indexes: true})
	if !report.Valid || report.Checked != 0 || report.First != 0 || report.Last != 0 {
		t.Errorf("%+v", report)
	}
	var out bytes.Buffer
	if err := audit.WriteExport(t.Context(), &out, s, audit.Export{Workspace: workspace}); err != nil {
		t.Fatal(err)
	}
	if report, err := audit.VerifyExport(t.Context(), &out, audit.Check{}); err != nil || !report.Valid {
		t.Errorf("%+v %v", report, err)
	}
}

// TestBatchesDoNotMatter: the chain does not depend on the sizes of the entries.
func TestBatchesDoNotMatter(t *testing.T) {
	var heads []audit.ChainHead
	for _, size := range []int{1, 7, 64} {
		s := open(t)
		for from := 0; from < 64; from += size {
			var events []*clusterv1.AuditEvent
			for i := from; i < min(from+size, 64); i++ {
				events = append(events, event(i))
			}
			write(t, s, base(), events...)
		}
		head, err := audit.Head(s, workspace)
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, head)
	}
	if heads[0] != heads[1] || heads[0] != heads[2] {
		t.Errorf("%x", heads)
	}
}

func TestEventID(t *testing.T) {
	for text, want := range map[string]uint64{
		"evt_0000000000000001": 1, "evt_00000000000000ff": 255, "evt_ffffffffffffffff": 1<<64 - 1,
		"evt_0000000000000000": 0, "evt_00000000000000FF": 0, "evt_1": 0, "": 0, "req_0000000000000001": 0, "evt_+000000000000001": 0,
	} {
		got, ok := audit.ParseEventID(text)
		if ok != (want != 0) || ok && (got != want || audit.EventID(got) != text) {
			t.Errorf("%s: %d %v", text, got, ok)
		}
	}
}

func TestWorkspaceNames(t *testing.T) {
	s := open(t)
	for _, name := range []string{"", "a b", "a\x00", "A", strings.Repeat("a", 65), "a\nb"} {
		tx := s.NewTx()
		if f := audit.Append(tx, name, event(0), base()); f == nil {
			t.Errorf("%q is accepted", name)
		}
		tx.Close()
	}
}

// TestWorkspacesAreSeparate: also if one name is a prefix of another.
func TestWorkspacesAreSeparate(t *testing.T) {
	s := open(t)
	change(t, s, func(tx *store.Tx) error {
		for i, name := range []string{"a", "ab", "a", "a-", "ab"} {
			if f := audit.Append(tx, name, event(i), base()); f != nil {
				return f
			}
		}
		return nil
	})
	for name, want := range map[string]uint64{"a": 2, "ab": 2, "a-": 1} {
		report, err := audit.Verify(t.Context(), s, name, audit.Check{Indexes: true})
		if err != nil || !report.Valid || report.Checked != want {
			t.Errorf("%s: %+v %v", name, report, err)
		}
		n := 0
		if err := audit.Query(context.Background(), s, name, audit.Filter{}, func(audit.Record) bool { n++; return true }); err != nil || uint64(n) != want {
			t.Errorf("%s: %d records, %v", name, n, err)
		}
	}
}
