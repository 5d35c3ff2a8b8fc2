package launch_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/e2e/porttest"
	"github.com/modelgateway/modelgateway/e2e/scripttest"
	"github.com/modelgateway/modelgateway/envoy/launch"
)

// patience bounds every wait; none needs a tenth of it.
const patience = time.Minute

// parentEnv makes the test binary play the parent that is killed.
const parentEnv = "MODELGATEWAY_LAUNCH_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentEnv); dir != "" {
		os.Exit(parent(dir))
	}
	goleak.VerifyTestMain(m)
}

// parent runs Envoy until it is killed, and says which process it is.
func parent(dir string) int {
	l, err := launch.New(launch.Config{
		Path: os.Getenv("MODELGATEWAY_ENVOY"), Bootstrap: page(dir, 0, ""), RunDir: dir, AdminSocket: filepath.Join(dir, "a"), Concurrency: 1,
		Events: launch.Events{Ready: func(pid int) { _, _ = fmt.Fprintln(os.Stdout, pid) }},
	})
	if err == nil {
		err = l.Run(context.Background())
	}
	_, _ = fmt.Fprintln(os.Stderr, err)
	return 1
}

// page is a configuration that needs nobody else: a listener with one upstream.
func page(dir string, port int, upstream string) []byte {
	host, upstreamPort, ok := strings.Cut(upstream, ":")
	if !ok {
		host, upstreamPort = "127.0.0.1", "1"
	}
	return fmt.Appendf(nil, `
admin: { address: { pipe: { path: %q } } }
static_resources:
  listeners:
  - address: { socket_address: { address: 127.0.0.1, port_value: %d } }
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: ingress
          route_config:
            virtual_hosts:
            - { name: v, domains: ["*"], routes: [ { match: { prefix: / }, route: { cluster: u, timeout: 0s } } ] }
          http_filters:
          - name: router
            typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
  clusters:
  - name: u
    load_assignment:
      cluster_name: u
      endpoints: [ { lb_endpoints: [ { endpoint: { address: { socket_address: { address: %s, port_value: %s } } } } ] } ]
`, filepath.Join(dir, "a"), port, host, upstreamPort)
}

func binary(t *testing.T) string {
	t.Helper()
	path, err := launch.Locate(os.Getenv("MODELGATEWAY_ENVOY"), "../../.tmp/envoy-1.40.0/envoy/_bin/envoy", nil)
	if err != nil {
		t.Fatalf("these tests need Envoy; run make or set MODELGATEWAY_ENVOY: %v", err)
	}
	return path
}

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lnch") //nolint:usetesting // its path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// child is a running launcher.
type child struct {
	*launch.Launcher

	started, ready, exited chan int
	stop                   context.CancelFunc
	done                   chan error
}

func start(t *testing.T, change func(*launch.Config)) *child {
	t.Helper()
	dir := shortDir(t)
	c := &child{started: make(chan int, 50), ready: make(chan int, 50), exited: make(chan int, 50), done: make(chan error, 1)}
	config := launch.Config{
		Path: binary(t), Bootstrap: page(dir, 0, ""), RunDir: filepath.Join(dir, "run"), AdminSocket: filepath.Join(dir, "a"),
		Concurrency: 1, Drain: patience, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Events: launch.Events{
			Started: func(pid int) { c.started <- pid },
			Ready:   func(pid int) { c.ready <- pid },
			Exited:  func(pid int, _ error) { c.exited <- pid },
		},
	}
	if change != nil {
		change(&config)
	}
	l, err := launch.New(config)
	if err != nil {
		t.Fatal(err)
	}
	c.Launcher = l
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	go func() { c.done <- l.Run(ctx) }()
	t.Cleanup(cancel)
	return c
}

