package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	l := newLaboratory(ctx, dir, chosen)
	if err := l.build(ctx); err != nil {
		fmt.Fprintln(out, "defects:", err)
		return 1
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DEFECT\tTEST\tRESULT\tSECONDS")
	caught := 0
	for i, r := range l.tryAll(ctx) {
		if r.verdict == caughtIt {
			caught++
		}
		t := &chosen[i]
		fmt.Fprintf(table, "%s\t%s %s\t%s\t%.1f\n", t.defect, t.pkg, t.test, r.verdict, r.took.Seconds())
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

// laboratory runs trials with test binaries that it has built.
type laboratory struct {
	dir    string
	trials []trial
	good   map[string]func() string // runs a test without a bug, once, by package and name; see without
}

func newLaboratory(ctx context.Context, dir string, trials []trial) *laboratory {
	l := &laboratory{dir: dir, trials: trials, good: map[string]func() string{}}
	for i := range trials {
		if t := &trials[i]; l.good[t.name()] == nil {
			l.good[t.name()] = sync.OnceValue(func() string { return l.without(ctx, t) })
		}
	}
	return l
}

// caughtIt is the verdict of a trial whose test detects the bug.
const caughtIt = "caught"

// result is the verdict of a trial, and the time it took.
type result struct {
	verdict string
	took    time.Duration
}

// tryAll makes all trials, as many at a time as there are processors, and returns their results
// in order.
func (l *laboratory) tryAll(ctx context.Context) []result {
	out := make([]result, len(l.trials))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(l.trials); i = int(next.Add(1)) - 1 {
				start := time.Now()
				out[i].verdict = l.try(ctx, &l.trials[i])
				out[i].took = time.Since(start)
			}
		})
	}
	workers.Wait()
	return out
}

// try returns caughtIt, or why the bug was missed.
func (l *laboratory) try(ctx context.Context, t *trial) string {
	if verdict := l.good[t.name()](); verdict != "" {
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
	return caughtIt
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

// build builds the test binaries of all trials.
func (l *laboratory) build(ctx context.Context) error {
	args := []string{"test", "-tags", "inject", "-ldflags=-s -w", "-c", "-o", l.dir + string(filepath.Separator)}
	for i := range l.trials {
		if pkg := "./" + l.trials[i].pkg; !slices.Contains(args, pkg) {
			args = append(args, pkg)
		}
	}
	output, err := exec.CommandContext(ctx, "go", args...).CombinedOutput() //nolint:gosec // constant arguments
	if err != nil {
		return fmt.Errorf("the tests cannot be built: %w: %s", err, last(string(output)))
	}
	return nil
}

// binary returns the path of the package's test binary.
func (l *laboratory) binary(pkg string) string {
	return filepath.Join(l.dir, path.Base(pkg)+".test")
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
