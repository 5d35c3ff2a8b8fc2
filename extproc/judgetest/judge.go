package judgetest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// Case is what is judged: a value, and its kind, one that the script knows.
type Case interface {
	~struct{ Name, Kind, Value string }
}

// sent is a case as the script reads it.
type sent struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Problems returns what the judge finds wrong with each case.
func Problems[C Case](t *testing.T, cases []C) [][]string {
	t.Helper()
	type verdict struct {
		Name     string   `json:"name"`
		Problems []string `json:"problems"`
	}
	out := make([][]string, 0, len(cases))
	for _, v := range Verdicts(t, cases, func(v verdict) string { return v.Name }) {
		out = append(out, v.Problems)
	}
	return out
}

// Verdicts returns the verdict on each case, in their order. nameOf returns the name of the case that a verdict has.
func Verdicts[C Case, V any](t *testing.T, cases []C, nameOf func(V) string) []V {
	t.Helper()
	var in bytes.Buffer
	for _, c := range cases {
		line, err := json.Marshal(sent(c))
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	out := make([]V, 0, len(cases))
	for line := range strings.Lines(run(t, &in)) {
		var v V
		if err := json.Unmarshal([]byte(line), &v); err != nil || len(out) == len(cases) || nameOf(v) != sent(cases[len(out)]).Name {
			t.Fatalf("the judge says %q (%v)", line, err)
		}
		out = append(out, v)
	}
	if len(out) != len(cases) {
		t.Fatalf("the judge saw %d of %d cases", len(out), len(cases))
	}
	return out
}

// run runs the script, and returns what it writes.
func run(t *testing.T, in *bytes.Buffer) string {
	t.Helper()
	python := os.Getenv("MODELGATEWAY_PYTHON")
	if python == "" {
		python = "../../.tmp/bin/python-sdks"
	}
	if _, err := os.Stat(python); err != nil {
		t.Fatalf("no Python with the SDKs; run: make sdks (%v)", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "testdata/judge.py")
	var failed strings.Builder
	cmd.Stdin, cmd.Stderr = in, &failed
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, failed.String())
	}
	return string(text)
}
