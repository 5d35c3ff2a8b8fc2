//go:build linux

package clustertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// marker is the argument that tells a test binary that it runs in a namespace
// of its own. It is an argument and not an environment variable, so that the
// processes which the test starts do not inherit it.
const marker = "clustertest-inside"

// Inside says whether this process was started by Rerun, and so may start a Lab.
func Inside() bool { return slices.Contains(os.Args, marker) }

// Rerun runs the calling test once more, alone, in a process with a network
// namespace of its own, and makes its outcome that of t. environment is added to
// the process's environment, as in exec.Cmd. The output is shown when the test
// fails, or with -v. A test that skips itself in there fails: it proves nothing.
//
// It must be called by a whole test, not by a subtest.
func Rerun(t *testing.T, environment ...string) {
	t.Helper()
	out, err := rerun(t, environment, 0)
	report(t, out, err)
}

// RerunMounting is Rerun for a test that needs a Disk: what is mounted in there is
// mounted for the test and its processes only, and goes with them.
func RerunMounting(t *testing.T, environment ...string) {
	t.Helper()
	out, err := rerun(t, environment, syscall.CLONE_NEWNS)
	report(t, out, err)
}

// report makes the outcome of the test inside that of t.
func report(t *testing.T, out string, err error) {
	t.Helper()
	switch {
	case err != nil:
		t.Errorf("in its own network: %v\n%s", err, out)
	case !strings.Contains(out, "--- PASS: "+t.Name()+" "):
		t.Errorf("in its own network the test did not run to its end:\n%s", out)
	case testing.Verbose():
		t.Logf("in its own network:\n%s", out)
	}
}

// rerun returns what the test printed, and an error if it failed. unshare is what the
// test has of its own beside the network.
func rerun(t *testing.T, environment []string, unshare uintptr) (string, error) {
	t.Helper()
	if strings.Contains(t.Name(), "/") {
		return "", errors.New("a subtest cannot be run again without its test; call Rerun in the test")
	}
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	// The child is tied to the thread that starts it (Pdeathsig), so the thread
	// has to live as long: this goroutine keeps it and waits.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var denied error
	for _, flags := range namespaces(os.Geteuid()) {
		cmd := exec.CommandContext(t.Context(), program, arguments(t)...) //nolint:gosec // this very program
		cmd.Env = append(cmd.Environ(), environment...)
		cmd.SysProcAttr = inNamespaces(flags)
		cmd.SysProcAttr.Unshareflags = unshare
		out, err := cmd.CombinedOutput()
		if cmd.Process == nil && errors.Is(err, fs.ErrPermission) {
			denied = err
			continue // root without the right to make a network may have it in a user namespace
		}
		return string(out), err
	}
	return "", fmt.Errorf("making a network namespace needs root or unprivileged user namespaces: %w", denied)
}

// namespaces returns what to try, in order.
func namespaces(uid int) []uintptr {
	const network, user = syscall.CLONE_NEWNET, syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER
	if uid == 0 {
		return []uintptr{network, user}
	}
	return []uintptr{user}
}

func inNamespaces(flags uintptr) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: syscall.SIGKILL}
	if flags&syscall.CLONE_NEWUSER != 0 {
		// Only user 0 of the namespace keeps its capabilities over exec.
		a.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	return a
}

// reportTime is how much earlier than t the test inside runs out of time, so
// that its stacks are still printed.
const reportTime = 10 * time.Second

// arguments are those for the test inside: this test only, the flags that tests
// declare themselves, as they are set here, and the marker.
func arguments(t *testing.T) []string {
	t.Helper()
	timeout := time.Duration(0)
	if deadline, ok := t.Deadline(); ok {
		timeout = max(time.Until(deadline)-reportTime, time.Second)
	}
	args := []string{
		"-test.run=^" + regexp.QuoteMeta(t.Name()) + "$",
		"-test.v", "-test.count=1", "-test.timeout=" + timeout.String(),
	}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") || f.Name == "test.short" {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	return append(args, marker)
}

// Start makes a lab that lives as long as the test: it runs until the test ends,
// and is closed then. The test must be Inside.
func Start(t *testing.T, config Config) *Lab {
	t.Helper()
	if !Inside() {
		t.Fatal("a lab is made inside a network namespace only: call Rerun first")
	}
	lab, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan error, 1)
	go func() { ran <- lab.Run(ctx) }()
	t.Cleanup(func() {
		lab.Stop() // while there still is a network: processes get no more surprises than they must
		cancel()
		if err := errors.Join(<-ran, lab.Close()); err != nil {
			t.Error(err)
		}
	})
	return lab
}
