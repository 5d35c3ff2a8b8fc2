package e2e

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

func TestStream(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt+words-20", "odd=openai/dribble+crlf+comments+words-20", "claude=anthropic/fake-claude+words-20",
		"nousage=openai/nousage+words-20", "cut=openai/cut-5+words-20+pace-20ms", "nodone=openai/nodone+words-20", "fake-gpt=openai/fake-gpt+words-20"))
	for _, model := range []string{"fast", "odd", "claude", "nousage"} {
		plain := g.chat(request(model, `,"stream":true`))
		if plain.status != http.StatusOK || !strings.HasPrefix(plain.header.Get("content-type"), "text/event-stream") {
			t.Errorf("%s: %d %s %s", model, plain.status, plain.header.Get("content-type"), plain.body)
			continue
		}
		if strings.Contains(plain.body, `"usage":{`) {
			t.Errorf("%s: usage that was not asked for: %s", model, plain.body)
		}
		if !strings.Contains(plain.body, "data: [DONE]") || strings.Contains(plain.body, `"error"`) {
			t.Errorf("%s: %s", model, plain.body)
		}
		if n := strings.Count(plain.body, `"model":"`+model+`"`); n < 5 {
			t.Errorf("%s: %d chunks name the model asked for: %s", model, n, plain.body)
		}
		e := g.one(plain)
		source := "provider"
		if model == "nousage" {
			source = "estimated"
		}
		if e.Status != "success" || !e.Stream || e.Source != source || e.CompletionTokens == 0 || e.PromptTokens == 0 {
			t.Errorf("%s: event %+v", model, e)
		}
	}
	asked := g.chat(request("fast", `,"stream":true,"stream_options":{"include_usage":true}`))
	if strings.Count(asked.body, `"usage":{`) != 1 || !strings.Contains(asked.body, `"cost":`) {
		t.Errorf("usage that was asked for: %s", asked.body)
	}
	cut := g.chat(request("cut", `,"stream":true`))
	if strings.Contains(cut.body, "[DONE]") {
		t.Errorf("a broken stream ends well: %s", cut.body)
	}
	if cut.status != http.StatusOK {
		t.Errorf("a broken stream: %d %s", cut.status, cut.body)
	}
	g.eventually(cut.header.Get("x-gateway-request-id"), func(e spendLog) bool {
		if sent := int64(strings.Count(cut.body, `"content":"`) - strings.Count(cut.body, `"content":""`)); sent == 0 || e.CompletionTokens < sent || e.CompletionTokens > 4 {
			t.Errorf("the provider sent 4 tokens, of which %d reached the caller, and %d were charged", sent, e.CompletionTokens)
		}
		return e.Status == "failed" && e.ErrorCode == "upstream_cut" && e.Source == "estimated"
	})
	nodone := g.chat(request("nodone", `,"stream":true`))
	if e := g.one(nodone); e.Status != "success" {
		t.Errorf("a whole stream without its end mark: %+v", e)
	}
}

// eventually waits for the one event of a request that nobody waits for, and
// checks it.
func (g *gatewayProcess) eventually(request string, ok func(spendLog) bool) {
	g.t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if rows := g.spend(request); len(rows) > 0 {
			if len(rows) != 1 || !ok(rows[0]) {
				g.t.Errorf("events %+v", rows)
			}
			return
		}
		select {
		case <-deadline:
			g.t.Errorf("no event for %s", request)
			return
		case <-tick.C:
		}
	}
}

// events waits until there are n usage events, of which nobody else waits for some.
func (g *gatewayProcess) events(n int) []spendLog {
	g.t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		rows := g.spend("")
		if len(rows) >= n {
			return rows
		}
		select {
		case <-deadline:
			g.t.Errorf("%d events, want %d", len(rows), n)
			return rows
		case <-tick.C:
		}
	}
}

// A caller that leaves is charged for what was generated until then, and the
// provider is told to stop.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "slow=openai/words-2000+pace-20ms", "claude=anthropic/words-2000+pace-20ms", "stuck=openai/hang"))
	for _, model := range []string{"slow", "claude"} {
		ctx, cancel := context.WithCancel(context.Background())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(request(model, `,"stream":true`)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+adminKey)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(resp.Body)
		seen := 0
		for seen < 8 && lines.Scan() {
			if strings.Contains(lines.Text(), `"content":"`) {
				seen++
			}
		}
		cancel()
		_ = resp.Body.Close()
		g.eventually(resp.Header.Get("x-gateway-request-id"), func(e spendLog) bool {
			return e.Status == "canceled" && e.Source == "estimated" && e.CompletionTokens >= 6 && e.CompletionTokens < 1500 && e.PromptTokens > 0 && string(e.Spend) != "0"
		})
		wait, stop := context.WithTimeout(context.Background(), time.Minute)
		if err := p.Await(wait, func(c fake.Counters) bool { return c.Open == 0 }); err != nil {
			t.Errorf("%s: the provider still works for nobody", model)
		}
		stop()
	}
}

// A caller that reads nothing holds the provider up, not memory.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "long=openai/words-20000"))
	r, err := http.NewRequest(http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(request("long", `,"stream":true`)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminKey)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, resp.Body, 1000); err != nil {
		t.Fatal(err)
	}
	if a := g.chat(request("long", "")); a.status != http.StatusOK {
		t.Errorf("another caller meanwhile: %d", a.status)
	}
	rest, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the rest, once read: %v, ends %q", err, rest[max(0, len(rest)-100):])
	}
}
