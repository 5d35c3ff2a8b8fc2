package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const ask = `{"model":"%s","messages":[{"role":"user","content":"hello"}]%s}`

func request(model, more string) string { return fmt.Sprintf(ask, model, more) }

func TestFallback(t *testing.T) {
	p := newUpstream(t)
	g := startGateway(t, models(p,
		"down=openai/fail-500", "limited=openai/fail-429", "wrongkey=openai/fail-401", "broken=openai/reset", "stuck=openai/hang",
		"moved=openai/redirect", "fast=openai/fake-gpt", "claude=anthropic/fake-claude", "lonely=openai/fail-503", "lonelykey=openai/fail-401",
		"lonelystuck=openai/hang", "bad=openai/fail-400", "gone=openai/fail-500", "page=openai/html-200", "nothing=openai/empty")+`
  - model_name: dead
    gateway_params: {model: openai/x, api_base: "http://127.0.0.1:1/v1", api_key: k}
    model_info: {id: dead-id}
router_settings:
  num_retries: 1
  retry_after: 0.01
  cooldown_time: 0
  timeout: 2
  fallbacks:
    - down: [claude, fast]
    - limited: [fast]
    - wrongkey: [fast]
    - broken: [fast]
    - stuck: [fast]
    - moved: [fast]
    - dead: [fast]
    - gone: [lonely]
`)
	for _, c := range []struct {
		model  string
		served string
		tries  int // attempts that reached a provider before the one that answered
		code   string
		status int
	}{
		{"down", "claude-id", 2, "", 500},
		{"limited", "fast-id", 2, "", 429},
		{"wrongkey", "fast-id", 2, "", 401},
		{"broken", "fast-id", 2, "upstream_unreachable", 0},
		{"stuck", "fast-id", 2, "upstream_timeout", 0},
		{"moved", "fast-id", 2, "", 302},
		{"dead", "fast-id", 0, "", 0},
	} {
		a := g.chat(request(c.model, ""))
		if a.status != http.StatusOK || a.header.Get("x-gateway-model-id") != c.served || a.header.Get("x-gateway-attempted-fallbacks") != "1" {
			t.Errorf("%s: %d by %q after %s fallbacks: %s", c.model, a.status, a.header.Get("x-gateway-model-id"), a.header.Get("x-gateway-attempted-fallbacks"), a.body)
			continue
		}
		if !strings.Contains(a.body, `"model":"`+c.model+`"`) {
			t.Errorf("%s: the answer names another model: %s", c.model, a.body)
		}
		rows := g.spend(a.header.Get("x-gateway-request-id"))
		if len(rows) != c.tries+1 {
			t.Errorf("%s: %d usage events, want %d: %+v", c.model, len(rows), c.tries+1, rows)
			continue
		}
		for _, e := range rows[:c.tries] {
			if e.Status != "failed" || e.HTTPStatus != c.status || c.code != "" && e.ErrorCode != c.code {
				t.Errorf("%s: event of a failed attempt: %+v", c.model, e)
			}
		}
		if last := rows[c.tries]; last.Status != "success" || last.ModelID != c.served || last.Source != "provider" {
			t.Errorf("%s: event of the answer: %+v", c.model, last)
		}
	}

	a := g.chat(request("lonely", ""))
	refused(t, "all failed", a, 503, "all_deployments_failed")
	if a.header.Get("retry-after") == "" {
		t.Error("all failed: no retry-after")
	}
	attempts, _ := a.error(t).Error.Details["attempts"].([]any)
	if len(attempts) != 2 || fmt.Sprint(attempts[0]) != "map[code:upstream_error deployment_id:lonely-id status:503]" {
		t.Errorf("all failed: attempts %v", attempts)
	}
	refused(t, "fallback failed as well", g.chat(request("gone", "")), 503, "all_deployments_failed")
	refused(t, "wrong key", g.chat(request("lonelykey", `,"num_retries":0`)), 503, "upstream_auth_error")
	refused(t, "stuck", g.chat(request("lonelystuck", `,"num_retries":0,"timeout":0.3`)), 504, "upstream_timeout")
	refused(t, "no connection", g.chat(request("dead", `,"num_retries":0,"disable_fallbacks":true`)), 503, "all_deployments_failed")
	refused(t, "html", g.chat(request("page", "")), 502, "upstream_invalid_response")
	refused(t, "empty", g.chat(request("nothing", "")), 502, "upstream_invalid_response")
	bad := g.chat(request("bad", ""))
	refused(t, "the caller's fault", bad, 400, "")
	if e := g.one(bad); e.Attempt != 1 || e.Status != "failed" || string(e.Spend) != "0" {
		t.Errorf("the caller's fault: event %+v", e)
	}
	t.Run("translated attempt", func(t *testing.T) {
		var sent bool
		for _, r := range p.Requests() {
			if strings.HasSuffix(r.Path, "/v1/messages") {
				sent = true
				if r.Headers.Get("Authorization") != "" || r.Headers.Get("X-Api-Key") != "provider-key-claude" || r.Headers.Get("Anthropic-Version") == "" {
					t.Errorf("headers of the rewritten attempt: %v", r.Headers)
				}
				if int64(r.BodyBytes) == 0 || r.Headers.Get("Content-Length") == "" && r.Headers.Get("Transfer-Encoding") != "" {
					t.Errorf("length of the rewritten attempt: %d, %v", r.BodyBytes, r.Headers)
				}
			}
		}
		if !sent {
			t.Error("no attempt went to the anthropic deployment")
		}
	})
}

