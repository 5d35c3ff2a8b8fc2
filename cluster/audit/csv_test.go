package audit_test

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/audit"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

func TestFormulaCells(t *testing.T) {
	texts := map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t'=1", "\r=1": "'\r'=1", "\n=1": "'\n'=1",
		"\uff1d1": "'\uff1d1", "a=1": "a=1", " x": " x",
		" =1": " '=1", "\x00\u200b\ufeff=1": "\x00\u200b\ufeff'=1", "a;=1": "a;'=1", "a\n =1;\t@x;-": "a\n '=1;\t'@x;'-", "a;b": "a;b", "a,=1": "a,=1",
		"a-b; c=d\ne": "a-b; c=d\ne", "\n\t=1": "'\n\t'=1", "==;==": "'==;'==",
		"'=1": "'=1", "": "", `a,"b"`: `a,"b"`,
	}
	m := memory{}
	var want []string
	for text, cell := range texts {
		f := audit.Append(memoryTx{m}, workspace, &clusterv1.AuditEvent{
			Type: "request.blocked", Actor: text, Model: text, TeamId: text, CustomerId: text,
			GuardrailViolations: []*clusterv1.GuardrailViolation{{Guardrail: text, Place: text, Count: 1}}, CostPico: -1, LatencyMs: -1, DetailsJson: `{"text":"a;=1"}`,
		}, base())
		if f != nil {
			t.Fatal(f)
		}
		want = append(want, cell)
	}
	var out bytes.Buffer
	if err := audit.WriteCSV(&out, audit.Records(t.Context(), m, workspace, audit.Filter{OldestFirst: true})); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"actor", "model", "team_id", "customer_id"} {
		at := slices.Index(rows[0], name)
		var got []string
		for _, row := range rows[1:] {
			got = append(got, row[at])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if cost := rows[1][slices.Index(rows[0], "cost_usd")]; cost != "-0.000000000001" {
		t.Errorf("a negative number is %q", cost)
	}
	for i, row := range rows[1:] {
		if v := row[slices.Index(rows[0], "guardrail_violations")]; v[:2] != `[{` || strings.Contains(v, ";=") || !jsontext.Value(v).IsValid() {
			t.Errorf("the violations of %d are %q", i, v)
		}
	}
	for i, row := range rows[1:] {
		if v := row[slices.Index(rows[0], "details")]; strings.Contains(v, ";=") || !jsontext.Value(v).IsValid() {
			t.Errorf("the details of %d are %q", i, v)
		}
	}
}
