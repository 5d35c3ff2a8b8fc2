package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// azureVersions are the versions of the API that the fake resource has.
const azureVersions = "2024-02-01 2024-10-21 2025-04-01-preview preview"

// azurePath is a path of Azure OpenAI: of the API v1, of a deployment, or of responses.
var azurePath = regexp.MustCompile(`^/openai/(?:v1|deployments/([^/]+)|(responses$))`)

// newAzure starts a resource of Azure OpenAI. It checks address and credential as Azure does, and answers as Azure
// does: streams of chats begin with the results of the prompt's filter.
func newAzure(t *testing.T) *upstream {
	t.Helper()
	f := fake.New(fake.Options{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, version := azurePath.FindStringSubmatch(r.URL.Path), r.URL.Query().Get("api-version")
		key, token := r.Header.Get("api-key"), r.Header.Get("authorization")
		classic := at != nil && (at[1] != "" || at[2] != "")
		switch {
		case !strings.HasPrefix(key, "provider-key-") && token != "Bearer token-of-entra" || key != "" && token != "":
			failAzure(w, http.StatusUnauthorized, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`)
		case at == nil, classic && !strings.Contains(azureVersions, version), classic && version == "", !classic && version != "" && version != "preview":
			failAzure(w, http.StatusNotFound, `{"error":{"code":"404","message":"Resource not found"}}`)
		case at[1] == "gone":
			failAzure(w, http.StatusNotFound, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`)
		case at[1] == "blocked":
			failAzure(w, http.StatusBadRequest, `{"error":{"message":"The response was filtered.","param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`)
		default:
			f.ServeHTTP(&azureWriter{ResponseWriter: w, chat: strings.HasSuffix(r.URL.Path, "/chat/completions")}, r)
		}
	}))
	u := &upstream{Server: f, url: srv.URL}
	t.Cleanup(func() {
		judgeRequests(t, u)
		f.Close()
		srv.Close()
	})
	return u
}

func failAzure(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// azureWriter writes the results of the prompt's filter before the first event of a chat.
type azureWriter struct {
	http.ResponseWriter
	chat, begun bool
}

// firstOfAzure is what Azure sends first.
const firstOfAzure = `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}` + "\n\n"

func (w *azureWriter) Write(p []byte) (int, error) {
	if !w.begun && w.chat && strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		if _, err := io.WriteString(w.ResponseWriter, firstOfAzure); err != nil {
			return 0, err
		}
	}
	w.begun = true
	return w.ResponseWriter.Write(p)
}

