package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// vertexPlace is the project's location at the fake Vertex AI.
const vertexPlace = "/v1/projects/my-project/locations/europe-west4"

// vertexPath is a path within it.
var vertexPath = regexp.MustCompile(`^` + vertexPlace + `/(?:publishers/(google|anthropic|mistralai)/models/([^/:]+):(\w+)|endpoints/openapi/chat/completions)$`)

// vertexCall is a request that the fake Vertex AI got.
type vertexCall struct {
	Path, Key, Beta, Body string
}

// vertexUpstream is a fake Vertex AI. It checks address and credential as Google does, and has each publisher's models answer in their
// language. mu guards calls.
type vertexUpstream struct {
	*upstream
	mu    sync.Mutex
	calls []vertexCall
}

func newVertex(t *testing.T) *vertexUpstream {
	t.Helper()
	f := fake.New(fake.Options{})
	u := &vertexUpstream{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		at := vertexPath.FindStringSubmatch(r.URL.Path)
		u.mu.Lock()
		u.calls = append(u.calls, vertexCall{r.URL.Path, r.Header.Get("x-goog-api-key") + r.Header.Get("authorization"), r.Header.Get("anthropic-beta"), string(body)})
		u.mu.Unlock()
		key, token := r.Header.Get("x-goog-api-key"), r.Header.Get("authorization")
		switch {
		case err != nil, !strings.HasPrefix(key, "provider-key-") && token != "Bearer token-of-google":
			failGoogle(w, http.StatusUnauthorized, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
			return
		case at == nil, at[2] == "gone":
			failGoogle(w, http.StatusNotFound, "NOT_FOUND", "Publisher Model `"+r.URL.Path+"` was not found or your project does not have access to it.")
			return
		case at[2] == "limited":
			failGoogle(w, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Resource exhausted.")
			return
		case at[1] == "anthropic":
			body = asAnthropic(r, at, body)
		case at[1] == "mistralai":
			r.URL.Path = mistralPath + "v1/chat/completions"
		}
		if body == nil {
			failGoogle(w, http.StatusBadRequest, "INVALID_ARGUMENT", "The body is not one for Claude.")
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		f.ServeHTTP(w, r)
	}))
	u.upstream = &upstream{Server: f, url: srv.URL}
	t.Cleanup(func() {
		f.Close()
		srv.Close()
	})
	return u
}

func failGoogle(w http.ResponseWriter, status int, word, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"code":%d,"message":%q,"status":%q}}`, status, message, word)
}

// asAnthropic returns a request to Claude as Anthropic itself would get it; nil if Vertex would reject it.
func asAnthropic(r *http.Request, at []string, body []byte) []byte {
	var in map[string]any
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	r.Header.Set("anthropic-version", "2023-06-01") // the body has Vertex's
	if at[2] == "count-tokens" {
		r.URL.Path = "/v1/messages/count_tokens"
		if in["model"] == nil || r.Header.Get("anthropic-beta") != "" {
			return nil
		}
		return body
	}
	streams := in["stream"] == true
	if v := in["anthropic_version"]; v != "vertex-2023-10-16" && v != "2026-10-21" || in["model"] != nil || streams != (at[3] == "streamRawPredict") {
		return nil
	}
	delete(in, "anthropic_version")
	in["model"] = at[2]
	r.URL.Path = "/v1/messages"
	out, err := json.Marshal(in)
	if err != nil {
		return nil
	}
	return out
}

// taken returns the requests since the call before.
func (u *vertexUpstream) taken() []vertexCall {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.calls
	u.calls = nil
	return out
}

// onVertex configures deployments of Vertex AI: NAME=MODEL.
func onVertex(u *vertexUpstream, pairs ...string) string {
	var b strings.Builder
	b.WriteString("model_list:\n")
	for _, pair := range pairs {
		name, model, _ := strings.Cut(pair, "=")
		fmt.Fprintf(&b, "  - model_name: %s\n    gateway_params: {model: %q, api_base: %q, api_key: provider-key-%s, vertex_project: my-project, vertex_location: europe-west4, input_cost_per_token: 0.000001, output_cost_per_token: 0.00001}\n    model_info: {id: %s-id}\n",
			name, "vertex_ai/"+model, u.url, name, name)
	}
	return b.String()
}

// Models of each publisher answer callers of both languages of chats, whole, streamed, and with tools.
func TestVertexChats(t *testing.T) {
	t.Parallel()
	u := newVertex(t)
	g := startGateway(t, onVertex(u, "gemini=gemini-3-flash", "claude=claude-sonnet-4-5@20250929", "mistral=mistral-medium-3@001", "llama=meta/llama-3.3-70b-instruct-maas"))
	const tools = `,"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}],"tool_choice":"required"`
	for model, method := range map[string][2]string{
		"gemini":  {"/publishers/google/models/gemini-3-flash:generateContent", "/publishers/google/models/gemini-3-flash:streamGenerateContent"},
		"claude":  {"/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict", "/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"},
		"mistral": {"/publishers/mistralai/models/mistral-medium-3@001:rawPredict", "/publishers/mistralai/models/mistral-medium-3@001:streamRawPredict"},
		"llama":   {"/endpoints/openapi/chat/completions", "/endpoints/openapi/chat/completions"},
	} {
		for i, stream := range []string{"", `,"stream":true`} {
			u.taken()
			a := g.chat(request(model, stream))
			if a.status != http.StatusOK || !strings.Contains(a.body, `"model":"`+model+`"`) {
				t.Errorf("%s%s: %d %s", model, stream, a.status, a.body)
				continue
			}
			if c := u.taken(); len(c) != 1 || c[0].Path != vertexPlace+method[i] || c[0].Key != "provider-key-"+model {
				t.Errorf("%s%s: the provider was asked %+v", model, stream, c)
			}
			if a := g.chat(request(model, stream+tools)); a.status != http.StatusOK || !strings.Contains(a.body, `"name":"weather"`) {
				t.Errorf("%s%s: no call: %d %s", model, stream, a.status, a.body)
			}
			status, answer := g.post("/v1/messages", "application/json", `{"model":"`+model+`","max_tokens":20,"messages":[{"role":"user","content":"hello"}]`+stream+`}`)
			if status != http.StatusOK || !strings.Contains(answer, `"type":"message"`) {
				t.Errorf("messages to %s%s: %d %s", model, stream, status, answer)
			}
		}
		if e := g.one(g.chat(request(model, ""))); e.Status != "success" || e.Source != "provider" || e.CompletionTokens == 0 {
			t.Errorf("%s: the row is %+v", model, e)
		}
	}
	u.taken()
	if status, answer := g.post("/v1/messages/count_tokens", "application/json", `{"model":"claude","messages":[{"role":"user","content":"hello"}]}`); status != http.StatusOK {
		t.Errorf("a count: %d %s", status, answer)
	}
	if c := u.taken(); len(c) != 1 || c[0].Path != vertexPlace+"/publishers/anthropic/models/count-tokens:rawPredict" || !strings.Contains(c[0].Body, `"model":"claude-sonnet-4-5@20250929"`) {
		t.Errorf("a count was asked for as %+v", c)
	}
}

