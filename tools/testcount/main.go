// Command testcount runs go test with its arguments. It prints the packages as they finish, the
// output of failures, the ten slowest packages and tests, and at the end one line
//
//	N passed, N failed
//
// It counts tests and subtests, and names skipped ones, because a skipped test proves nothing.
// A package that fails without a failing test (build error, leaked goroutine, panic) counts as
// one failure. The exit status is 1 if anything failed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(code)
}

// run runs go test and returns the exit status.
func run(ctx context.Context, args []string, out io.Writer) int {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...) //nolint:gosec // arguments of the developer
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(out, "testcount:", err)
		return 1
	}
	t := newTally(out)
	readErr := t.read(pipe)
	waitErr := cmd.Wait()
	t.summary()
	if readErr != nil {
		fmt.Fprintln(out, "testcount:", readErr)
	}
	if readErr != nil || waitErr != nil || t.failed > 0 {
		return 1
	}
	return 0
}

// event is one line of go test -json; see go doc test2json. Build output has ImportPath instead
// of Package.
type event struct {
	Action     string  `json:"Action"`
	Package    string  `json:"Package"`
	ImportPath string  `json:"ImportPath"`
	Test       string  `json:"Test"`
	Elapsed    float64 `json:"Elapsed"`
	Output     string  `json:"Output"`
}

// tally counts events. It is not safe for concurrent use.
type tally struct {
	out             io.Writer
	passed, failed  int
	skipped         []string
	packages, tests []timing            // subtests count as part of their test
	output          map[string][]string // kept until the test or the package ends
	failedInPackage map[string]int
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, output: map[string][]string{}, failedInPackage: map[string]int{}}
}

// read reads all events. It prints other lines unchanged.
func (t *tally) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil && e.Action != "" {
				t.take(e)
			} else {
				fmt.Fprintf(t.out, "%s", line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		t.output[key] = append(t.output[key], e.Output)
	case "build-output":
		fmt.Fprint(t.out, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.endPackage(e)
		} else {
			t.endTest(e)
		}
		delete(t.output, key)
	}
}

func (t *tally) endTest(e event) {
	if !strings.Contains(e.Test, "/") {
		t.tests = append(t.tests, timing{e.Package + " " + e.Test, e.Elapsed})
	}
	switch e.Action {
	case "pass":
		t.passed++
	case "skip":
		t.skipped = append(t.skipped, e.Package+" "+e.Test)
	case "fail":
		t.failed++
		t.failedInPackage[e.Package]++
		fmt.Fprintf(t.out, "FAIL %s %s (%.2fs)\n", e.Package, e.Test, e.Elapsed)
		t.print(e)
	}
}

func (t *tally) endPackage(e event) {
	t.packages = append(t.packages, timing{e.Package, e.Elapsed})
	switch e.Action {
	case "pass":
		fmt.Fprintf(t.out, "ok   %s (%.2fs)\n", e.Package, e.Elapsed)
	case "fail":
		if t.failedInPackage[e.Package] == 0 {
			t.failed++
			t.unfinished(e.Package)
		}
		fmt.Fprintf(t.out, "FAIL %s (%.2fs)\n", e.Package, e.Elapsed)
		t.print(e)
	}
}

// unfinished prints the output of tests that never ended: a panic or a timeout ends the whole
// process, and its trace belongs to the running test.
func (t *tally) unfinished(pkg string) {
	for key, lines := range t.output {
		if strings.HasPrefix(key, pkg+" ") && key != pkg+" " {
			fmt.Fprint(t.out, strings.Join(lines, ""))
		}
	}
}

func (t *tally) print(e event) {
	for _, line := range t.output[e.Package+" "+e.Test] {
		if !strings.HasPrefix(line, "=== ") {
			fmt.Fprint(t.out, line)
		}
	}
}

func (t *tally) summary() {
	printSlowest(t.out, "packages", t.packages)
	printSlowest(t.out, "tests", t.tests)
	for _, name := range t.skipped {
		fmt.Fprintln(t.out, "SKIP", name)
	}
	if n := len(t.skipped); n > 0 {
		fmt.Fprintf(t.out, "%d passed, %d failed, %d skipped\n", t.passed, t.failed, n)
		return
	}
	fmt.Fprintf(t.out, "%d passed, %d failed\n", t.passed, t.failed)
}
