//go:build linux

package clustertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inside runs the test in its own network and says whether it is there.
func inside(t *testing.T) bool {
	t.Helper()
	if !Inside() {
		Rerun(t)
		return false
	}
	return true
}

// await waits for something that kernels and the lab do by themselves.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("it is not true that %s", what)
		case <-tick.C:
		}
	}
}

// port is one of UDP on a host.
type port struct {
	net.PacketConn
	addr net.Addr
	got  chan string // what came, as long as it is taken
}

func listen(t *testing.T, h *Host) *port {
	t.Helper()
	c, err := h.ListenPacket(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &port{PacketConn: c, addr: c.LocalAddr(), got: make(chan string, 100)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(p.got)
		buf := make([]byte, 2000)
		for {
			n, _, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			p.got <- string(buf[:n])
		}
	}()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return p
}

func (p *port) send(t *testing.T, to *port, text string) {
	t.Helper()
	if _, err := p.WriteTo([]byte(text), to.addr); err != nil {
		t.Fatal(err)
	}
}

func (p *port) want(t *testing.T, text string) {
	t.Helper()
	select {
	case got := <-p.got:
		if got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("%q did not arrive", text)
	}
}

// nothing fails if something has arrived. What was sent has met its fate before.
func (p *port) nothing(t *testing.T) {
	t.Helper()
	select {
	case got := <-p.got:
		t.Fatalf("%q arrived", got)
	default:
	}
}

func TestHostsReachEachOther(t *testing.T) {
	if !inside(t) {
		return
	}
	lab := Start(t, Config{Hosts: 3})
	ports := make([]*port, 4)
	for i := range ports {
		ports[i] = listen(t, lab.Host(i))
	}
	for i, from := range ports {
		for _, to := range ports {
			from.send(t, to, lab.Host(i).Addr().String())
			to.want(t, lab.Host(i).Addr().String())
		}
	}
	if c := lab.Count(1, 2); c.Offered != 1 || c.Delivered != 1 {
		t.Errorf("one packet was sent from 1 to 2: %+v", c)
	}
	if got, want := ports[0].addr.(*net.UDPAddr).AddrPort().Addr(), netip.MustParseAddr("10.77.0.100"); got != want {
		t.Errorf("the test's own address is %v, want %v", got, want)
	}
}

// TCP is the kernel's own, with and without trouble on the way, and delivers what was sent.
func TestTCP(t *testing.T) {
	if !inside(t) {
		return
	}
	lab := Start(t, Config{Hosts: 2, Seed: 7})
	for _, c := range []struct {
		name string
		rule Rule
		size int
	}{
		{"good", Rule{}, 32 << 20},
		{"bad", Rule{Delay: 5 * time.Millisecond, Jitter: 3 * time.Millisecond, Loss: 0.02, Duplicate: 0.05, Reorder: 0.05}, 1 << 20},
		{"limited", Rule{Rate: 4 << 20}, 1 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab.Set(c.rule)
			defer lab.Heal()
			start := time.Now()
			transfer(t, lab, c.size)
			took := time.Since(start)
			t.Logf("%.1f MB/s; %+v", float64(c.size)/took.Seconds()/1e6, lab.Count(1, 2))
		})
	}
	if c := lab.Count(1, 2); c.Lost == 0 || c.Duplicated == 0 || c.Reordered == 0 {
		t.Errorf("there was no trouble on the way: %+v", c)
	}
}

// transfer sends size bytes from host 1 to host 2 and checks that they arrive.
func transfer(t *testing.T, lab *Lab, size int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l, err := lab.Host(2).Listen(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	data := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(data) // it never fails
	sum := make(chan []byte, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			sum <- nil
			return
		}
		h := sha256.New()
		_, _ = io.Copy(h, c) // a part has another sum
		_ = c.Close()
		sum <- h.Sum(nil)
	}()
	c, err := lab.Host(1).Dial(ctx, l.Addr().(*net.TCPAddr).AddrPort())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if want := sha256.Sum256(data); !bytes.Equal(<-sum, want[:]) {
		t.Error("what arrived is not what was sent")
	}
}