func get[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("did not happen: %s", what)
		panic("unreachable")
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestRunsAndStops(t *testing.T) {
	c := start(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	pid := get(t, "ready", c.ready)
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || len(environment) != 0 {
		t.Errorf("the child has an environment of %d bytes (%v), want none", len(environment), err)
	}
	group, err := syscall.Getpgid(pid)
	if err != nil || group != pid {
		t.Errorf("the child is in process group %d (%v): Ctrl-C would reach it", group, err)
	}
	c.stop()
	if err := get(t, "stop", c.done); err != nil {
		t.Errorf("Run: %v", err)
	}
	if alive(pid) {
		t.Error("the child is still there")
	}
}

func TestRestartsWhatDies(t *testing.T) {
	var log bytes.Buffer
	c := start(t, func(config *launch.Config) { config.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	pid := get(t, "ready", c.ready)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if died := get(t, "exit", c.exited); died != pid {
		t.Errorf("%d exited, want %d", died, pid)
	}
	if second := get(t, "ready again", c.ready); second == pid {
		t.Error("the dead child is ready")
	}
	c.stop()
	if err := get(t, "stop", c.done); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "is restarted\" delay=0s") {
		t.Errorf("it was not restarted at once:\n%s", log.String())
	}
}

func TestRunningAnswersEnd(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		_, _ = io.WriteString(w, "whole")
	}))
	defer upstream.Close()
	listen := porttest.Free(t)
	dir := shortDir(t)
	c := start(t, func(config *launch.Config) {
		config.AdminSocket = filepath.Join(dir, "a")
		config.Bootstrap = page(dir, int(listen.Port()), upstream.Listener.Addr().String())
		config.Listen = []netip.AddrPort{listen}
	})
	get(t, "ready", c.ready)
	answer := make(chan string, 1)
	go func() {
		q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+listen.String(), http.NoBody)
		if err != nil {
			answer <- err.Error()
			return
		}
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(q)
		if err != nil {
			answer <- err.Error()
			return
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		answer <- fmt.Sprint(string(text), err)
	}()
	get(t, "the request arrives", arrived)
	c.stop()
	for deadline := time.Now().Add(patience); ; { // until no new connection is taken
		conn, err := net.DialTimeout("tcp", listen.String(), patience)
		if err != nil {
			break
		}
		_ = conn.Close()
		if time.Now().After(deadline) {
			t.Fatal("new connections are still taken")
		}
	}
	select {
	case err := <-c.done:
		t.Fatalf("Run ended before the answer did: %v", err)
	default:
	}
	close(release)
	if got := get(t, "the answer", answer); got != "whole<nil>" {
		t.Errorf("answer %q", got)
	}
	if err := get(t, "stop", c.done); err != nil {
		t.Error(err)
	}
}

func TestDiesWithItsParent(t *testing.T) {
	dir := shortDir(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), exe)
	cmd.Env = []string{parentEnv + "=" + dir, "MODELGATEWAY_ENVOY=" + binary(t)}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); running(pid); <-tick.C {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("Envoy outlived its parent")
		}
	}
}

// running reports whether a process of another parent still runs: once dead it
// may stay for a while as a zombie that nobody waits for.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return false
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(rest, []byte("Z")) && !bytes.HasPrefix(rest, []byte("X"))
}

// TestFailsClearly starts what cannot run, and wants to be told why.
func TestFailsClearly(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := taken.Addr().(*net.TCPAddr).Port
	dir := shortDir(t)
	for _, tc := range []struct {
		name   string
		change func(*launch.Config)
		code   string
		cause  string
	}{
		{"port_taken_found_before", func(c *launch.Config) {
			c.Listen = []netip.AddrPort{netip.MustParseAddrPort(taken.Addr().String())}
		}, "address_in_use", "address already in use"},
		{"port_taken_found_by_envoy", func(c *launch.Config) {
			c.AdminSocket, c.Bootstrap = filepath.Join(dir, "a"), page(dir, port, "")
		}, "address_in_use", "cannot bind '127.0.0.1:" + strconv.Itoa(port)},
		{"not_a_configuration", func(c *launch.Config) { c.Bootstrap = []byte("admin: 5") }, "envoy_failed", "admin"},
		{"no_such_binary", func(c *launch.Config) { c.Path = "/does/not/exist" }, "envoy_invalid", "no such file"},
		{"run_dir_is_a_file", func(c *launch.Config) { c.RunDir = "/dev/null" }, "run_dir_unusable", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := start(t, tc.change)
			checkFault(t, get(t, "an end", c.done), tc.code, tc.cause)
			if len(c.started) > 1 {
				t.Errorf("it was started %d times", len(c.started))
			}
		})
	}
}

func checkFault(t *testing.T, err error, code, text string) {
	t.Helper()
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Code != code || refused.Detail == "" || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want a fault with code %s and %q", err, code, text)
	}
}

