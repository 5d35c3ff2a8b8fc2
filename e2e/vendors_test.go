package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// vendors configures models of Mistral and Cohere, which have languages of their own.
func vendors(p *upstream, pairs ...string) string {
	var b strings.Builder
	b.WriteString("model_list:\n")
	for _, pair := range pairs {
		name, model, _ := strings.Cut(pair, "=")
		base := "/v1"
		switch vendor, _, _ := strings.Cut(model, "/"); vendor {
		case "mistral":
			base = mistralPath + "v1"
		case "cohere":
			base = ""
		}
		fmt.Fprintf(&b, "  - model_name: %s\n    gateway_params: {model: %q, api_base: %s%s, api_key: provider-key-%s, input_cost_per_token: 0.000001, output_cost_per_token: 0.00001}\n    model_info: {id: %s-id}\n",
			name, model, p.url, base, name, name)
	}
	return b.String()
}

// The SDKs do all that applications do with them, to providers that speak languages of their own.
func TestVendorsBySDK(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, vendors(p, "mistral=mistral/fake-mistral", "command=cohere/fake-command"))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for script, checks := range map[string]int{"openai_sdk.py": 16, "anthropic_sdk.py": 24} {
		cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/"+script)
		cmd.Env = append(os.Environ(), "BASE_URL="+g.url+"/v1", "GATEWAY_URL="+g.url, "API_KEY="+adminKey, "MODELS=mistral command")
		out, err := cmd.CombinedOutput()
		if n := strings.Count("\n"+string(out), "\nok "); err != nil || n != checks {
			t.Errorf("%s: %d checks are well, want %d: %v\n%s", script, n, checks, err, out)
		}
	}
	paths := map[string]int{}
	for _, r := range p.Requests() {
		paths[r.Path]++
		if strings.Contains(r.Body, adminKey) || strings.Contains(strings.Join(r.Headers.Values("Authorization"), ""), adminKey) {
			t.Errorf("the provider got the caller's key: %s", r.Path)
		}
	}
	if paths["/mistral/v1/chat/completions"] == 0 || paths["/v2/chat"] == 0 || len(paths) != 2 {
		t.Errorf("the providers were asked at %v", paths)
	}
}

// toolHistory is a round with two calls, with ids and reasoning of several providers in it.
const toolHistory = `{"model":"%s","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Weather?"},
	{"role":"assistant","content":"Let me see.","reasoning_content":"I need the tool.","thinking_blocks":[{"type":"thinking","thinking":"I need the tool.","signature":"c2ln"}],
	"tool_calls":[{"id":"call_0123456789abcdef","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}},
		{"id":"D681PevKs","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},
	{"role":"tool","tool_call_id":"call_0123456789abcdef","content":"{\"degrees\":20}"},{"role":"tool","tool_call_id":"D681PevKs","content":"snow"}%s],
	"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]%s}`

// A request with calls in its history goes on to a provider of another language, whichever that is.
func TestFallbackBetweenVendorsWithTools(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, vendors(p, "mistral=mistral/fake-mistral", "command=cohere/fake-command", "gpt=openai/gpt-4o", "claude=anthropic/claude-sonnet-4-5",
		"mistral-down=mistral/fail-500", "command-down=cohere/fail-429", "gpt-down=openai/fail-503", "claude-down=anthropic/fail-529", "command-broken=cohere/error-1", "chain=mistral/fail-500")+`
router_settings:
  num_retries: 0
  cooldown_time: 0
  fallbacks:
    - mistral-down: [claude]
    - command-down: [gpt]
    - gpt-down: [mistral]
    - claude-down: [command]
    - command-broken: [mistral]
    - chain: [command-down, gpt-down, claude-down]
`)
	for _, c := range []struct{ model, served, more string }{
		{"mistral-down", "claude-id", ""},
		{"command-down", "gpt-id", ""},
		{"gpt-down", "mistral-id", ""},
		{"claude-down", "command-id", ""},
		{"gpt-down", "mistral-id", `,{"role":"user","content":"And then?"}`},
		{"claude-down", "command-id", `,{"role":"user","content":"And then?"}`},
	} {
		for _, stream := range []string{"", `,"stream":true`} {
			a := g.chat(fmt.Sprintf(toolHistory, c.model, c.more, stream))
			if got := a.header.Get("x-gateway-model-id"); a.status != http.StatusOK || got != c.served {
				t.Errorf("%s%s: %d by %q: %s", c.model, stream, a.status, got, a.body)
			}
			answered := strings.Contains(a.body, "The tool answered: ") || strings.Contains(a.body, `"content":"answered: "`)
			if answered != (c.more == "") && !strings.Contains(a.body, `"finish_reason":"tool_calls"`) {
				t.Errorf("%s%s: the provider has not seen the results: %s", c.model, stream, a.body)
			}
		}
	}
	if a := g.chat(fmt.Sprintf(toolHistory, "chain", "", "")); a.status != http.StatusServiceUnavailable && a.status != http.StatusBadGateway {
		t.Errorf("all of the chain fail, and the caller gets %d %s", a.status, a.body)
	}
}