// Flush sends what has been written.
func (w *azureWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

// onAzure configures deployments of Azure: NAME=MODEL, and more parameters after a space.
func onAzure(p *upstream, pairs ...string) string {
	var b strings.Builder
	b.WriteString("model_list:\n")
	for _, pair := range pairs {
		name, rest, _ := strings.Cut(pair, "=")
		model, more, _ := strings.Cut(rest, " ")
		base := p.url
		if path, others, ok := strings.Cut(more, " "); ok || strings.HasPrefix(more, "/") {
			base, more = p.url+path, others
		}
		if more != "" {
			more = ", " + more
		}
		if !strings.Contains(more, "azure_ad_token") {
			more += ", api_key: provider-key-" + name
		}
		fmt.Fprintf(&b, "  - model_name: %s\n    gateway_params: {model: %q, api_base: %q, input_cost_per_token: 0.000001, output_cost_per_token: 0.00001%s}\n    model_info: {id: %s-id}\n",
			name, "azure/"+model, base, more, name)
	}
	return b.String()
}

// Chats reach a deployment of Azure by each form of its address, whole and streamed, with the parameters that its
// version has.
func TestAzureChats(t *testing.T) {
	t.Parallel()
	p := newAzure(t)
	g := startGateway(t, onAzure(p, "v1=gpt", "preview=gpt  api_version: preview", "classic=gpt  api_version: '2024-10-21'", "older=gpt  api_version: '2024-02-01'",
		"whole=ignored /openai/deployments/prod/chat/completions?api-version=2025-04-01-preview ", "under-v1=gpt /openai/v1/ "))
	for model, want := range map[string]struct{ path, query, body string }{
		"v1":       {"/openai/v1/chat/completions", "", `"model":"gpt"`},
		"preview":  {"/openai/v1/chat/completions", "api-version=preview", `"model":"gpt"`},
		"classic":  {"/openai/deployments/gpt/chat/completions", "api-version=2024-10-21", `"max_completion_tokens":9`},
		"older":    {"/openai/deployments/gpt/chat/completions", "api-version=2024-02-01", `"max_tokens":9`},
		"whole":    {"/openai/deployments/prod/chat/completions", "api-version=2025-04-01-preview", `"max_completion_tokens":9`},
		"under-v1": {"/openai/v1/chat/completions", "", `"max_completion_tokens":9`},
	} {
		for _, stream := range []string{"", `,"stream":true`} {
			p.Reset()
			a := g.chat(`{"model":"` + model + `","messages":[{"role":"user","content":"hello"}],"max_completion_tokens":9` + stream + `}`)
			if a.status != http.StatusOK || !strings.Contains(a.body, `"model":"`+model+`"`) || strings.Contains(a.body, `"choices":[]`) {
				t.Errorf("%s%s: %d %s", model, stream, a.status, a.body)
				continue
			}
			r := p.Requests()[0]
			if r.Path != want.path || r.Query != want.query || !strings.Contains(r.Body, want.body) {
				t.Errorf("%s%s: the provider got %s?%s %s", model, stream, r.Path, r.Query, r.Body)
			}
			if asked := strings.Contains(r.Body, "include_usage"); asked != (stream != "" && model != "older") {
				t.Errorf("%s%s: the usage is requested: %v", model, stream, asked)
			}
		}
	}
	// Azure's own clients know events without a choice.
	status, body := g.post("/openai/deployments/v1/chat/completions?api-version=2024-10-21", "application/json", `{"messages":[{"role":"user","content":"hello"}],"stream":true}`)
	if status != http.StatusOK || strings.Count(body, "prompt_filter_results") != 1 {
		t.Errorf("%d %s", status, body)
	}
}

// Each operation of OpenAI's passes to Azure, under both forms of its address.
func TestAzureBeyondChats(t *testing.T) {
	t.Parallel()
	p := newAzure(t)
	g := startGateway(t, onAzure(p, "v1=fake", "classic=fake  api_version: 2025-04-01-preview", "instruct=gpt-35-turbo-instruct"))
	const boundary = "edge"
	form := func(model, field string) string {
		return "--edge\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n" + model + "\r\n--edge\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\na hat\r\n" +
			"--edge\r\nContent-Disposition: form-data; name=\"" + field + "\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\nabc\r\n--edge--\r\n"
	}
	for _, c := range []struct{ path, body string }{
		{"/embeddings", `{"model":"%s","input":"a"}`},
		{"/images/generations", `{"model":"%s","prompt":"a hat"}`},
		{"/images/edits", form("%s", "image")},
		{"/audio/speech", `{"model":"%s","input":"a","voice":"alloy"}`},
		{"/audio/transcriptions", form("%s", "file")},
		{"/audio/translations", form("%s", "file")},
		{"/responses", `{"model":"%s","input":"a"}`},
		{"/responses", `{"model":"%s","input":"a","stream":true}`},
	} {
		for _, model := range []string{"v1", "classic"} {
			p.Reset()
			media := "application/json"
			if strings.HasPrefix(c.body, "--") {
				media = "multipart/form-data; boundary=" + boundary
			}
			status, answer := g.post("/v1"+c.path, media, fmt.Sprintf(c.body, model))
			want := "/openai/v1" + c.path
			switch {
			case model == "classic" && c.path == "/responses":
				want = "/openai/responses?api-version=2025-04-01-preview"
			case model == "classic":
				want = "/openai/deployments/fake" + c.path + "?api-version=2025-04-01-preview"
			}
			if status != http.StatusOK {
				t.Errorf("%s by %s: %d %s", c.path, model, status, answer)
				continue
			}
			if r := p.Requests()[0]; strings.TrimSuffix(r.Path+"?"+r.Query, "?") != want || !strings.Contains(r.Body, "fake") {
				t.Errorf("%s by %s: the provider got %s?%s %s", c.path, model, r.Path, r.Query, r.Body)
			}
		}
	}
	for model, want := range map[string]string{"v1": "/openai/v1/chat/completions", "instruct": "/openai/v1/completions"} {
		p.Reset()
		a := g.do(http.MethodPost, "/v1/completions", strings.NewReader(`{"model":"`+model+`","prompt":"a"}`))
		if r := p.Requests(); a.status != http.StatusOK || r[0].Path != want {
			t.Errorf("completions of %s: %d %s", model, a.status, a.body)
		}
	}
	if a := g.do(http.MethodPost, "/v1/moderations", strings.NewReader(`{"model":"v1","input":"a"}`)); a.status != http.StatusBadRequest {
		t.Errorf("Azure has no moderations: %d %s", a.status, a.body)
	}
}

// The class AzureOpenAI of OpenAI's SDK uses deployments of Azure through the gateway.
func TestAzureBySDK(t *testing.T) {
	t.Parallel()
	p := newAzure(t)
	g := startGateway(t, onAzure(p, "v1=fake-gpt", "classic=fake-gpt  api_version: 2025-04-01-preview"))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/azure_sdk.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey)
	out, err := cmd.CombinedOutput()
	if n := strings.Count("\n"+string(out), "\nok "); err != nil || n != 14 {
		t.Errorf("%d checks are well: %v\n%s", n, err, out)
	}
	for _, r := range p.Requests() {
		if key := r.Headers.Get("api-key"); !strings.HasPrefix(key, "provider-key-") || r.Headers.Get("authorization") != "" {
			t.Errorf("%s was sent the key %q and the authorization %q", r.Path, key, r.Headers.Get("authorization"))
		}
	}
}

// What Azure says of a deployment, a version or a prompt reaches the right one: another deployment, or the caller.
func TestAzureErrors(t *testing.T) {
	t.Parallel()
	p := newAzure(t)
	g := startGateway(t, onAzure(p, "gone=gone  api_version: '2024-10-21'", "other-version=gpt  api_version: '2023-01-01'", "blocked=blocked  api_version: '2024-10-21'", "spare=gpt",
		"lonely=gone  api_version: '2024-10-21'")+
		"router_settings: {num_retries: 0, fallbacks: [{gone: [spare]}, {other-version: [spare]}]}\n")
	for model, want := range map[string]string{"gone": "spare-id", "other-version": "spare-id"} {
		if a := g.chat(request(model, "")); a.status != http.StatusOK || a.header.Get("x-gateway-model-id") != want {
			t.Errorf("%s: %d %s", model, a.status, a.body)
		}
	}
	for model, want := range map[string]struct {
		status int
		code   string
	}{"blocked": {400, "content_filter"}, "lonely": {503, "all_deployments_failed"}} {
		if a := g.chat(request(model, "")); a.status != want.status || !strings.Contains(a.body, `"code":"`+want.code+`"`) {
			t.Errorf("%s: %d %s", model, a.status, a.body)
		}
	}
}
