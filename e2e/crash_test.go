package e2e

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// children returns the processes that a process has started.
func children(t *testing.T, pid int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(b), ") ") // the command's name may have spaces in it
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) && fields[0] != "Z" {
			child, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, child)
		}
	}
	return out
}

// gone waits until a process is no more.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for syscall.Kill(pid, 0) == nil {
		select {
		case <-deadline:
			t.Fatalf("process %d is still there", pid)
		case <-tick.C:
		}
	}
}

// pending sends requests that the provider does not answer, and returns when it
// has them all. What became of them is on the channel.
func pending(t *testing.T, g *gatewayProcess, p *upstream, n int) <-chan int {
	t.Helper()
	status := make(chan int, n)
	for range n {
		go func() {
			r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(request("stuck", "")))
			if err != nil {
				status <- -1
				return
			}
			r.Header.Set("Authorization", "Bearer "+adminKey)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("x-gateway-tags", "batch,eu")
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				status <- 0 // the connection broke
				return
			}
			_ = resp.Body.Close()
			status <- resp.StatusCode
		}()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.Await(ctx, func(c fake.Counters) bool { return c.Open == n }); err != nil {
		t.Fatal("the requests did not reach the provider")
	}
	return status
}

func TestEnvoyKilled(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt", "stuck=openai/hang"))
	first := g.chat(request("fast", ""))
	open := pending(t, g, p, 3)
	envoy := children(t, g.cmd.Process.Pid)
	if len(envoy) != 1 {
		t.Fatalf("the gateway has the children %v, want one Envoy", envoy)
	}
	if err := syscall.Kill(envoy[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if s := <-open; s != 0 && s != http.StatusServiceUnavailable {
			t.Errorf("a request under way ended with %d, want a broken connection or 503", s)
		}
	}
	gone(t, envoy[0])
	g.awaitReady()
	if a := g.chat(request("fast", "")); a.status != http.StatusOK {
		t.Errorf("after the restart: %d %s", a.status, a.body)
	}
	expect(t, g.get("/metrics").body, 1, "gateway_envoy_restarts_total")
	rows := g.events(5)
	count := map[string]int{}
	for _, e := range rows {
		count[e.Status]++
		if e.Status == "canceled" && (e.Source != "estimated" || e.PromptTokens == 0) {
			t.Errorf("a request that Envoy took with it: %+v", e)
		}
	}
	if count["success"] != 2 || count["canceled"] != 3 || len(rows) != 5 {
		t.Errorf("events %v, want 2 answers and 3 that were cut: %+v", count, rows)
	}
	if rows[0].RequestID != first.header.Get("x-gateway-request-id") {
		t.Errorf("the first event is of %s", rows[0].RequestID)
	}
}

func TestGatewayKilled(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt", "stuck=openai/hang", "slow=openai/words-200+pace-20ms"))
	var acked sync.Map
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			for range 10 {
				a := g.chat(request("fast", ""))
				if a.status == http.StatusOK {
					acked.Store(a.header.Get("x-gateway-request-id"), true)
				}
			}
		})
	}
	senders.Wait()
	open := pending(t, g, p, 3)
	// An answer's record is written with or after the intents of the requests that
	// were dispatched before it, so now those are on the disk as well.
	acked.Store(g.chat(request("fast", "")).header.Get("x-gateway-request-id"), true)
	envoy := children(t, g.cmd.Process.Pid)
	g.kill()
	for _, pid := range envoy {
		gone(t, pid) // Envoy goes with us
	}
	for range 3 {
		<-open
	}
	p.Reset()

	g.start()
	rows := g.spend("")
	seen := map[string]int{}
	crashed := 0
	for _, e := range rows {
		seen[e.RequestID]++
		if e.Status == "crashed" {
			crashed++
			if e.Source != "estimated" || e.PromptTokens == 0 || string(e.Spend) == "0" || !slices.Equal(e.Tags, []string{"batch", "eu"}) {
				t.Errorf("a request that was under way: %+v", e)
			}
		}
	}
	acked.Range(func(id, _ any) bool {
		if seen[id.(string)] != 1 {
			t.Errorf("request %s was answered and has %d events, want 1", id, seen[id.(string)])
		}
		return true
	})
	if crashed != 3 || len(rows) != 44 {
		t.Errorf("%d events, %d of them crashed; want 44 and 3", len(rows), crashed)
	}
	if a := g.chat(request("fast", "")); a.status != http.StatusOK {
		t.Errorf("after the restart: %d %s", a.status, a.body)
	}
}

// A stop lets what is running end.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "slow=openai/fake-gpt+slow-1s"))
	done := make(chan *answer, 1)
	go func() { done <- g.chat(request("slow", "")) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.Await(ctx, func(c fake.Counters) bool { return c.Open == 1 }); err != nil {
		t.Fatal(err)
	}
	envoy := children(t, g.cmd.Process.Pid)
	g.stop()
	if a := <-done; a.status != http.StatusOK {
		t.Errorf("a request that ran at the stop: %d %s", a.status, a.body)
	}
	for _, pid := range envoy {
		gone(t, pid)
	}
}