// What the gateway sends Claude at Vertex for callers of Anthropic's language is what Anthropic's own client for Vertex sends.
func TestClaudeOnVertexAsByTheSDK(t *testing.T) {
	t.Parallel()
	u := newVertex(t)
	g := startGateway(t, onVertex(u, "claude=claude-sonnet-4-5@20250929"))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	sent := map[string][]vertexCall{}
	for _, by := range []string{"gateway", "vertex"} {
		cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/claude_on_vertex.py", by)
		cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey, "VERTEX_URL="+u.url)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "ok 6") {
			t.Fatalf("by %s: %v\n%s", by, err, out)
		}
		sent[by] = u.taken()
	}
	if len(sent["gateway"]) != 6 || len(sent["vertex"]) != 6 {
		t.Fatalf("the gateway sent %d requests, and the client for Vertex %d", len(sent["gateway"]), len(sent["vertex"]))
	}
	for i, want := range sent["vertex"] {
		got := sent["gateway"][i]
		if want.Path != got.Path || flags(want.Beta) != flags(got.Beta) {
			t.Errorf("request %d went to %s with %q, and should go to %s with %q", i, got.Path, got.Beta, want.Path, want.Beta)
		}
		var one, other map[string]any
		if json.Unmarshal([]byte(want.Body), &one) != nil || json.Unmarshal([]byte(got.Body), &other) != nil {
			t.Fatalf("no JSON: %s, %s", want.Body, got.Body)
		}
		if strings.Contains(want.Path, "count-tokens") {
			delete(one, "anthropic_version") // the client adds it, and the service does not ask for it
		}
		if diff := cmp.Diff(one, other); diff != "" {
			t.Errorf("request %d (-client +gateway):\n%s", i, diff)
		}
	}
}

