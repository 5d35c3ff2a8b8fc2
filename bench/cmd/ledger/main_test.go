package main

import (
	"strings"
	"testing"
	"time"
)

// TestRun is a run in small: it ends with books that are right, and every line of the
// table says something.
func TestRun(t *testing.T) {
	var out strings.Builder
	o := options{dir: t.TempDir(), requests: 300, callers: 16, rate: 100, length: 300 * time.Millisecond, records: 1000}
	if err := run(t.Context(), o, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| records appended to the audit chain, 1 core | 1000 | ",
		"| settle, 1 caller, 1 node | ", "| settle, 100 requests a second, 3 nodes | ",
		"| spend posted after the settle, 100 requests a second, 1 node | ",
		"| the same, posted everywhere, 3 nodes | 300 | ",
		"| records of the audit chain verified, 1 node | ",
		"| a packed usage record, 1 node | ", "| the packed audit records of a request, 1 node | ",
	} {
		if !strings.Contains(out.String(), "\n"+want) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "not measured") {
		t.Errorf("something was not measured:\n%s", out.String())
	}
}

func TestRunRefusesSenselessNumbers(t *testing.T) {
	good := options{dir: t.TempDir(), requests: 1, callers: 1, rate: 1, length: time.Second, records: 1}
	for name, spoil := range map[string]func(*options){
		"no directory": func(o *options) { o.dir = "" },
		"no requests":  func(o *options) { o.requests = 0 },
		"no callers":   func(o *options) { o.callers = 0 },
		"no rate":      func(o *options) { o.rate = 0 },
		"no length":    func(o *options) { o.length = 0 },
		"no records":   func(o *options) { o.records = 0 },
	} {
		o := good
		spoil(&o)
		if err := run(t.Context(), o, &strings.Builder{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