func TestCheck(t *testing.T) {
	if _, err := launch.Check(t.Context(), binary(t)); err != nil {
		t.Errorf("a good Envoy: %v", err)
	}
	dir := t.TempDir()
	script := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		scripttest.Write(t, path, text, mode)
		return path
	}
	for _, tc := range []struct{ path, code, text string }{
		{"/does/not/exist", "envoy_not_found", "/does/not/exist"},
		{dir, "envoy_invalid", "directory"},
		{script("data", "x", 0o600), "envoy_invalid", "not executable"},
		{script("other", "#!/bin/sh\necho nginx version: nginx/1.40.0\n", 0o700), "envoy_invalid", "not Envoy"},
		{script("fails", "#!/bin/sh\nexit 3\n", 0o700), "envoy_invalid", "exit status 3"},
		{script("old", "#!/bin/sh\necho 'envoy  version: abc123/1.38.3/Clean/RELEASE/BoringSSL'\n", 0o700), "envoy_too_old", "1.39"},
		{script("old", "#!/bin/sh\necho 'envoy  version: abc123/1.38.3/Clean/RELEASE/BoringSSL'\n", 0o700), "envoy_too_old", "priority_group"},
	} {
		_, err := launch.Check(t.Context(), tc.path)
		checkFault(t, err, tc.code, tc.text)
	}
	for _, version := range []string{"1.39.0", "1.41.0-dev", "2.0.0"} {
		path := script("new"+version, "#!/bin/sh\necho 'envoy  version: abc123/"+version+"/Clean/RELEASE/BoringSSL'\n", 0o700)
		if _, err := launch.Check(t.Context(), path); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	good := filepath.Join(dir, "good")
	fetched := filepath.Join(dir, ".tmp/envoy-1.40.0/envoy/_bin/envoy")
	if err := os.WriteFile(good, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	found := func(string) (string, error) { return good, nil }
	missing := func(string) (string, error) { return "", exec.ErrNotFound }
	check := func(what, want, got string, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", what, got, err, want)
		}
	}
	got, err := launch.Locate(good, "/nowhere", missing)
	check("the flag", good, got, err)
	got, err = launch.Locate("", "good", missing)
	check("a relative path from the environment", good, got, err)
	got, err = launch.Locate("", "", found)
	check("the path", good, got, err)
	_, err = launch.Locate("/nowhere", good, found)
	checkFault(t, err, "envoy_not_found", "/nowhere")
	_, err = launch.Locate("", "/nowhere", found)
	checkFault(t, err, "envoy_not_found", "/nowhere")
	_, err = launch.Locate("", "", missing)
	checkFault(t, err, "envoy_not_found", "--envoy-path")
	if err := os.MkdirAll(filepath.Dir(fetched), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fetched, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err = launch.Locate("", "", found)
	check("what make fetched", fetched, got, err)
}

func TestNewRefuses(t *testing.T) {
	for _, tc := range []struct {
		param  string
		change func(*launch.Config)
	}{
		{"envoy_path", func(c *launch.Config) { c.Path = "" }},
		{"bootstrap", func(c *launch.Config) { c.Bootstrap = nil }},
		{"run_dir", func(c *launch.Config) { c.RunDir = "" }},
		{"admin_socket", func(c *launch.Config) { c.AdminSocket = "/" + strings.Repeat("x", 107) }},
		{"admin_socket", func(c *launch.Config) { c.AdminSocket = "relative" }},
		{"concurrency", func(c *launch.Config) { c.Concurrency = -1 }},
		{"log_level", func(c *launch.Config) { c.LogLevel = "debug" }},
		{"log_level", func(c *launch.Config) { c.LogLevel = "loud" }},
		{"drain", func(c *launch.Config) { c.Drain = -1 }},
	} {
		c := launch.Config{Path: "/envoy", Bootstrap: []byte("x"), RunDir: "/run/x", AdminSocket: "/run/x/a"}
		tc.change(&c)
		_, err := launch.New(c)
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Param != tc.param {
			t.Errorf("error %v, want one of the field %s", err, tc.param)
		}
	}
}

func TestLog(t *testing.T) {
	var out bytes.Buffer
	w := launch.NewLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	for _, part := range []string{
		"info\tmain\tone ", "line\nwarn", "ing\tupstream\ttwo\tparts\n", "\n", "error\tx\t" + strings.Repeat("y", 10_000) + "\n", "Segmentation fault\n",
	} {
		if n, err := io.WriteString(w, part); n != len(part) || err != nil {
			t.Fatalf("wrote %d of %d: %v", n, len(part), err)
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		`level=INFO msg=envoy component=main text="one line"`,
		`level=WARN msg=envoy component=upstream text="two\tparts"`,
		`level=ERROR msg=envoy component=x text=` + strings.Repeat("y", 4096-len("error\tx\t")),
		`level=ERROR msg=envoy component="" text="Segmentation fault"`,
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), out.String())
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("line %d: %.200s\nwant %.200s", i, lines[i], want[i])
		}
	}
}
