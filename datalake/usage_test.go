package datalake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// someUsage passes n records to fn.
func someUsage(n int, fn func(uint64, ledger.Record) bool) {
	at := time.Unix(1_800_000_000, 0)
	for i := range n {
		r := ledger.Record{Node: "n1", Epoch: 1, Seq: uint64(i + 1)}
		r.Request, r.Team, r.Group, r.Model = id.Request(fmt.Sprintf("req_%032x", i*7919)), "red", "fast", "gpt-5"
		r.Key[0], r.Key[1] = byte(i), byte(i>>8)
		r.Start, r.End, r.Cost = at, at.Add(time.Duration(i)*time.Millisecond), money.Pico(i*1001)
		r.Tags = []string{"a", "b"}
		if !fn(uint64(i+1), r) {
			return
		}
	}
}

// TestMemoryIsBounded: the heap while a file with many row groups is written does not grow with the rows.
func TestMemoryIsBounded(t *testing.T) {
	peak := func(n int) (most uint64) {
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		err := WriteUsage(io.Discard, func(fn func(uint64, ledger.Record) bool) error {
			someUsage(n, func(number uint64, r ledger.Record) bool {
				if number%20_000 == 19_000 { // before a row group ends
					runtime.GC()
					runtime.ReadMemStats(&now)
					most = max(most, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
				}
				return fn(number, r)
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return most
	}
	few, many := peak(20_000), peak(80_000)
	t.Logf("%d and %d bytes", few, many)
	if many > 2*few+4<<20 {
		t.Errorf("20,000 rows need %d bytes, and 80,000 rows %d", few, many)
	}
}

// TestSameRowsMakeTheSameFile: a file that is written again is the same, so a repeated upload changes nothing.
func TestSameRowsMakeTheSameFile(t *testing.T) {
	var a, b bytes.Buffer
	for _, out := range []*bytes.Buffer{&a, &b} {
		if err := WriteUsage(out, func(fn func(uint64, ledger.Record) bool) error { someUsage(3000, fn); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d bytes a row", a.Len()/3000)
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same rows made another file")
	}
}

var errGone = errors.New("gone")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errGone }

// TestErrors: an error of the reader, of the writer, or in a record is the result, and the file is not finished.
func TestErrors(t *testing.T) {
	var out bytes.Buffer
	err := WriteUsage(&out, func(fn func(uint64, ledger.Record) bool) error { someUsage(10, fn); return errGone })
	if !errors.Is(err, errGone) || bytes.HasSuffix(out.Bytes(), []byte("PAR1")) && out.Len() > 4 {
		t.Errorf("a reader that fails: %v, and a file of %d bytes", err, out.Len())
	}
	err = WriteUsage(failing{}, func(fn func(uint64, ledger.Record) bool) error { someUsage(50_000, fn); return nil })
	if !errors.Is(err, errGone) {
		t.Errorf("a writer that fails: %v", err)
	}
	err = WriteAudit(&out, func(fn func(audit.Record) bool) error {
		fn(audit.Record{Number: 7, External: []byte(`{"cost_usd":"much"}`)})
		return nil
	})
	if err == nil {
		t.Error("a record without an amount is accepted")
	}
}

// TestFindingsOfGuardrails are a list of objects, as JSON in both kinds of files.
func TestFindingsOfGuardrails(t *testing.T) {
	r := ledger.Record{Node: "n1"}
	if row := usageOf(1, &r); row.Guardrails != nil || row.Violations != "" {
		t.Errorf("without guardrails: %q, %q", row.Guardrails, row.Violations)
	}
	r.Guardrails = []string{"pii", "keys"}
	r.Violations = []usage.Violation{
		{Guardrail: "pii", Engine: "presidio", Hook: "pre_call", Entity: "PERSON", Action: "anonymize", Place: "messages[0].content", Offset: 3, Count: 2},
		{Guardrail: "pii", Engine: "presidio", Hook: "post_call", Entity: "PERSON", Action: "block", Count: 1},
	}
	want := `[{"guardrail_id":"pii","engine":"presidio","hook":"pre_call","entity":"PERSON","action":"anonymize","count":2,"place":"messages[0].content","offset":3},` +
		`{"guardrail_id":"pii","engine":"presidio","hook":"post_call","entity":"PERSON","action":"block","count":1,"place":null,"offset":0}]`
	if row := usageOf(1, &r); row.Violations != want || len(row.Guardrails) != 2 {
		t.Errorf("%q, %s", row.Guardrails, row.Violations)
	}
	row, err := auditOf(audit.Record{Number: 1, External: []byte(`{"cost_usd":1,"guardrail_violations":[{"count":2,"place":null},{"count":1}],"timestamp":"2026-06-29T10:00:00.123456Z"}`)})
	if err != nil || len(row.GuardrailViolations) != 2 || row.GuardrailViolations[0] != `{"count":2,"place":null}` {
		t.Errorf("%q %v", row.GuardrailViolations, err)
	}
}