// What is no chat passes: to Mistral's endpoints, and to Cohere's own for rankings and compatible ones for the rest.
func TestVendorsBeyondChats(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, vendors(p, "mistral-embed=mistral/fake-embed", "embed=cohere/fake-embed", "rank=cohere/fake-rank"))
	post := func(path, body string) *answer {
		return g.do(http.MethodPost, path, strings.NewReader(body))
	}
	for _, c := range []struct{ path, body, at, want string }{
		{"/v1/embeddings", `{"model":"mistral-embed","input":["a","b"],"dimensions":4,"user":"u"}`, "/mistral/v1/embeddings", `"object":"list"`},
		{"/v1/embeddings", `{"model":"embed","input":"a","encoding_format":"float"}`, "/compatibility/v1/embeddings", `"object":"list"`},
		{"/v1/rerank", `{"model":"rank","query":"a b","documents":["c","a b"],"top_n":1}`, "/v2/rerank", `"index":1`},
		{"/v2/rerank", `{"model":"rank","query":"a b","documents":["c","a b"]}`, "/v2/rerank", `"index":1`},
	} {
		p.Reset()
		a := post(c.path, c.body)
		if a.status != http.StatusOK || !strings.Contains(a.body, c.want) {
			t.Errorf("%s %s: %d %s", c.path, c.body, a.status, a.body)
			continue
		}
		if r := p.Requests(); len(r) != 1 || r[0].Path != c.at {
			t.Errorf("%s %s: the provider was asked %d times, at %s", c.path, c.body, len(r), r[0].Path)
		} else if strings.Contains(r[0].Body, `"dimensions"`) || strings.Contains(r[0].Body, `"user"`) {
			t.Errorf("the provider got what it rejects: %s", r[0].Body)
		}
	}
	if a := post("/v1/moderations", `{"model":"embed","input":"a"}`); a.status != http.StatusBadRequest || !strings.Contains(a.body, "No deployment of this model serves /v1/moderations") {
		t.Errorf("Cohere has no moderations: %d %s", a.status, a.body)
	}
}

// A request for a provider of OpenAI's language has that provider's parameters, and goes to another deployment if one of them cannot have it.
func TestProvidersOfOneLanguage(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	list := vendors(p, "deep=deepseek/fake-gpt", "fast=groq/fake-gpt", "mixed=groq/fake-gpt")
	g := startGateway(t, list+strings.ReplaceAll(strings.TrimPrefix(vendors(p, "mixed=openrouter/fake-gpt"), "model_list:\n"), "mixed-id", "other-id"))
	const hello = `"messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":"hello"}]`
	for _, c := range []struct {
		body, sent string // what the provider gets; empty if it gets nothing
		served     string
	}{
		{`{"model":"deep",` + hello + `,"max_completion_tokens":9}`, `{"model":"fake-gpt","max_tokens":9,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hello"}]}`, "deep-id"},
		{`{"model":"fast",` + hello + `,"logprobs":true}`, ``, ``},
		{`{"model":"fast",` + hello + `,"logprobs":true,"drop_params":true}`, `{"model":"fake-gpt",` + hello + `}`, "fast-id"},
		{`{"model":"fast",` + hello + `,"n":1}`, `{"model":"fake-gpt",` + hello + `}`, "fast-id"},
		{`{"model":"mixed",` + hello + `,"logprobs":true}`, `{"model":"fake-gpt",` + hello + `,"logprobs":true}`, "other-id"},
	} {
		p.Reset()
		a := g.chat(c.body)
		requests := p.Requests()
		if c.sent == "" {
			if a.status != http.StatusBadRequest || !strings.Contains(a.body, `"param":"logprobs"`) || len(requests) > 0 {
				t.Errorf("%s: %d %s after %d requests", c.body, a.status, a.body, len(requests))
			}
			continue
		}
		if got := a.header.Get("x-gateway-model-id"); a.status != http.StatusOK || got != c.served || len(requests) != 1 {
			t.Errorf("%s: %d by %q after %d requests: %s", c.body, a.status, got, len(requests), a.body)
		} else if requests[0].Body != c.sent {
			t.Errorf("%s: the provider got %s", c.body, requests[0].Body)
		}
	}
}
