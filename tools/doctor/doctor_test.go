// Package doctor tests doctor.sh, which names what a machine lacks to run the tests.
package doctor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/e2e/scripttest"
)

// machine is what doctor.sh finds: programs of a folder, /proc, and a tunnel device.
type machine struct{ programs, proc, tun string }

// newMachine has what doctor.sh itself needs, ports as Linux has them, and a tunnel device.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{programs: t.TempDir(), proc: t.TempDir(), tun: filepath.Join(t.TempDir(), "tun")}
	m.write(t, m.tun, "")
	m.ports(t, "32768\t60999\n")
	for _, name := range []string{"bash", "mktemp", "rm", "uname"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(m.programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m *machine) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	scripttest.Write(t, name, text, 0o700)
}

// program adds a program that runs the lines of a shell script.
func (m *machine) program(t *testing.T, name, script string) {
	t.Helper()
	m.write(t, filepath.Join(m.programs, name), "#!/usr/bin/env bash\n"+script+"\n")
}

func (m *machine) ports(t *testing.T, text string) {
	t.Helper()
	m.write(t, filepath.Join(m.proc, "sys/net/ipv4/ip_local_port_range"), text)
}

// whole adds programs that do all that is asked of them.
func (m *machine) whole(t *testing.T) {
	t.Helper()
	for _, name := range []string{"go", "cc", "gcc", "python3", "curl", "sed", "unshare", "mvn"} {
		m.program(t, name, "exit 0")
	}
	m.program(t, "java", `echo 'openjdk version "21.0.1" 2023-10-17' >&2`)
}

// run returns the output and the exit status of doctor.sh.
func (m *machine) run(t *testing.T, what string) (string, int) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "doctor.sh", what)
	cmd.Env = []string{"PATH=" + m.programs, "TMPDIR=" + t.TempDir(), "DOCTOR_PROC=" + m.proc, "DOCTOR_TUN=" + m.tun}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestWhole: on a machine that has everything, nothing is missing.
func TestWhole(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.whole(t)
	for _, what := range []string{"test", "servers"} {
		if out, status := m.run(t, what); status != 0 || strings.Contains(out, "missing") {
			t.Errorf("%s: status %d: %s", what, status, out)
		}
	}
}

// TestBare: on a machine that has nothing, one run names everything that is missing, with packages.
func TestBare(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.tun = filepath.Join(m.proc, "none")
	m.ports(t, "10000\t60999\n")
	for what, wants := range map[string][]string{
		"test": {
			"Go 1.26 from https://go.dev/dl", "build-essential", "python3-pip", "curl", "util-linux", "modprobe tun",
			"the system gives those from 10000 to 60999", "ip_local_port_range='32768 60999'", "\n8 missing\n",
		},
		"servers": {"Go 1.26", "build-essential", "openjdk-17", "maven", "\n4 missing\n"},
	} {
		out, status := m.run(t, what)
		if status != 1 {
			t.Errorf("%s: status %d", what, status)
		}
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in:\n%s", what, want, out)
			}
		}
	}
}

// TestHalf: a program that is there and does not do what it is needed for is missing.
func TestHalf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ program, script, what, want string }{
		"headers":    {"gcc", "exit 1", "test", "libc6-dev"},
		"pip":        {"python3", `[ "$1" != -m ]`, "test", "pip of python3"},
		"namespaces": {"unshare", "exit 1", "test", "kernel.unprivileged_userns_clone=1"},
		"old Go":     {"go", `echo "go.mod requires go >= 1.26.0"; exit 1`, "test", "go.mod requires go >= 1.26.0"},
		"old Java":   {"java", `echo 'openjdk version "11.0.2" 2019-01-15' >&2`, "servers", "Java 17"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.whole(t)
			m.program(t, tc.program, tc.script)
			if out, status := m.run(t, tc.what); status != 1 || !strings.Contains(out, tc.want) || !strings.Contains(out, "\n1 missing\n") {
				t.Errorf("status %d, want 1 and %q alone: %s", status, tc.want, out)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	if out, status := newMachine(t).run(t, ""); status != 2 || !strings.Contains(out, "usage") {
		t.Errorf("status %d: %s", status, out)
	}
}
