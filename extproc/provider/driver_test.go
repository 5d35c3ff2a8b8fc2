package provider_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

func TestProvidersAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range provider.Providers() {
		if seen[p.Name] || p.Name == "" || p.Driver == nil {
			t.Errorf("incomplete or double row %+v", p)
			continue
		}
		if _, ok := p.Driver.Serves(driver.Target{}, driver.Chat); ok != (codec(p) != nil) || !ok && !rewrites(p) {
			t.Errorf("%s serves chats: %v", p.Name, ok)
		}
		seen[p.Name] = true
		if (p.BaseURL == "" && p.Base == nil) != p.NeedsBase {
			t.Errorf("%s: base address %q, needs one: %v", p.Name, p.BaseURL, p.NeedsBase)
		}
		if u, err := url.Parse(p.BaseURL); p.BaseURL != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
			t.Errorf("%s: base address %q", p.Name, p.BaseURL)
		}
	}
	if _, ok := byName("nobody"); ok {
		t.Error("there is a provider called nobody")
	}
}

// rewrites reports whether a provider has a language of its own for another endpoint than chats.
func rewrites(p provider.Provider) bool {
	_, ok := p.Driver.(driver.Rewriter)
	return ok && slices.ContainsFunc(rewrittenEndpoints(), func(e rewrittenEndpoint) bool {
		_, ok := p.Driver.Serves(driver.Target{}, e.endpoint)
		return ok
	})
}

// rewriters returns the drivers that rewrite requests.
func rewriters() []driver.Driver {
	var out []driver.Driver
	for _, p := range provider.Providers() {
		if rewrites(p) {
			out = append(out, p.Driver)
		}
	}
	return out
}

// chatting returns the providers that serve chats.
func chatting() []provider.Provider {
	return slices.DeleteFunc(provider.Providers(), func(p provider.Provider) bool { return codec(p) == nil })
}

// codec returns the translator of a provider's language of chats.
func codec(p provider.Provider) driver.Codec { return codecFor(p, driver.Target{}) }

// codecFor returns the translator of the language in which a target takes chats.
func codecFor(p provider.Provider, t driver.Target) driver.Codec {
	language, _ := p.Driver.Serves(t, driver.Chat)
	return p.Driver.Codec(language)
}

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		provider, base string
		endpoint       driver.Endpoint
		want           string // path, or the kind of the error
	}{
		{"openai", "/v1", driver.Chat, "/v1/chat/completions"},
		{"openai", "/v1/", driver.Embeddings, "/v1/embeddings"},
		{"openai", "/v1/chat/completions", driver.Chat, "/v1/chat/completions"},
		{"openai", "/v1", driver.Messages, "/v1/chat/completions"},
		{"openai", "/v1/chat/completions", driver.Embeddings, "/v1/embeddings"},
		{"openai", "/v1", driver.CountTokens, "unsupported"},
		{"perplexity", "", driver.Embeddings, "unsupported"},
		{"openai", "/v1", "/../admin", "unsupported"},
		{"deepseek", "", driver.Chat, "/chat/completions"},
		{"groq", "/openai/v1", driver.Transcriptions, "/openai/v1/audio/transcriptions"},
		{"ollama", "", driver.Chat, "/v1/chat/completions"},
		{"ollama", "/v1", driver.Chat, "/v1/chat/completions"},
		{"hosted_vllm", "/a/", driver.Rerank, "/a/v1/rerank"},
		{"hosted_vllm", "/a/v1/chat/completions", driver.Chat, "/a/v1/chat/completions"},
		{"azure", "", driver.Embeddings, "/openai/v1/embeddings"},
		{"azure", "/", driver.ImageEdits, "/openai/v1/images/edits"},
		{"azure", "/openai/", driver.Responses, "/openai/v1/responses"},
		{"azure", "/api/projects/p/openai/v1/chat/completions", driver.Messages, "/api/projects/p/openai/v1/chat/completions"},
		{"azure", "/openai/deployments/d/chat/completions", driver.Speech, "/openai/deployments/d/audio/speech?api-version=2024-10-21"},
		{"azure", "/openai/deployments/d", driver.Responses, "/openai/deployments/d/chat/completions?api-version=2024-10-21"},
		{"azure", "", driver.Moderations, "unsupported"},
		{"azure", "", driver.InputTokens, "unsupported"},
		{"azure", "", driver.CountTokens, "unsupported"},
		{"azure_ai", "/openai/v1", driver.Images, "/openai/v1/images/generations"},
		{"azure_ai", "/openai/v1", driver.Rerank, "/providers/cohere/v2/rerank"},
		{"azure_ai", "/team/providers/cohere/v2/rerank", driver.Rerank, "/team/providers/cohere/v2/rerank"},
		{"azure_ai", "/anthropic", driver.Messages, "/anthropic/v1/messages"},
		{"azure_ai", "/anthropic", driver.CountTokens, "/anthropic/v1/messages/count_tokens"},
		{"azure_ai", "/anthropic", driver.Embeddings, "unsupported"},
		{"azure_ai", "/v1", driver.Rerank, "/v2/rerank"},
		{"azure_ai", "", driver.Images, "unsupported"},
		{"azure_ai", "/openai/v1", driver.InputTokens, "unsupported"},
		{"vertex_ai", "", driver.Embeddings, "/v1/publishers/google/models/m:predict"},
		{"vertex_ai", "/v1beta1/publishers/google/models/x:generateContent", driver.Chat, "/v1beta1/publishers/google/models/m:generateContent"},
		{"vertex_ai", "", driver.Images, "/v1/publishers/google/models/m:generateContent"},
		{"vertex_ai", "", driver.Moderations, "unsupported"},
		{"gemini", "", driver.Images, "/v1beta/models/m:generateContent"},
		{"gemini", "", driver.ImageEdits, "/v1beta/models/m:generateContent"},
		{"gemini", "", driver.Translations, "/v1beta/models/m:generateContent"},
		{"gemini", "", driver.Chat, "/v1beta/models/m:generateContent"},
		{"gemini", "/v1/", driver.Messages, "/v1/models/m:generateContent"},
		{"gemini", "/proxy/v1alpha", driver.Responses, "/proxy/v1alpha/models/m:generateContent"},
		{"gemini", "/v1beta/models/other:generateContent", driver.Chat, "/v1beta/models/m:generateContent"},
		{"gemini", "/version", driver.Chat, "/version/v1beta/models/m:generateContent"},
		{"gemini", "", driver.CountTokens, "/v1beta/models/m:countTokens"},
		{"vertex_ai", "", driver.InputTokens, "/v1/publishers/google/models/m:countTokens"},
		{"anthropic", "", driver.Chat, "/v1/messages"},
		{"anthropic", "/v1/", driver.Messages, "/v1/messages"},
		{"anthropic", "/proxy/v1/messages", driver.Chat, "/proxy/v1/messages"},
		{"anthropic", "", driver.CountTokens, "/v1/messages/count_tokens"},
		{"anthropic", "", driver.Embeddings, "unsupported"},
		{"anthropic", "", "", "unsupported"},
	} {
		p, _ := byName(c.provider)
		call, err := p.Driver.Address(driver.Target{Model: "m", BasePath: c.base}, driver.Operation{Endpoint: c.endpoint})
		got := call.Path
		if err != nil {
			got = fault.KindOf(err).String()
		}
		if got != c.want {
			t.Errorf("%s %q %s: got %s, want %s", c.provider, c.base, c.endpoint, got, c.want)
		}
	}
}

