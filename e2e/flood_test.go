//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A flood sends bodies of this length, 64 KiB at a time. It is what a body may have.
const (
	floodBody  = 64 << 20
	floodPiece = 64 << 10
)

// floods is how a flood sends its requests.
type floods struct {
	keys     []string
	requests int
	chunked  bool // the length is not declared
	withhold bool // the last bytes are never sent
}

// flooded is what came of one request of a flood.
type flooded struct {
	status int // 0: no answer while it was waited for
	code   string
	retry  string // the header retry-after
	sent   int    // bytes of the body
}

// flood sends the requests at the same time and returns what came of them. Those that
// get no answer are given up when leave is closed.
func (g *gatewayProcess) flood(f floods, leave <-chan struct{}) []flooded {
	g.t.Helper()
	out := make([]flooded, f.requests)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { out[i] = g.floodOne(f, f.keys[i%len(f.keys)], leave) })
	}
	wg.Wait()
	return out
}

func (g *gatewayProcess) floodOne(f floods, key string, leave <-chan struct{}) (out flooded) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		g.t.Error(err)
		return out
	}
	// What the sender's kernel holds is the sender's own. On loopback, with up to 4 MiB of it,
	// Envoy's thread would free it when it closes the connection.
	if err := conn.(*net.TCPConn).SetWriteBuffer(floodPiece); err != nil {
		g.t.Error(err)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return
		}
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(resp.Body)
		out.status, out.retry = resp.StatusCode, resp.Header.Get("Retry-After")
		a := answer{status: resp.StatusCode, body: string(body)}
		if resp.StatusCode >= 400 {
			out.code = *a.error(g.t).Error.Code
		}
	}()
	done := make(chan int, 1)
	go func() { done <- sendFlood(conn, f, key) }()
	select {
	case <-answered:
	case <-leave:
	}
	_ = conn.Close()
	<-answered
	out.sent = <-done
	return out
}

// sendFlood sends a request as far as it is taken, and returns how much that was.
func sendFlood(w io.Writer, f floods, key string) (sent int) {
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + key + "\r\n"
	length := "Content-Length: " + strconv.Itoa(floodBody) + "\r\n\r\n"
	if f.chunked {
		length = "Transfer-Encoding: chunked\r\n\r\n"
	}
	if _, err := io.WriteString(w, head+length); err != nil {
		return 0
	}
	const start, end = `{"model":"bulk","messages":[{"role":"user","content":"`, `"}]}`
	filler := bytes.Repeat([]byte("a"), floodPiece)
	for sent < floodBody {
		piece := filler
		switch {
		case sent == 0:
			piece = append([]byte(start), filler[len(start):]...)
		case sent+floodPiece == floodBody:
			piece = append(filler[:floodPiece-len(end):floodPiece-len(end)], end...)
			if f.withhold {
				piece = piece[:floodPiece/2]
			}
		}
		size := len(piece)
		if f.chunked {
			piece = fmt.Appendf(nil, "%x\r\n%s\r\n", size, piece)
		}
		n, err := w.Write(piece)
		sent += min(n, size)
		if err != nil || f.withhold && sent > floodBody-floodPiece {
			return sent
		}
	}
	if f.chunked {
		_, _ = io.WriteString(w, "0\r\n\r\n")
	}
	return sent
}

// resident returns the memory of a process, in bytes.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatalf("process %d has no VmRSS", pid)
	return 0
}

// watch notes the most memory that the gateway's two processes have until it is
// stopped, and that another tenant and a probe are served all the time.
type watch struct {
	gateway, envoy int64 // the most, in bytes
	served         []time.Duration
}

// watching watches while f runs.
func (g *gatewayProcess) watching(key string, f func()) (w watch) {
	g.t.Helper()
	envoy := children(g.t, g.cmd.Process.Pid)
	if len(envoy) != 1 {
		g.t.Fatalf("the gateway has the children %v, want one Envoy", envoy)
	}
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !over.Load() || len(w.served) == 0 {
			since := time.Now()
			if a := g.chat(good, with("Authorization", "Bearer "+key)); a.status != http.StatusOK {
				g.t.Errorf("another tenant gets %d %s", a.status, a.body)
				return
			}
			w.served = append(w.served, time.Since(since))
			if a := g.get("/health/readiness", without("Authorization")); a.status != http.StatusOK {
				g.t.Errorf("readiness is %d %s", a.status, a.body)
				return
			}
			w.gateway = max(w.gateway, resident(g.t, g.cmd.Process.Pid))
			w.envoy = max(w.envoy, resident(g.t, envoy[0]))
		}
	})
	f()
	over.Store(true)
	wg.Wait()
	return w
}

// tenant makes a key.
func (g *gatewayProcess) tenant(limits tree) string {
	g.t.Helper()
	key, _ := g.changes("/key/generate", limits)["key"].(string)
	return key
}