func TestDelay(t *testing.T) {
	if !inside(t) {
		return
	}
	lab := Start(t, Config{Hosts: 2})
	a, b := listen(t, lab.Host(1)), listen(t, lab.Host(2))
	const delay, jitter = 60 * time.Millisecond, 10 * time.Millisecond
	lab.Delay(delay, jitter)
	for range 5 {
		start := time.Now()
		a.send(t, b, "there")
		b.want(t, "there")
		b.send(t, a, "and back")
		a.want(t, "and back")
		if took := time.Since(start); took < 2*(delay-jitter) {
			t.Errorf("there and back in %v with a delay of %v ± %v each way", took, delay, jitter)
		}
	}
	// Those under way arrive in their order, though the rule is gone.
	a.send(t, b, "late")
	await(t, "the packet is on its way", func() bool { return lab.Count(1, 2).Offered == 6 })
	lab.Heal()
	a.send(t, b, "later")
	b.want(t, "late")
	b.want(t, "later")
}

func TestLoss(t *testing.T) {
	if !inside(t) {
		return
	}
	lab := Start(t, Config{Hosts: 2, Seed: 42})
	a, b := listen(t, lab.Host(1)), listen(t, lab.Host(2))
	const n, share = 2000, 0.2
	lab.Loss(share)
	received := 0
	for i := range n {
		a.send(t, b, "x")
		if i%20 != 19 {
			continue
		}
		// The receiver's socket holds these; what is lost is lost on the way.
		await(t, "the packets have met their fate", func() bool { return lab.Count(1, 2).Offered == i+1 })
		for received < lab.Count(1, 2).Delivered {
			b.want(t, "x")
			received++
		}
	}
	c := lab.Count(1, 2)
	if c.Lost+received != n || c.Lost < 300 || c.Lost > 500 {
		t.Errorf("%d of %d arrived with a loss of %v, %+v", received, n, share, c)
	}
	if c := lab.Count(2, 1); c.Offered != 0 {
		t.Errorf("nothing was sent back: %+v", c)
	}
}

func TestPartition(t *testing.T) {
	if !inside(t) {
		return
	}
	lab := Start(t, Config{Hosts: 3})
	me, a, b, c := listen(t, lab.Host(0)), listen(t, lab.Host(1)), listen(t, lab.Host(2)), listen(t, lab.Host(3))
	lab.Partition([][]int{{1}, {2, 3}})
	a.send(t, b, "cut")
	b.send(t, a, "cut")
	c.send(t, a, "cut")
	await(t, "three packets were cut", func() bool {
		return lab.Count(1, 2).Cut == 1 && lab.Count(2, 1).Cut == 1 && lab.Count(3, 1).Cut == 1
	})
	b.send(t, c, "together")
	c.want(t, "together")
	for _, p := range []*port{a, b, c} { // the test reaches all
		me.send(t, p, "hello")
		p.want(t, "hello")
		p.send(t, me, "hello")
		me.want(t, "hello")
	}
	a.nothing(t)
	b.nothing(t)
	lab.Heal()
	a.send(t, b, "healed")
	b.want(t, "healed")

	// A cut takes what is under way.
	lab.Delay(200*time.Millisecond, 0)
	a.send(t, b, "under way")
	await(t, "the packet is on its way", func() bool { return lab.Count(1, 2).Offered == 3 })
	lab.Partition([][]int{{1}, {2}})
	await(t, "the packet was cut", func() bool { return lab.Count(1, 2).Cut == 2 })
	b.nothing(t)
}