// flags returns the flags of a header, sorted, without one that Vertex does not have.
func flags(header string) string {
	all := slices.DeleteFunc(strings.Split(header, ","), func(f string) bool { return strings.HasPrefix(f, "files-api-") })
	slices.Sort(all)
	return strings.Join(all, ",")
}

// A chat with calls and reasoning in its history goes on from Azure to Vertex to Anthropic, and embeddings go on as well.
func TestFallbackFromAzureToVertexToAnthropic(t *testing.T) {
	t.Parallel()
	u, az, direct := newVertex(t), newAzure(t), newUpstream(t)
	more := strings.TrimPrefix(onVertex(u, "gemini-limited=limited", "claude-gone=gone", "gemini=gemini-3-flash", "claude-vertex=claude-sonnet-4-5@20250929"), "model_list:\n")
	more += strings.TrimPrefix(models(direct, "claude=anthropic/claude-sonnet-4-5"), "model_list:\n")
	g := startGateway(t, onAzure(az, "azure-gone=gone  api_version: '2024-10-21'", "azure-gone-2=gone  api_version: '2024-10-21'", "azure-gone-3=gone  api_version: '2024-10-21'", "azure=gpt")+more+`
router_settings:
  num_retries: 0
  cooldown_time: 0
  fallbacks:
    - azure-gone: [gemini-limited, claude]
    - azure-gone-2: [gemini-limited, gemini]
    - azure-gone-3: [gemini-limited, claude-vertex]
    - claude-gone: [azure]
`)
	for model, served := range map[string]string{"azure-gone": "claude-id", "azure-gone-2": "gemini-id", "azure-gone-3": "claude-vertex-id"} {
		for _, stream := range []string{"", `,"stream":true`} {
			a := g.chat(fmt.Sprintf(toolHistory, model, "", stream))
			if got := a.header.Get("x-gateway-model-id"); a.status != http.StatusOK || got != served {
				t.Errorf("%s%s: %d by %q: %s", model, stream, a.status, got, a.body)
			}
		}
	}
	if a := g.chat(request("claude-gone", "")); a.status != http.StatusOK || a.header.Get("x-gateway-model-id") != "azure-id" {
		t.Errorf("claude-gone: %d %s", a.status, a.body)
	}
}

// Settings that are missing or wrong are found before the gateway starts, and each by its name.
func TestVertexSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ params, want string }{
		"no project":    {"vertex_location: eu", "vertex_project is missing"},
		"no location":   {"vertex_project: p", "vertex_location is missing"},
		"a host":        {"vertex_project: p, vertex_location: evil.example.com/x", "vertex_location is no location"},
		"a path":        {"vertex_project: ../q, vertex_location: eu", "vertex_project is no id"},
		"of a file":     {"vertex_location: eu, vertex_credentials: /no/such/file.json", "vertex_project is missing"},
		"other account": {`vertex_location: eu, vertex_credentials: '{"type":"service_account"}'`, "vertex_project is missing"},
	} {
		config := "model_list: [{model_name: m, gateway_params: {model: vertex_ai/gemini-3-flash, " + c.params + "}}]\n"
		file := t.TempDir() + "/gateway.yaml"
		if err := os.WriteFile(file, []byte("general_settings: {master_key: "+adminKey+"}\n"+config), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), binary(t), "config", "check", file).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}
