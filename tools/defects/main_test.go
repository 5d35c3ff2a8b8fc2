package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/e2e/scripttest"
)

// TestTrials: each bug has a test that is there to find it, and each test is there.
func TestTrials(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, trial := range trials() {
		tried[trial.defect] = true
		files, err := filepath.Glob(filepath.Join("../..", trial.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(src), "\nfunc "+trial.test+"(t *testing.T)")
		}
		if !found {
			t.Errorf("%s has no %s", trial.pkg, trial.test)
		}
	}
	want := map[string]bool{}
	for _, name := range inject.Defects() {
		want[name] = true
	}
	if diff := cmp.Diff(want, tried); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	if all, err := choose(nil); len(all) != len(trials()) || err != nil {
		t.Errorf("%d of %d trials, %v", len(all), len(trials()), err)
	}
	some, err := choose([]string{"nosync"})
	if err != nil || len(some) == 0 || some[0].defect != "nosync" {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := choose([]string{"nosync", "other"}); err == nil {
		t.Error("a bug that is none is looked for")
	}
}

// program is a test binary that says one thing if it has a bug, and another if not.
func program(without, with string) string {
	return "#!/bin/sh\nif [ -z \"$" + inject.DefectVariable + "\" ]; then " + without + "; else " + with + "; fi\n"
}

// TestTry: a bug is caught only by a test that passes without it and says that it
// fails with it, and why.
func TestTry(t *testing.T) {
	t.Parallel()
	const passes, fails = `echo "--- PASS: TestX (0.00s)"`, `echo lost; echo "--- FAIL: TestX (0.00s)"; exit 1`
	for name, tc := range map[string]struct{ without, with, want string }{
		"caught":    {passes, fails, `^caught$`},
		"missed":    {passes, passes, `^MISSED$`},
		"always":    {fails, fails, `^FAILS WITHOUT THE BUG: lost --- FAIL`},
		"elsewhere": {passes, `echo "--- FAIL: TestX (0.00s)"; exit 1`, `^FAILS FOR ANOTHER REASON: --- FAIL`},
		"none":      {"true", "exit 1", `^there is no such test$`},
		"dies":      {passes, "echo oh; exit 2", `^ended without a word of the test: oh$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := trial{defect: "bug", pkg: ".", test: "TestX", says: "lost"}
			l := newLaboratory(t.Context(), t.TempDir(), []trial{x, x}) // the second time it knows some of it
			scripttest.Write(t, l.binary("."), program(tc.without, tc.with), 0o700)
			for _, got := range l.tryAll(t.Context()) {
				if !regexp.MustCompile(tc.want).MatchString(got.verdict) {
					t.Errorf("it says %q, want %s", got.verdict, tc.want)
				}
			}
		})
	}
}

// A package that cannot be built ends the program: none of its tests can say anything.
func TestBuild(t *testing.T) {
	t.Parallel()
	l := newLaboratory(t.Context(), t.TempDir(), []trial{{defect: "bug", pkg: "nowhere", test: "TestX"}})
	if err := l.build(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be built") {
		t.Errorf("a package that does not exist: %v", err)
	}
}