func TestCooldown(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "down=openai/fail-500", "fast=openai/fake-gpt")+`
router_settings:
  num_retries: 0
  cooldown_time: 60
  retry_after: 0.01
  fallbacks: [{down: [fast]}]
`)
	for i := range 5 {
		if a := g.chat(request("down", "")); a.status != http.StatusOK {
			t.Fatalf("request %d: %d %s", i, a.status, a.body)
		}
	}
	if n := p.Counters().ByModel["fail-500"]; n != 1 {
		t.Errorf("the failing deployment was asked %d times, want once: it should rest", n)
	}
}

func TestRetryOnContent(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "filtered=openai/filter", "cut=openai/filter-200", "event=openai/error-first", "later=openai/error-10th+words-30", "clean=openai/fake-gpt")+`
router_settings:
  num_retries: 0
  retry_after: 0.01
  cooldown_time: 0
  retry_on: [5xx, timeout, content_filter, stream_error]
  fallbacks: [{filtered: [clean]}, {cut: [clean]}, {event: [clean]}, {later: [clean]}]
`)
	for _, c := range []struct{ model, more string }{{"filtered", ""}, {"cut", ""}, {"event", `,"stream":true`}} {
		a := g.chat(request(c.model, c.more))
		if a.status != http.StatusOK || a.header.Get("x-gateway-model-id") != "clean-id" {
			t.Errorf("%s: %d by %s: %s", c.model, a.status, a.header.Get("x-gateway-model-id"), a.body)
		}
		if c.more != "" && (strings.Contains(a.body, `"error"`) || !strings.HasSuffix(a.body, "data: [DONE]\n\n")) {
			t.Errorf("%s: %s", c.model, a.body)
		}
	}
	a := g.chat(request("later", `,"stream":true`))
	if a.header.Get("x-gateway-model-id") != "later-id" || strings.Count(a.body, `"error"`) != 1 || strings.Contains(a.body, "[DONE]") {
		t.Errorf("an error in the middle must end the stream: %s", a.body)
	}
	if e := g.one(a); e.Status != "failed" || e.Source != "estimated" || e.CompletionTokens == 0 {
		t.Errorf("an error in the middle: event %+v", e)
	}
}