func TestRefusesToStart(t *testing.T) {
	p := newUpstream(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	general := "\ngeneral_settings: {master_key: " + adminKey + "}\n"
	sound := models(p, "fast=openai/fake-gpt") + general
	for name, c := range map[string]struct {
		config string
		args   []string
		want   string
	}{
		"no admin credential":  {models(p, "fast=openai/fake-gpt"), nil, "master_key"},
		"unknown key":          {strings.Replace(sound, "api_base", "api_bse", 1), nil, `did you mean "api_base"`},
		"unknown provider":     {strings.Replace(sound, "openai/fake", "opnai/fake", 1), nil, "opnai"},
		"fallback to itself":   {sound + "router_settings: {fallbacks: [{fast: [fast]}]}\n", nil, "fast"},
		"data is a file":       {sound, []string{"--data", file}, file},
		"data is read-only":    {sound, []string{"--data", "/sys/modelgateway"}, "/sys/modelgateway"},
		"no such envoy":        {sound, []string{"--envoy-path", filepath.Join(dir, "none")}, "none"},
		"not an envoy":         {sound, []string{"--envoy-path", "/bin/true"}, "/bin/true"},
		"listen is no address": {sound, []string{"--listen", "here"}, "here"},
	} {
		t.Run(name, func(t *testing.T) {
			config := filepath.Join(t.TempDir(), "gateway.yaml")
			if err := os.WriteFile(config, []byte(c.config), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"serve", "--config", config, "--data", filepath.Join(t.TempDir(), "data"), "--listen", freePort(t), "--envoy-path", envoyPath(t)}, c.args...)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, binary(t), args...).CombinedOutput()
			if err == nil || ctx.Err() != nil {
				t.Fatalf("it did not refuse: %v\n%s", err, out)
			}
			if !strings.Contains(string(out), c.want) || strings.Contains(string(out), adminKey) || strings.Contains(string(out), "goroutine") {
				t.Errorf("it says:\n%s", out)
			}
		})
	}
}

// A gateway that dies while a picture is made charges it once, as estimated: also after another restart.
func TestGatewayKilledWhileAPictureIsMade(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, `
model_list:
  - model_name: picture
    gateway_params: {model: openai/fake-picture+nousage, api_base: "`+p.url+`/v1", api_key: k, output_cost_per_image: 0.04}
  - model_name: stuck
    gateway_params: {model: openai/hang, api_base: "`+p.url+`/v1", api_key: k, output_cost_per_image: 0.04}
router_settings: {num_retries: 0}
`)
	draw := func(model string) *answer {
		return g.do(http.MethodPost, "/v1/images/generations", strings.NewReader(`{"model":"`+model+`","prompt":"a fox","n":2}`))
	}
	ended := make(chan int, 1) // the status of the response; 0 if the connection broke
	go func() {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, g.url+"/v1/images/generations", strings.NewReader(`{"model":"stuck","prompt":"a fox","n":2}`))
		if err != nil {
			ended <- 0
			return
		}
		r.Header.Set("Authorization", "Bearer "+adminKey)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			ended <- 0
			return
		}
		_ = resp.Body.Close()
		ended <- resp.StatusCode
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.Await(ctx, func(c fake.Counters) bool { return c.Open == 1 }); err != nil {
		t.Fatal("the request did not reach the provider")
	}
	// A response's record is written with or after the intents of earlier requests, so the picture's is on the disk.
	first := draw("picture")
	if e := g.one(first); first.status != http.StatusOK || string(e.Spend) != "0.08" || e.Status != "success" {
		t.Errorf("%d, recorded %+v", first.status, e)
	}
	envoy := children(t, g.cmd.Process.Pid)
	g.kill()
	for _, pid := range envoy {
		gone(t, pid)
	}
	// Envoy ends with the gateway. If it sees first that the processor is gone, it still says so to the caller.
	if status := <-ended; status != 0 && status < http.StatusInternalServerError {
		t.Errorf("the caller of the picture got %d, want a broken connection or an error", status)
	}
	p.Reset()

	for range 2 {
		g.start()
		rows := g.spend("")
		if len(rows) != 2 {
			t.Fatalf("%d rows, want one for each picture: %+v", len(rows), rows)
		}
		made := rows[0]
		if made.RequestID == first.header.Get("x-gateway-request-id") {
			made = rows[1]
		}
		if made.Group != "stuck" || made.Status != "crashed" || made.Source != "estimated" || string(made.Spend) != "0.08" {
			t.Errorf("the picture that was being made: %+v", made)
		}
		if n := p.Counters().Total; n != 0 {
			t.Errorf("the provider is asked %d times again", n)
		}
		g.stop()
	}
	g.start()
	if a := draw("picture"); a.status != http.StatusOK {
		t.Errorf("after the restarts: %d %s", a.status, a.body)
	}
}
