package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// rewrittenModels are deployments of providers without chats. Text after a blank is more of their parameters.
func rewrittenModels(p *upstream, pairs ...string) string {
	var b strings.Builder
	b.WriteString("model_list:\n")
	for _, pair := range pairs {
		name, model, _ := strings.Cut(pair, "=")
		model, more, _ := strings.Cut(model, " ")
		provider, _, _ := strings.Cut(model, "/")
		base := map[string]string{"voyage": voyagePath + "v1", "jina_ai": jinaPath + "v1", "elevenlabs": "", "openai": "/v1", "deepgram": "/v1"}[provider]
		fmt.Fprintf(&b, "  - {model_name: %s, gateway_params: {model: %q, api_base: %q, api_key: provider-key-%s%s}, model_info: {id: %s-id}}\n", name, model, p.url+base, name, more, name)
	}
	return b.String()
}

// The SDK of OpenAI does with providers without chats what applications do, and each request costs what the provider
// reports in its own unit.
func TestRewrittenBySDK(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, rewrittenModels(p, "voyage=voyage/voyage-3.5", "voyage-rank=voyage/rerank-2.5", "jina=jina_ai/jina-embeddings-v3 , input_cost_per_token: 0.000001",
		"jina-rank=jina_ai/jina-reranker-v2-base-multilingual", "eleven=elevenlabs/eleven_multilingual_v2", "scribe=elevenlabs/scribe_v1",
		"aura=deepgram/aura-2 , input_cost_per_character: 0.00003", "nova=deepgram/nova-3"))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/rewritten_sdk.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count("\n"+string(out), "\nok ") != 18 {
		t.Errorf("%v\n%s", err, out)
	}
	seen := map[string]int{}
	for _, r := range g.spend("") {
		if r.Status == "success" {
			seen[r.Group+" "+r.Source+" "+string(r.Spend)]++
		}
	}
	for want, n := range map[string]int{
		"voyage provider 3.6e-7":       1, // 6 tokens
		"voyage provider 1.2e-7":       1,
		"jina provider 0.000006":       1,
		"jina provider 0.000002":       1,
		"voyage-rank provider 4.5e-7":  1, // 9 tokens
		"jina-rank provider 4.5e-7":    1,
		"eleven provider 0.00216":      2, // 12 characters
		"aura provider 0.00036":        2,
		"scribe provider 0.0001223833": 7, // 2.003 seconds
		"nova provider 0.00014355501":  7,
	} {
		if seen[want] != n {
			t.Errorf("%d rows are %q, want %d; there are %v", seen[want], want, n, seen)
		}
	}
	keys := map[string]string{"/v1/text-to-speech": "eleven", "/v1/speech-to-text": "scribe", "/v1/speak": "aura", "/v1/listen": "nova", "/voyage/v1/embeddings": "voyage", "/jina/v1/rerank": "jina-rank"}
	for _, r := range p.Requests() {
		got := r.Headers.Get("authorization") + r.Headers.Get("xi-api-key")
		for path, name := range keys {
			if strings.HasPrefix(r.Path, path) && !strings.HasSuffix(got, "provider-key-"+name) {
				t.Errorf("%s was sent the key %q", r.Path, got)
			}
		}
		if strings.Contains(got, adminKey) {
			t.Errorf("%s was sent the caller's key", r.Path)
		}
	}
}