func TestOneWay(t *testing.T) {
	if !inside(t) {
		return
	}
	lab := Start(t, Config{Hosts: 2})
	a, b := listen(t, lab.Host(1)), listen(t, lab.Host(2))
	lab.OneWay(1, 2)
	a.send(t, b, "cut")
	await(t, "the packet was cut", func() bool { return lab.Count(1, 2).Cut == 1 })
	b.send(t, a, "this way it goes")
	a.want(t, "this way it goes")
	b.nothing(t)
	lab.Heal()
	a.send(t, b, "healed")
	b.want(t, "healed")
}

// A process on a host has the host's network, and ends with the lab.
func TestProcess(t *testing.T) {
	if !inside(t) {
		return
	}
	lab, err := New(Config{Hosts: 2})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "cat", "/proc/self/net/fib_trie")
	cmd.Stdout = &out
	p, err := lab.Host(2).Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); !strings.Contains(s, "10.77.0.2") || strings.Contains(s, "10.77.0.1\n") || strings.Contains(s, "10.77.0.100") {
		t.Errorf("the process on host 2 has the addresses\n%s", s)
	}
	if _, err := lab.Host(1).Start(exec.CommandContext(t.Context(), "/nonexistent")); err == nil {
		t.Error("a program that is not there was started")
	}
	long, err := lab.Host(1).Start(exec.CommandContext(t.Context(), "sleep", "1000"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(long.PID(), 0); err != nil {
		t.Errorf("the process is not there: %v", err)
	}
	if err := lab.Close(); err != nil {
		t.Error(err)
	}
	var exit *exec.ExitError
	if err := long.Wait(); !errors.As(err, &exit) {
		t.Errorf("the process ended with %v, want killed", err)
	}
	if err := long.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("a signal to one that has ended: %v", err)
	}
}

// A test's process that is killed takes those on its hosts with it.
func TestProcessEndsWithTest(t *testing.T) {
	if Inside() {
		lab := Start(t, Config{Hosts: 1})
		p, err := lab.Host(1).Start(exec.CommandContext(t.Context(), "sleep", "1000"))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("pid=%d.", p.PID())
		t.Error(syscall.Kill(os.Getpid(), syscall.SIGKILL), "and it goes on")
	}
	out, err := rerun(t, nil, 0)
	_, rest, _ := strings.Cut(out, "pid=")
	pid, numberErr := strconv.Atoi(rest[:max(0, strings.Index(rest, "."))])
	if err == nil || numberErr != nil {
		t.Fatalf("the test inside was not killed: %v\n%s", err, out)
	}
	await(t, "the process has ended", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
}

// What fails inside fails outside, and says why.
func TestRerunReportsFailure(t *testing.T) {
	if Inside() {
		t.Fatal("a failure on purpose")
	}
	out, err := rerun(t, nil, 0)
	if err == nil || !strings.Contains(out, "a failure on purpose") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Run("sub", func(t *testing.T) {
		if _, err := rerun(t, nil, 0); err == nil || !strings.Contains(err.Error(), "subtest") {
			t.Errorf("a subtest was run again: %v", err)
		}
	})
}

// Without being root the namespace belongs to a user namespace, and works the same.
func TestUserNamespace(t *testing.T) {
	if !Inside() {
		for uid, want := range map[int]int{0: 2, 1000: 1} {
			flags := namespaces(uid)
			if len(flags) != want || flags[len(flags)-1]&syscall.CLONE_NEWUSER == 0 {
				t.Errorf("user %d: %x", uid, flags)
			}
		}
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", arguments(t)...)
		cmd.SysProcAttr = inNamespaces(syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	lab := Start(t, Config{Hosts: 2})
	a, b := listen(t, lab.Host(1)), listen(t, lab.Host(2))
	a.send(t, b, "hello")
	b.want(t, "hello")
}

func TestConfig(t *testing.T) {
	for _, hosts := range []int{-1, 0, 100} {
		if _, err := New(Config{Hosts: hosts}); err == nil {
			t.Errorf("a lab of %d hosts was made", hosts)
		}
	}
}
