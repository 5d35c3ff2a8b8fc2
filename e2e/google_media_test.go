package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// googleMedia is a fake of the Gemini API and of Vertex AI that draws, speaks, hears and counts. mu guards calls.
type googleMedia struct {
	url   string
	mu    sync.Mutex
	calls []judgedCall
}

func newGoogleMedia(t *testing.T) *googleMedia {
	t.Helper()
	f := &googleMedia{}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	f.url = srv.URL
	return f
}

// googleBlob is data within a part.
type googleBlob struct {
	Type string `json:"mimeType"`
	Data []byte `json:"data"`
}

// googleAsk is what the fake reads of a request.
type googleAsk struct {
	Contents []struct {
		Parts []struct {
			Text   string     `json:"text"`
			Inline googleBlob `json:"inlineData"`
		} `json:"parts"`
	} `json:"contents"`
	Generation struct {
		Modalities []string `json:"responseModalities"`
	} `json:"generationConfig"`
	Instances []struct {
		Text string `json:"prompt"`
	} `json:"instances"`
	Parameters struct {
		Count int `json:"sampleCount"`
	} `json:"parameters"`
	Counted *googleAsk `json:"generateContentRequest"`
}

// ServeHTTP answers by the method, and by what the request wants.
func (f *googleMedia) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var q googleAsk
	_, method, _ := strings.Cut(r.URL.Path, ":")
	key := r.Header.Get("x-goog-api-key")
	if err != nil || json.Unmarshal(body, &q) != nil || !strings.HasPrefix(key, "provider-key-") {
		failGoogle(w, http.StatusBadRequest, "INVALID_ARGUMENT", "The body is no request, or there is no key.")
		return
	}
	f.note(r.URL.Path, method, string(body))
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	switch {
	case method == "countTokens":
		_, _ = io.WriteString(w, `{"totalTokens":31}`)
	case method == "predict":
		one := map[string]any{"mimeType": "image/png", "bytesBase64Encoded": []byte(q.Instances[0].Text)}
		list := make([]any, q.Parameters.Count)
		for i := range list {
			list[i] = one
		}
		_ = json.MarshalWrite(w, map[string]any{"predictions": list})
	case strings.Contains(r.URL.Path, "filtered"):
		_, _ = io.WriteString(w, `{"candidates":[{"finishReason":"IMAGE_SAFETY","finishMessage":"Unable to show the picture."}],"usageMetadata":{"promptTokenCount":2}}`)
	case method == "streamGenerateContent":
		f.stream(w, []byte(strings.Repeat("\x01\x00", 4800)), []byte(strings.Repeat("\x02\x00", 4800)))
	default:
		f.answer(w, &q)
	}
}

// note keeps a request for its judge. The SDK of the Gemini API judges those to Vertex AI as well, whose counts have no model.
func (f *googleMedia) note(path, method, body string) {
	kind := map[string]string{"predict": "imagen", "countTokens": "count"}[method]
	if kind == "" || kind == "count" && strings.Contains(path, "/publishers/") {
		kind = "request"
	}
	f.mu.Lock()
	f.calls = append(f.calls, judgedCall{fmt.Sprint(len(f.calls), " ", path), kind, body})
	f.mu.Unlock()
}

// answer draws what the prompt says, reads it as a file, or tells the length of a recording.
func (f *googleMedia) answer(w http.ResponseWriter, q *googleAsk) {
	part := q.Contents[0].Parts[len(q.Contents[0].Parts)-1] // behind the pictures that it is about
	kind, read, made := "TEXT", map[string]any{"modality": "AUDIO", "tokenCount": 64}, map[string]any{"text": fmt.Sprintf("The fake provider heard a file of %d bytes", len(part.Inline.Data))}
	if list := q.Generation.Modalities; len(list) > 0 {
		kind, read = list[0], map[string]any{"modality": "TEXT", "tokenCount": 64}
		blob := googleBlob{"image/png", []byte(part.Text)}
		if kind == "AUDIO" {
			blob = googleBlob{"audio/wav", spokenFile(strings.Repeat("\x01\x00", 9600))}
		}
		made = map[string]any{"inlineData": blob}
	}
	_ = json.MarshalWrite(w, map[string]any{
		"candidates": []any{map[string]any{"content": map[string]any{"role": "model", "parts": []any{made}}, "finishReason": "STOP"}},
		"usageMetadata": map[string]any{
			"promptTokenCount": 64, "candidatesTokenCount": 1290, "totalTokenCount": 1354,
			"promptTokensDetails": []any{read}, "candidatesTokensDetails": []any{map[string]any{"modality": kind, "tokenCount": 1290}},
		},
	})
}

// stream speaks in pieces, each an event.
func (f *googleMedia) stream(w http.ResponseWriter, pieces ...[]byte) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i, piece := range pieces {
		candidate := map[string]any{"content": map[string]any{"role": "model", "parts": []any{map[string]any{"inlineData": googleBlob{"audio/l16; rate=24000; channels=1", piece}}}}}
		if i == len(pieces)-1 {
			candidate["finishReason"] = "STOP"
		}
		event, err := json.Marshal(map[string]any{"candidates": []any{candidate}, "usageMetadata": map[string]any{"promptTokenCount": 4, "candidatesTokenCount": 1 + i}})
		if err != nil {
			return
		}
		_, _ = fmt.Fprintf(w, "data: %s\r\n\r\n", event)
		_ = http.NewResponseController(w).Flush()
	}
}

// spokenFile is a WAV file of samples, as Google's newer models speak.
func spokenFile(samples string) []byte {
	size := func(n int) string { return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) }
	return []byte("RIFF" + size(36+len(samples)) + "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00" + size(24_000) + size(48_000) + "\x02\x00\x10\x00data" + size(len(samples)) + samples)
}

// The SDKs of OpenAI and Anthropic draw, speak, transcribe and count with models of Google, at the Gemini API and at Vertex AI. Google's SDK finds what arrives
// valid, and each request costs what is reported.
func TestGoogleBeyondChatsBySDK(t *testing.T) {
	t.Parallel()
	f := newGoogleMedia(t)
	var list strings.Builder
	list.WriteString("model_list:\n")
	for _, pair := range []string{"image=gemini-3.1-flash-image", "image-filtered=gemini-3-pro-image-filtered", "imagen=imagen-3.0-generate-001", "tts=gemini-3.8-flash-tts", "flash=gemini-2.5-flash"} {
		name, model, _ := strings.Cut(pair, "=")
		for prefix, of := range map[string]string{"g-": "gemini", "v-": "vertex_ai"} {
			fmt.Fprintf(&list, "  - {model_name: %s%s, gateway_params: {model: %s/%s, api_base: %q, api_key: provider-key-%s}}\n", prefix, name, of, model, f.url, name)
		}
	}
	g := startGateway(t, list.String())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/google_media.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey, "PREFIXES=g- v-")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count("\n"+string(out), "\nok ") != 16 {
		t.Errorf("%v\n%s", err, out)
	}
	reported := map[string]int{}
	for _, r := range g.spend("") {
		if r.Status == "success" && r.Source == "provider" {
			reported[strings.TrimPrefix(r.Group, "g-")]++
		}
	}
	for name, n := range map[string]int{"image": 2, "imagen": 1, "tts": 3, "flash": 3} {
		if reported[name] != n || reported["v-"+name] != n {
			t.Errorf("%d and %d requests of %s cost what is reported, want %d: %v", reported[name], reported["v-"+name], name, n, reported)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	judgeBy(t, "extproc/gemini/testdata/judge.py", f.calls)
}
