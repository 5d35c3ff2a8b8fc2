package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The SDKs of OpenAI and Anthropic use models of Gemini, with tools, reasoning, embeddings and fallbacks. The
// provider gets its own signatures back, and the documented substitute for calls of others only.
func TestGeminiBySDK(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p,
		"gemini-3=gemini/gemini-3-flash+tools-2", "gemini-2=gemini/gemini-2.5-flash+tools-2", "claude=anthropic/fake-claude",
		"gemini-3-context=gemini/gemini-3-flash+context", "gemini-3-limited=gemini/gemini-3-flash+limit-1", "gemini-3-key=gemini/gemini-3-flash+401",
		"openai-then-gemini-3=openai/fail-500", "gemini-3-then-claude=gemini/gemini-3-flash+fail-503",
	)+"  - {model_name: embedding-of-both, gateway_params: {model: gemini/gemini-embedding-001, api_base: \""+p.url+"/v1\", api_key: provider-key-gemini-e}}\n"+
		"  - {model_name: embedding-of-both, gateway_params: {model: openai/text-embedding-3-small, api_base: \""+p.url+"/v1\", api_key: k}}\n"+
		"router_settings: {num_retries: 0, fallbacks: [{openai-then-gemini-3: [gemini-3]}, {gemini-3-then-claude: [claude]}]}\n")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/gemini_sdk.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count("\n"+string(out), "\nok ") != 24 {
		t.Errorf("%v\n%s", err, out)
	}
	substitutes, signed := 0, 0
	for _, r := range p.Requests() {
		if !strings.HasPrefix(r.Model, "gemini-") {
			continue
		}
		if key := r.Headers.Get("x-goog-api-key"); !strings.HasPrefix(key, "provider-key-gemini-") || r.Headers.Get("authorization") != "" {
			t.Errorf("%s was sent the key %q and the authorization %q", r.Path, key, r.Headers.Get("authorization"))
		}
		if strings.Contains(r.Body, "skip_thought_signature_validator") {
			substitutes++
			if !strings.Contains(r.Body, "call_openai") {
				t.Errorf("the signature of Gemini's own call is lost: %s", r.Body)
			}
		}
		signed += strings.Count(r.Body, `"thoughtSignature"`)
	}
	if substitutes != 2 || signed < 8 {
		t.Errorf("%d signatures were sent, %d of them in requests with a substitute", signed, substitutes)
	}
}

// What goes wrong with a stream of Gemini's reaches the caller as an error or not at all, and is charged for what
// was reported, or else for what came.
func TestGeminiFaults(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p,
		"gemini-odd=gemini/gemini-3-flash+dribble+crlf+comments+words-20", "gemini-nousage=gemini/gemini-3-flash+nousage+words-20", "gemini-bad=gemini/gemini-3-flash+badusage-negative+words-20",
		"gemini-cut=gemini/gemini-3-flash+cut-5+words-20+pace-20ms", "gemini-error=gemini/gemini-3-flash+error-3rd+words-20", "gemini-garbage=gemini/gemini-3-flash+garbage+words-20",
		"gemini-first=gemini/gemini-3-flash+error-first", "gemini-blocked=gemini/gemini-3-flash+filter-200", "gemini-html=gemini/gemini-3-flash+html-200", "claude=anthropic/fake-claude",
	)+"router_settings: {num_retries: 0, retry_on: [5xx, 429, timeout, connection, stream_error, content_filter], fallbacks: [{gemini-first: [claude]}, {gemini-blocked: [claude]}, {gemini-html: [claude]}]}\n")
	for model, want := range map[string]spendLog{
		"gemini-odd":     {Status: "success", Source: "provider", CompletionTokens: 20},
		"gemini-nousage": {Status: "success", Source: "estimated", CompletionTokens: 20},
		"gemini-bad":     {Status: "success", Source: "estimated", CompletionTokens: 20, Capped: true},
		"gemini-error":   {Status: "failed", Source: "provider", CompletionTokens: 2, ErrorCode: "upstream_overloaded"},
		"gemini-garbage": {Status: "failed", Source: "provider", CompletionTokens: 1, ErrorCode: "upstream_invalid_response"},
	} {
		a := g.chat(request(model, `,"stream":true`))
		whole := strings.HasSuffix(a.body, "data: [DONE]\n\n") && !strings.Contains(a.body, `"error"`)
		e := g.one(a)
		got := spendLog{Status: e.Status, Source: e.Source, CompletionTokens: e.CompletionTokens, ErrorCode: e.ErrorCode, Capped: e.Capped}
		if want.Status == "success" {
			got.ErrorCode = ""
		}
		if diff := cmp.Diff(want, got); diff != "" || whole != (want.Status == "success") {
			t.Errorf("%s: (-want +got) %s\n%s", model, diff, a.body)
		}
	}
	cut := g.chat(request("gemini-cut", `,"stream":true`))
	g.eventually(cut.header.Get("x-gateway-request-id"), func(e spendLog) bool {
		return e.Status == "failed" && e.ErrorCode == "upstream_cut" && e.Source == "provider" && e.CompletionTokens > 0 && e.CompletionTokens <= 5
	})
	for _, c := range []struct{ model, more string }{{"gemini-first", `,"stream":true`}, {"gemini-blocked", ""}, {"gemini-html", ""}} {
		a := g.chat(request(c.model, c.more))
		if a.status != 200 || a.header.Get("x-gateway-model-id") != "claude-id" || strings.Contains(a.body, `"error"`) {
			t.Errorf("%s: %d from %s: %s", c.model, a.status, a.header.Get("x-gateway-model-id"), a.body)
		}
	}
}