// Sound of 20 MiB reaches providers of three forms, one after the other, byte for byte: as a file, as a form, and as a form
// with other names.
func TestLongSoundFallsBack(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, rewrittenModels(p, "down=deepgram/fail-500", "scribe-down=elevenlabs/fail-503", "whisper-down=openai/fail-429", "nova=deepgram/nova-3")+`
router_settings:
  num_retries: 0
  cooldown_time: 0
  fallbacks: [{down: [scribe-down, whisper-down, nova]}]
`)
	const size = 20 << 20
	for _, declared := range []bool{true, false} {
		p.Reset()
		var r io.Reader = strings.NewReader(longForm("down", size, "file"))
		if !declared {
			r = io.MultiReader(r) // net/http does not see its length
		}
		a := g.do(http.MethodPost, "/v1/audio/transcriptions", r, with("Content-Type", "multipart/form-data; boundary=------------------------d74496d66958873e"))
		if a.status != http.StatusOK || !strings.Contains(a.body, fmt.Sprintf("a file of %d bytes", size)) || a.header.Get("x-gateway-model-id") != "nova-id" {
			t.Fatalf("declared: %v: %d %v %.300s", declared, a.status, a.header, a.body)
		}
		requests := p.Requests()
		if len(requests) != 4 {
			t.Fatalf("the providers saw %d requests", len(requests))
		}
		for i, want := range []struct {
			path, media string
			more        int // bytes besides the file
		}{
			{"/v1/listen", "audio/mpeg", 0}, {"/v1/speech-to-text", "multipart/form-data", 1}, {"/v1/audio/transcriptions", "multipart/form-data", 1}, {"/v1/listen", "audio/mpeg", 0},
		} {
			q := requests[i]
			if q.Path != want.path || !strings.HasPrefix(q.Headers.Get("content-type"), want.media) || (q.BodyBytes > size) != (want.more > 0) || q.BodyBytes < size {
				t.Errorf("request %d: %s %s, %d bytes", i, q.Path, q.Headers.Get("content-type"), q.BodyBytes)
			}
		}
		if requests[0].SHA256 != requests[3].SHA256 {
			t.Error("the file is another one at the last provider")
		}
	}
	g.until("nothing is in flight", func() bool { return g.inFlight() == "0" })
}

// Errors of providers without chats go the right way: to the caller what the caller can correct, and on to a fallback the rest. Sound
// that breaks off does not look complete.
func TestRewrittenErrors(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	const price = " , input_cost_per_character: 0.00001"
	g := startGateway(t, rewrittenModels(p, "eleven=elevenlabs/eleven_new"+price, "eleven-down=elevenlabs/fail-401"+price, "aura-down=deepgram/aura-2-thalia-en+fail-429"+price, "cut=elevenlabs/cut-3+pace-30ms"+price)+
		"router_settings: {num_retries: 0, cooldown_time: 0, fallbacks: [{eleven-down: [eleven]}, {aura-down: [eleven]}]}\n")
	speak := func(model, voice string) *answer {
		return g.do(http.MethodPost, "/v1/audio/speech", strings.NewReader(`{"model":"`+model+`","input":"`+strings.Repeat("x", 100)+`","voice":"`+voice+`"}`))
	}
	if a := speak("eleven", "unknown"); a.status != http.StatusNotFound || !strings.Contains(a.body, `"code":"voice_not_found"`) || !strings.Contains(a.body, `"param":"voice"`) {
		t.Errorf("an unknown voice: %d %s", a.status, a.body)
	}
	for _, model := range []string{"eleven-down", "aura-down"} {
		if a := speak(model, "thalia"); a.status != http.StatusOK || a.header.Get("x-gateway-model-id") != "eleven-id" {
			t.Errorf("%s: %d %v %.200s", model, a.status, a.header, a.body)
		}
	}
	a := speak("cut", "thalia")
	if a.status != http.StatusOK || !strings.Contains(a.body, "EOF") && !strings.Contains(a.body, "reset") || strings.Contains(a.body, `"error"`) {
		t.Errorf("%d, %d bytes that end with %q", a.status, len(a.body), a.body[max(0, len(a.body)-60):])
	}
	g.eventually(a.header.Get("x-gateway-request-id"), func(e spendLog) bool {
		return e.Status == "failed" && e.ErrorCode == "upstream_cut" && e.Source == "provider" && string(e.Spend) == "0.001"
	})
	if a := g.do(http.MethodPost, "/v1/chat/completions", strings.NewReader(request("eleven", ""))); a.status != http.StatusBadRequest || !strings.Contains(a.body, "No deployment of this model serves /v1/chat/completions") {
		t.Errorf("a chat: %d %s", a.status, a.body)
	}
}
