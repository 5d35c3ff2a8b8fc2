package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/modelgateway/modelgateway/cluster/inject"
)

// limit is the timeout of one run of one test.
const limit = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(code)
}

// run runs the trials of the named bugs, or all if none is named, and returns the exit status.
func run(ctx context.Context, names []string, out io.Writer) int {
	chosen, err := choose(names)
	if err != nil {
		fmt.Fprintln(out, "defects:", err)
		return 1
	}
	dir, err := os.MkdirTemp("", "defects")
	if err != nil {
		fmt.Fprintln(out, "defects:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	l := laboratory{dir: dir, built: map[string]error{}, good: map[string]string{}}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DEFECT\tTEST\tRESULT\tSECONDS")
	caught := 0
	for i := range chosen {
		t := &chosen[i]
		start := time.Now()
		verdict := l.try(ctx, t)
		if verdict == "caught" {
			caught++
		}
		fmt.Fprintf(table, "%s\t%s %s\t%s\t%.1f\n", t.defect, t.pkg, t.test, verdict, time.Since(start).Seconds())
	}
	_ = table.Flush()
	fmt.Fprintf(out, "%d caught, %d missed\n", caught, len(chosen)-caught)
	if caught < len(chosen) {
		return 1
	}
	return 0
}

// choose returns the trials of the named bugs. Each bug has at least one.
func choose(names []string) ([]trial, error) {
	known := inject.Defects()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown bug %s; known bugs are %s", name, strings.Join(known, ", "))
		}
	}
	if len(names) == 0 {
		names = known
	}
	var out []trial
	for _, name := range names {
		before := len(out)
		for _, t := range trials() {
			if t.defect == name {
				out = append(out, t)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("no test detects %s", name)
		}
	}
	return out, nil
}

// laboratory runs tests. It caches test binaries, and the results of tests without a bug.
type laboratory struct {
	dir   string
	built map[string]error  // by package
	good  map[string]string // verdict of the test without a bug, by package and name; empty: it passes
}

// try returns "caught", or why the bug was missed.
func (l *laboratory) try(ctx context.Context, t *trial) string {
	err, ok := l.built[t.pkg]
	if !ok {
		err = l.build(ctx, t.pkg)
		l.built[t.pkg] = err
	}
	if err != nil {
		return "not built: " + err.Error()
	}
	name := t.pkg + " " + t.test
	verdict, ok := l.good[name]
	if !ok {
		verdict = l.without(ctx, t)
		l.good[name] = verdict
	}
	if verdict != "" {
		return verdict
	}
	output, err := l.test(ctx, t, t.defect)
	switch {
	case err == nil:
		return "MISSED"
	case !strings.Contains(output, "--- FAIL: "+t.test+" ("):
		return "ended without a word of the test: " + last(output)
	case !strings.Contains(output, t.says):
		return "FAILS FOR ANOTHER REASON: " + last(output)
	}
	return "caught"
}

// without returns why the test proves nothing, because it fails without a bug.
func (l *laboratory) without(ctx context.Context, t *trial) string {
	output, err := l.test(ctx, t, "")
	switch {
	case err != nil:
		return "FAILS WITHOUT THE BUG: " + last(output)
	case !strings.Contains(output, "--- PASS: "+t.test+" ("):
		return "there is no such test"
	}
	return ""
}

// build builds the package's test binary.
func (l *laboratory) build(ctx context.Context, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-tags", "defects", "-c", "-o", l.binary(pkg), "./"+pkg) //nolint:gosec // constant arguments
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, last(string(output)))
	}
	return nil
}

func (l *laboratory) binary(pkg string) string {
	return filepath.Join(l.dir, strings.ReplaceAll(pkg, "/", "-")+".test")
}

// test runs one test, with a bug unless name is empty, and returns its output.
func (l *laboratory) test(ctx context.Context, t *trial, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := append([]string{"-test.v", "-test.count=1", "-test.timeout=" + (limit - 5*time.Second).String(), "-test.run=^" + t.test + "$"}, t.flags...)
	cmd := exec.CommandContext(ctx, l.binary(t.pkg), args...) //nolint:gosec // as above
	cmd.Dir = t.pkg
	cmd.Env = append(os.Environ(), inject.DefectVariable+"="+name)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// last returns the end of a program's output as one line.
func last(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.TrimSpace(strings.Join(lines[max(0, len(lines)-2):], " "))
}
