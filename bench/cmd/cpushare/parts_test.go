package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// TestDivide reads stacks of a real gateway, one or two of each part.
func TestDivide(t *testing.T) {
	f, err := os.Open("testdata/traces.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := traces(f)
	if err != nil {
		t.Fatal(err)
	}
	got := divide(all)
	want := map[string]float64{
		serving: 0.2, transport: 0.2, metrics: 0.05, journal: 0.05, consensus: 0.05, applying: 0.1, chain: 0.05,
		compaction: 0.1, logs: 0.05, collecting: 0.1, scheduling: 0.03, other: 0.02,
	}
	if !maps.Equal(got.Parts, want) || got.CPU != 2 {
		t.Errorf("%v s: %v, want 2 s: %v", got.CPU, got.Parts, want)
	}
}

func TestTracesRefusesOtherText(t *testing.T) {
	for _, text := range []string{"", "File: x\nType: cpu\n", "-----------+---\n      main.main\n"} {
		if all, err := traces(strings.NewReader(text)); err == nil {
			t.Errorf("%q: %v", text, all)
		}
	}
}

// TestRun reads a profile that was just made, as go tool pprof prints it.
func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu.pprof")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		_ = json.Valid(bytes.Repeat([]byte("[1]"), 1000))
	}
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(path, &out); err != nil {
		t.Fatal(err)
	}
	var s shares
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, share := range s.Parts {
		sum += share
	}
	if s.CPU <= 0 || sum < 0.99 || sum > 1.01 || s.Parts[other] == 0 {
		t.Errorf("%+v", s)
	}
}