// inFlight is what /metrics says of the bytes in flight.
func (g *gatewayProcess) inFlight() string {
	g.t.Helper()
	for line := range strings.Lines(g.get("/metrics").body) {
		if value, ok := strings.CutPrefix(line, "gateway_request_bytes_inflight "); ok {
			return strings.TrimSpace(value)
		}
	}
	g.t.Fatal("/metrics does not have gateway_request_bytes_inflight")
	return ""
}

// The attack of docs/operation/withheld-bodies.md: a key that may spend nothing opens
// requests with bodies that it never completes. Each is answered when its headers have
// come. Other tenants and the readiness probe do not notice.
func TestWithheldBodies(t *testing.T) {
	g := startGateway(t, models(newUpstream(t), "fast=openai/fake-gpt"))
	poor := g.tenant(tree{"max_budget": 0, "rpm_limit": 1, "max_parallel_requests": 1})
	other := g.tenant(tree{})
	g.chat(good) // both processes are warm
	before := g.watching(other, func() {})
	leave := make(chan struct{}) // never: every request is answered
	for _, chunked := range []bool{false, true} {
		var results []flooded
		w := g.watching(other, func() {
			results = g.flood(floods{keys: []string{poor}, requests: 32, chunked: chunked, withhold: true}, leave)
		})
		for _, r := range results {
			if r.status != http.StatusTooManyRequests || r.code != "budget_exceeded" {
				t.Errorf("chunked %t: %d %s after %d bytes, want 429 budget_exceeded", chunked, r.status, r.code, r.sent)
			}
		}
		// 32 bodies are 2 GiB. What Envoy reads before it knows the answer is some of
		// its read buffers.
		if grown := w.envoy - before.envoy; grown > 128<<20 {
			t.Errorf("chunked %t: Envoy grew by %d MiB", chunked, grown>>20)
		}
		if grown := w.gateway - before.gateway; grown > 128<<20 && !raced(t) {
			t.Errorf("chunked %t: the gateway grew by %d MiB", chunked, grown>>20)
		}
	}
}

// A key with no limits may fill a quarter of what may be in flight, and three such keys
// may do so. The next request of each gets 429, and a large body of a fourth key 503,
// with retry-after. Small requests of others fit in between, and what is given up is
// free again.
func TestBodiesInFlight(t *testing.T) {
	g := startGateway(t, models(newUpstream(t), "fast=openai/fake-gpt")+"limits: {max_inflight_request_bytes: 272629760}\n") // 260 MiB
	other := g.tenant(tree{})
	var keys []string
	for range 4 {
		keys = append(keys, g.tenant(tree{}))
	}
	for _, chunked := range []bool{false, true} {
		leave := make(chan struct{})
		var held, last []flooded
		g.watching(other, func() {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				held = g.flood(floods{keys: keys[:3], requests: 3, chunked: chunked, withhold: true}, leave)
			}()
			g.until("three bodies are in flight", func() bool { return atLeast(t, g.inFlight(), 3*(floodBody-floodPiece)) })
			for i := range keys {
				last = append(last, g.flood(floods{keys: keys[i : i+1], requests: 1, chunked: chunked, withhold: true}, nil)...)
			}
			close(leave)
			<-ended
		})
		for i, r := range held {
			if r.status != 0 {
				t.Errorf("chunked %t: request %d is answered with %d %s, and should wait for its body", chunked, i, r.status, r.code)
			}
		}
		for i, r := range last {
			want, code := http.StatusTooManyRequests, "request_bytes_exceeded"
			if i == 3 {
				want, code = http.StatusServiceUnavailable, "overloaded"
			}
			if r.status != want || r.code != code || r.retry == "" {
				t.Errorf("chunked %t: key %d gets %d %s, retry-after %q, want %d %s", chunked, i, r.status, r.code, r.retry, want, code)
			}
		}
		g.until("nothing is in flight", func() bool { return g.inFlight() == "0" })
	}
}

func atLeast(t *testing.T, text string, least float64) bool {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n >= least
}

// A caller that leaves while its body is on the way has its place and its count back.
func TestLeavingWithABodyOnItsWay(t *testing.T) {
	t.Parallel()
	g := startGateway(t, models(newUpstream(t), "fast=openai/fake-gpt"))
	key := g.tenant(tree{"rpm_limit": 1, "max_parallel_requests": 1, "max_budget": 1})
	leave := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.flood(floods{keys: []string{key}, requests: 1, withhold: true}, leave)
	}()
	g.until("the body is in flight", func() bool { return g.inFlight() != "0" })
	if a := g.chat(good, with("Authorization", "Bearer "+key)); a.status != http.StatusTooManyRequests {
		t.Errorf("a second request gets %d %s", a.status, a.body)
	}
	close(leave)
	<-ended
	g.until("the body is gone", func() bool { return g.inFlight() == "0" })
	if a := g.chat(good, with("Authorization", "Bearer "+key)); a.status != http.StatusOK {
		t.Errorf("the only request that the limits allow gets %d %s", a.status, a.body)
	}
}