func TestHeadersAreSecretAndCanBeReplaced(t *testing.T) {
	target := driver.Target{
		Model: "m", APIKey: vault.NewSecret("top-secret"),
		Headers: []driver.Header{{Name: "Anthropic-Version", Value: vault.NewSecret("2099-01-01")}, {Name: "x-extra", Value: vault.NewSecret("e")}},
	}
	for name, want := range map[string][]string{
		"openai":    {"authorization: Bearer top-secret", "Anthropic-Version: 2099-01-01", "x-extra: e"},
		"anthropic": {"x-api-key: top-secret", "Anthropic-Version: 2099-01-01", "x-extra: e"},
		"gemini":    {"x-goog-api-key: top-secret", "Anthropic-Version: 2099-01-01", "x-extra: e"},
	} {
		p, _ := byName(name)
		call, err := p.Driver.Address(target, driver.Operation{Endpoint: driver.Chat})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range call.Headers {
			got = append(got, h.Name+": "+h.Value.Reveal())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got) %s", name, diff)
		}
		if s := fmt.Sprintf("%v %+v %#v", call, target, call); strings.Contains(s, "top-secret") {
			t.Errorf("%s: the key is printed: %s", name, s)
		}
	}
}

func TestNoKeyNoHeader(t *testing.T) {
	for _, name := range []string{"ollama", "anthropic", "gemini"} {
		p, _ := byName(name)
		call, err := p.Driver.Address(driver.Target{Model: "m"}, driver.Operation{Endpoint: driver.Chat})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range call.Headers {
			if h.Name == "authorization" || h.Name == "x-api-key" || h.Name == "x-goog-api-key" {
				t.Errorf("%s: sends %s without a key", name, h.Name)
			}
		}
	}
}

func TestRetryAfter(t *testing.T) {
	const date = "Fri, 20 Nov 2026 10:00:00 GMT"
	for _, c := range []struct {
		ms, seconds, date string
		want              time.Duration
	}{
		{"", "", "", 0},
		{"", "7", "", 7 * time.Second},
		{"", "0.25", "", 250 * time.Millisecond},
		{"1500", "7", "", 1500 * time.Millisecond},
		{"soon", "7", "", 7 * time.Second},
		{"", "-7", "", 0},
		{"", "NaN", "", 0},
		{"", "1e300", "", time.Hour},
		{"", "Fri, 20 Nov 2026 10:00:30 GMT", date, 30 * time.Second},
		{"", "Fri, 20 Nov 2026 09:00:00 GMT", date, 0},
		{"", "Fri, 20 Nov 2026 10:00:30 GMT", "", 0},
		{"", "Fri, 20 Nov 2099 10:00:30 GMT", date, time.Hour},
	} {
		p, _ := byName("openai")
		f := p.Driver.Classify(429, func(name string) string {
			return map[string]string{"retry-after-ms": c.ms, "retry-after": c.seconds, "date": c.date}[name]
		}, nil)
		if f.RetryAfter != c.want {
			t.Errorf("%+v: got %v", c, f.RetryAfter)
		}
	}
}

