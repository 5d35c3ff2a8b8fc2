package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEvaluateGuardrail measures labelled texts, with other names for their entities.
func TestEvaluateGuardrail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "set.jsonl")
	set := `{"text": "Please ask Ada Lovelace about ada@example.com.", "spans": [[11, 23, "PER"], [30, 45, "EMAIL_ADDRESS"]]}` + "\n" +
		`{"text": "The zebra is called qqxx.", "spans": [[20, 24, "PER"]]}` + "\n"
	if err := os.WriteFile(file, []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		var out strings.Builder
		cmd := evaluateCommand()
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetArgs(append(args, file))
		cmd.SetOut(&out)
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	out, err := run("--label", "PER=PERSON", "--misses", "5")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"EMAIL_ADDRESS  1         1      1.000      1.000", "PERSON         2         1      1.000      0.500", `missed: PERSON "qqxx"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if _, err := run(); err == nil || !strings.Contains(err.Error(), "--label PER=PERSON") {
		t.Errorf("an unknown entity: %v", err)
	}
	if _, err := run("--score-threshold", "2", "--label", "PER=PERSON"); err == nil || !strings.Contains(err.Error(), "score-threshold") {
		t.Errorf("a threshold of 2: %v", err)
	}
}
