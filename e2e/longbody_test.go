package e2e

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/modelgateway/modelgateway/envoy/contract"
)

// longContent makes a body that the processor gets in pieces.
func longContent() string { return strings.Repeat("0123456789abcdef", 2*contract.LongBody/16) }

// Long bodies reach the provider as they came, with and without a declared length, also
// when earlier attempts have failed in one way or another, and once.
func TestLongBodies(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt", "down=openai/fail-500", "broken=openai/reset", "claude=anthropic/fake-claude")+`
router_settings:
  num_retries: 1
  retry_after: 0.01
  cooldown_time: 0
  fallbacks: [{down: [claude, fast]}, {broken: [down, fast]}]
`)
	content := longContent()
	for _, c := range []struct {
		model    string
		attempts int // provider requests
	}{{"fast", 1}, {"claude", 1}, {"down", 3}, {"broken", 3}} {
		for _, declared := range []bool{true, false} {
			var r io.Reader = strings.NewReader(strings.Replace(request(c.model, ""), "hello", content, 1))
			if !declared {
				r = io.MultiReader(r) // net/http does not see its length
			}
			before := len(p.Requests())
			if a := g.do(http.MethodPost, "/v1/chat/completions", r); a.status != http.StatusOK {
				t.Errorf("%s, declared %t: %d %s", c.model, declared, a.status, a.body)
				continue
			}
			requests := p.Requests()[before:]
			if len(requests) < c.attempts {
				t.Errorf("%s, declared %t: the provider saw %d requests", c.model, declared, len(requests))
				continue
			}
			last := requests[len(requests)-1]
			start := content[:len(last.Body)/2] // the provider keeps the start of a body
			if more := last.BodyBytes - len(content); !strings.Contains(last.Body, `"`+start) || more < 0 || more > 1000 {
				t.Errorf("%s, declared %t: %d bytes reach the provider and are not those that were sent", c.model, declared, last.BodyBytes)
			}
		}
	}
	g.until("nothing is in flight", func() bool { return g.inFlight() == "0" })
}

// Long bodies wait for their pace, as they come and as they go on. Short ones do not.
func TestLongBodiesKeepThePace(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt")+"limits: {long_body_bytes_per_second: 2097152}\n")
	waited := func() float64 {
		for line := range strings.Lines(g.get("/metrics").body) {
			if value, ok := strings.CutPrefix(line, "gateway_request_body_wait_seconds_total "); ok {
				seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
				if err != nil {
					t.Fatal(err)
				}
				return seconds
			}
		}
		t.Fatal("/metrics does not have gateway_request_body_wait_seconds_total")
		return 0
	}
	send := func(content string) {
		if a := g.chat(strings.Replace(good, "hello", content, 1)); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	send("hello")
	if s := waited(); s != 0 {
		t.Errorf("a short body has waited %g s", s)
	}
	var together sync.WaitGroup
	for range 4 {
		together.Go(func() { send(longContent()) })
	}
	together.Wait()
	// Each comes and goes on, and what four seconds allow is free.
	if s := waited(); s < 1 {
		t.Errorf("16 MiB of four bodies have waited %g s, want 3 s and more", s)
	}
}

// Of a request with trailers the gateway could not say that its body is sent once.
func TestLongBodyWithTrailers(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt"))
	for content, want := range map[string]int{"hello": http.StatusOK, longContent(): http.StatusBadRequest} {
		body := strings.Replace(good, "hello", content, 1)
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+adminKey)
		q.Header.Set("Content-Type", "application/json")
		q.ContentLength = int64(len(body))
		q.Trailer = http.Header{"X-Checksum": {"1"}}
		a, err := protocol(t, true).Do(q)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err != nil || a.StatusCode != want || want != http.StatusOK && !strings.Contains(string(text), "trailers") {
			t.Errorf("%d bytes with trailers get %d %s (%v), want %d", len(body), a.StatusCode, text, err, want)
		}
	}
	g.until("nothing is in flight", func() bool { return g.inFlight() == "0" })
}