func TestClassifySaysWhoIsAtFault(t *testing.T) {
	for _, c := range []struct {
		status     int
		body       string
		kind       fault.Kind
		retry      bool
		cool       bool
		callerSees int
	}{
		{301, ``, fault.Upstream, true, true, 502},
		{204, ``, fault.Upstream, true, true, 502},
		{400, `{"error":"a text"}`, fault.Malformed, false, false, 400},
		{400, `{"message":"top"}`, fault.Malformed, false, false, 400},
		{400, `{"error":{"message":"Incorrect API key provided: xai-abcdefgh"}}`, fault.Unavailable, true, true, 503},
		{400, `{"error":{"code":"billing_hard_limit_reached"}}`, fault.Unavailable, true, true, 503},
		{401, `{}`, fault.Unavailable, true, true, 503},
		{402, `{}`, fault.Unavailable, true, true, 503},
		{403, `{}`, fault.Unavailable, true, true, 503},
		{404, `{"error":{"message":"no such model","code":"model_not_found"}}`, fault.NotFound, false, false, 404},
		{408, ``, fault.Timeout, true, true, 504},
		{409, ``, fault.Upstream, true, false, 502},
		{413, ``, fault.TooLarge, false, false, 413},
		{418, ``, fault.Malformed, false, false, 418},
		{422, `{"detail":[{"msg":"x"}]}`, fault.Malformed, false, false, 422},
		{429, ``, fault.Upstream, true, true, 502},
		{500, `<html>`, fault.Upstream, true, true, 502},
		{503, ``, fault.Upstream, true, true, 502},
		{504, ``, fault.Timeout, true, true, 504},
		{529, ``, fault.Upstream, true, true, 502},
		{599, ``, fault.Upstream, true, true, 502},
		{0, ``, fault.Upstream, true, true, 502},
	} {
		for _, p := range provider.Providers()[:2] {
			f := p.Driver.Classify(c.status, nil, []byte(c.body))
			if f.Kind != c.kind || f.Retryable != c.retry || f.CoolDown != c.cool || f.Fault().HTTPStatus() != c.callerSees {
				t.Errorf("%s %d %s: %+v, the caller sees %d", p.Name, c.status, c.body, f, f.Fault().HTTPStatus())
			}
			if strings.Contains(f.Error()+f.Fault().Message(), "xai-") {
				t.Errorf("%s %d: leaks a key: %v", p.Name, c.status, f)
			}
		}
	}
}

func TestProvidersTextIsMadePublic(t *testing.T) {
	for in, want := range map[string]string{
		`bad value`:                         "bad value",
		`key 'sk-proj-12345678' is bad`:     "key [redacted] is bad",
		`sent Bearer abcdef`:                "sent Bearer [redacted]",
		`risk-free task-force disk_1 is ok`: "risk-free task-force disk_1 is ok",
		"two\\nlines\\u0000":                "two lines",
		`<html><body>/srv/app</body>`:       "The provider refused the request with status 400 and did not say why.",
		strings.Repeat("é", 2000):           strings.Repeat("é", 500) + "…",
	} {
		p, _ := byName("openai")
		f := p.Driver.Classify(400, nil, []byte(`{"error":{"message":"`+in+`"}}`))
		if f.Message != want {
			t.Errorf("%q: got %q", in, f.Message)
		}
	}
}

func TestStreamsIgnoreHarmlessErrors(t *testing.T) {
	for name, in := range map[string][]string{
		"openai":    {``, `  `, `{"choices":[]}`, `{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":null},"finish_reason":"stop"}]}`, `[DONE]`, `[DONE]`, `garbage`},
		"anthropic": {``, `{"type":"ping"}`, `{"type":"new_kind"}`, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`, `garbage`},
	} {
		p, _ := byName(name)
		s := codec(p).Stream()
		var got wire.Choice
		for _, data := range in {
			chunks, err := s.Event(nil, "", []byte(data))
			if err != nil {
				t.Errorf("%s: %q: %v", name, data, err)
			}
			for i := range chunks {
				join(&got, &chunks[i])
			}
		}
		if got.Text != "a" || got.Finish != wire.FinishStop || !s.Complete() {
			t.Errorf("%s: got %+v", name, got)
		}
		if u := s.Usage(); u.Known() || u.Bad {
			t.Errorf("%s: usage out of nothing: %+v", name, u)
		}
	}
}

func TestBrokenUTF8CostsNoAnswer(t *testing.T) {
	p, _ := byName("openai")
	reply, err := codec(p).Decode([]byte("{\"choices\":[{\"message\":{\"content\":\"a\xffb\"}}]}"))
	if err != nil || reply.Choices[0].Text != "a\uFFFDb" {
		t.Errorf("got %+v, %v", reply, err)
	}
}
