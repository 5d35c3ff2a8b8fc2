package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// passedAccount is a provider with paths that no operation of the gateway has. It remembers what it got. mu guards seen.
type passedAccount struct {
	url  string
	cut  chan struct{} // has a response break off
	mu   sync.Mutex
	seen []fake.Request
}

// Texts that must stay on their side of the gateway.
const (
	accountCanary = "canary-of-the-account" // in each credential of a deployment
	callerCanary  = "canary-of-the-caller"  // in each credential of a caller, besides its key
)

func newPassedAccount(t *testing.T) *passedAccount {
	t.Helper()
	a := &passedAccount{cut: make(chan struct{})}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		a.mu.Lock()
		a.seen = append(a.seen, fake.Request{
			Method: r.Method, Host: r.Host, Path: r.URL.Path, Escaped: r.URL.EscapedPath(), Query: r.URL.RawQuery, Headers: r.Header.Clone(), Body: string(body),
		})
		a.mu.Unlock()
		if err == nil {
			a.answer(w, r, body)
		}
	}))
	a.url = srv.URL
	t.Cleanup(srv.Close)
	return a
}

// answer answers as the end of a path says.
func (a *passedAccount) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	h := w.Header()
	h.Set("X-Request-Id", "req-of-the-provider")
	h.Set("Openai-Organization", accountCanary)
	h.Set("Set-Cookie", "session="+accountCanary)
	h.Set("Content-Type", "application/json")
	switch r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:] {
	case "missing":
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"message":"No such File object: missing","type":"invalid_request_error","param":"id","code":null}}`)
	case "unauthorized":
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided: `+accountCanary+`"}}`)
	case "forbidden":
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"message":"The canonical string is x-amz-security-token:`+accountCanary+`"}`)
	case "moved":
		h.Set("Location", "https://elsewhere.example/?sig="+accountCanary)
		w.WriteHeader(http.StatusFound)
	case "none":
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNoContent)
	case "events":
		h.Set("Content-Type", "text/event-stream")
		for i := range 5 {
			_, _ = fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
			_ = http.NewResponseController(w).Flush()
		}
	case "cut":
		h.Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "the beginning")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-a.cut:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	case "content":
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", `attachment; filename="a.bin"`)
		_, _ = w.Write(anyBytes(300_000))
	default:
		_, _ = fmt.Fprintf(w, `{"method":%q,"bytes":%d,"sum":"%x"}`, r.Method, len(body), sha256.Sum256(body))
	}
}

// anyBytes is n bytes of all values.
func anyBytes(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i * 7)
	}
	return out
}

// last is what the provider got last.
func (a *passedAccount) last(t *testing.T) fake.Request {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.seen) == 0 {
		t.Fatal("the provider got no request")
	}
	return a.seen[len(a.seen)-1]
}

// count is how many requests the provider got.
func (a *passedAccount) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.seen)
}

// keptApart requires that no request had a credential of a caller.
func (a *passedAccount) keptApart(t *testing.T, keys ...string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.seen {
		text := fmt.Sprint(r.Path, r.Query, r.Headers)
		for _, secret := range append(keys, callerCanary, adminKey) {
			if strings.Contains(text, secret) {
				t.Errorf("the provider got %q: %s", secret, text)
			}
		}
	}
}

// of is a deployment of the account: name, provider/model, and more parameters.
func (a *passedAccount) of(name, model, more string) string {
	return fmt.Sprintf("  - {model_name: %s, gateway_params: {model: %q, api_base: %q, %s}, model_info: {id: %s-id}}\n", name, model, a.url, more, name)
}

// A key with the permission uses paths that no operation has, with the provider's credential. Its rows say that they have no
// price.
func TestPassthrough(t *testing.T) {
	t.Parallel()
	p := newPassedAccount(t)
	g := startGateway(t, "model_list:\n"+p.of("gpt", "openai/gpt-x", "api_key: "+accountCanary))
	key := g.keyOf("", tree{"allowed_routes": []string{"llm_api_routes", "passthrough_routes"}, "key_alias": "files"})
	by := with("Authorization", "Bearer "+key)
	form := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n" + string(anyBytes(2_000_000)) + "\r\n--x--\r\n"
	const at = "/openai_passthrough/v1/"
	for _, c := range []struct {
		name, method, path, query string
		body                      []byte
		media                     string
		status                    int
		want                      string // of the response; empty for what the provider says of the request
		outcome                   string
	}{
		{"a list", "GET", "files", "?limit=2&after=file-1&key=" + callerCanary, nil, "", 200, "", "success"},
		{"a change", "POST", "batches", "", []byte(`{"input_file_id":"file-1", "x" : 1}`), "application/json", 200, "", "success"},
		{"a form", "POST", "files", "", []byte(form), "multipart/form-data; boundary=x", 200, "", "success"},
		{"other bytes", "PUT", "uploads/1", "", anyBytes(70_000), "application/x-thing", 200, "", "success"},
		{"an empty body", "POST", "batches/1/cancel", "", []byte{}, "application/json", 200, "", "success"},
		{"a deletion", "DELETE", "models/ft-1", "", nil, "", 200, "", "success"},
		{"a patch", "PATCH", "things/1", "", []byte(`{}`), "application/json", 200, "", "success"},
		{"only the head", "HEAD", "files/1", "", nil, "", 200, "-", "success"},
		{"no content", "DELETE", "files/none", "", nil, "", 204, "-", "success"},
		{"events", "GET", "files/events", "", nil, "", 200, "data: {\"n\":0}\n\ndata: {\"n\":1}\n\ndata: {\"n\":2}\n\ndata: {\"n\":3}\n\ndata: {\"n\":4}\n\n", "success"},
		{"a file", "GET", "files/1/content", "", nil, "", 200, string(anyBytes(300_000)), "success"},
		{"an error", "GET", "files/missing", "", nil, "", 404, `{"error":{"message":"No such File object: missing","type":"invalid_request_error","param":"id","code":null}}`, "failed"},
	} {
		var body io.Reader
		if c.body != nil {
			body = bytes.NewReader(c.body)
		}
		a := g.do(c.method, at+c.path+c.query, body, by, with("Content-Type", c.media), with("X-Amz-Security-Token", callerCanary), with("Cookie", callerCanary), with("Openai-Organization", callerCanary))
		want := c.want
		switch want {
		case "":
			want = fmt.Sprintf(`{"method":%q,"bytes":%d,"sum":"%x"}`, c.method, len(c.body), sha256.Sum256(c.body))
		case "-":
			want = ""
		}
		if a.status != c.status || a.body != want {
			t.Errorf("%s: %d %.200q, want %d %.200q", c.name, a.status, a.body, c.status, want)
			continue
		}
		for _, values := range a.header {
			if strings.Contains(strings.Join(values, " "), accountCanary) {
				t.Errorf("%s: the caller learns of the account: %v", c.name, a.header)
			}
		}
		if id := a.header.Get("x-request-id"); !requestID.MatchString(id) || a.header.Get("llm_provider-x-request-id") != "req-of-the-provider" || a.header.Get("x-gateway-model-id") != "gpt-id" {
			t.Errorf("%s: headers %v", c.name, a.header)
		}
		got := p.last(t)
		if r := got.Headers; r.Get("Authorization") != "Bearer "+accountCanary || r.Get("Content-Type") != c.media && c.media != "" || r.Get("Cookie") != "" {
			t.Errorf("%s: the provider got the headers %v", c.name, r)
		}
		if query, _, _ := strings.Cut(strings.TrimPrefix(c.query, "?"), "&key="); got.Method != c.method || got.Path != "/v1/"+c.path || got.Query != query || got.Body != string(c.body) {
			t.Errorf("%s: the provider got %s %s?%s and %d bytes", c.name, got.Method, got.Path, got.Query, len(got.Body))
		}
		e := g.one(a)
		row := passedRow{c.method, at + c.path, int64(len(c.body)), int64(len(a.body))}
		if e.Status != c.outcome || e.Source != "unpriced" || string(e.Spend) != "0" || e.HTTPStatus != c.status || e.ClientStatus != c.status || e.Group != "gpt" || e.KeyAlias != "files" ||
			e.Passthrough == nil || *e.Passthrough != row {
			t.Errorf("%s: row %+v %+v, want %+v", c.name, e, e.Passthrough, row)
		}
	}
	p.keptApart(t, key)
	audit := g.get("/audit-log?limit=5&event_type=request.routed").body
	if !strings.Contains(audit, `"usage_source":"unpriced"`) || !strings.Contains(audit, `"path":"/openai_passthrough/v1/files/1/content"`) {
		t.Errorf("the audit log does not name the request: %s", audit)
	}
	if text := g.get("/metrics").body; !strings.Contains(text, `gen_ai_operation_name="passthrough"`) {
		t.Errorf("the metrics do not name the requests")
	}
	if a := g.do(http.MethodGet, "/openai_passthrough/v1/models", nil, by); a.status != 200 || !strings.Contains(a.body, `"id":"gpt"`) {
		t.Errorf("the list of models: %d %s", a.status, a.body)
	}
}

// accounts are the providers with paths of their own, all at one place.
func (p *passedAccount) accounts() string {
	key := "api_key: " + accountCanary
	return "model_list:\n" + p.of("gpt", "openai/gpt-x", key) + p.of("gpt-mini", "openai/gpt-y", key) + p.of("claude", "anthropic/claude-x", key) +
		p.of("gemini", "gemini/gemini-x", key) + p.of("command", "cohere/command-x", key) +
		p.of("azure", "azure/gpt-x", key+", api_version: 2024-10-21") + p.of("azure-eu", "azure/gpt-x", "api_key: "+accountCanary+"-eu") +
		p.of("vertex", "vertex_ai/gemini-x", key+", vertex_project: my-project, vertex_location: europe-west4") +
		fmt.Sprintf("  - {model_name: nova, gateway_params: {model: bedrock/amazon.nova-pro-v1:0, aws_bedrock_runtime_endpoint: %q, aws_region_name: us-west-2, "+
			"aws_access_key_id: AKIDEXAMPLE, aws_secret_access_key: %q, aws_session_token: %q}}\n", p.url, awsSecret, awsSession)
}

// Each provider gets a request with its own credential at its own path, and the gateway's errors have its form.
func TestPassthroughOfEachProvider(t *testing.T) {
	t.Parallel()
	p := newPassedAccount(t)
	g := startGateway(t, p.accounts())
	key := g.keyOf("", tree{"allowed_routes": []string{"passthrough_routes"}})
	by := with("Authorization", "Bearer "+key)
	var signed []fake.Request
	for _, c := range []struct {
		method, path, model string
		want                string // path and query at the provider
		header, value       string // that the provider gets
	}{
		{"POST", "/anthropic/v1/messages/batches?beta=true", "", "/v1/messages/batches?beta=true", "X-Api-Key", accountCanary},
		{"GET", "/anthropic/v1/files/file_1/content", "", "/v1/files/file_1/content?", "Anthropic-Version", "2023-06-01"},
		{"GET", "/gemini/v1beta/files?pageSize=3&pageToken=next&key=" + key, "", "/v1beta/files?pageSize=3&pageToken=next", "X-Goog-Api-Key", accountCanary},
		{"DELETE", "/gemini/v1beta/cachedContents/1", "", "/v1beta/cachedContents/1?", "X-Goog-Api-Key", accountCanary},
		{"POST", "/cohere/v1/tokenize", "", "/v1/tokenize?", "Authorization", "Bearer " + accountCanary},
		{"GET", "/azure/openai/files", "azure", "/openai/files?api-version=2024-10-21", "Api-Key", accountCanary},
		{"GET", "/azure/openai/files?api-version=2025-01-01", "azure-id", "/openai/files?api-version=2025-01-01", "Api-Key", accountCanary},
		{"GET", "/azure/openai/v1/files", "azure-eu", "/openai/v1/files?", "Api-Key", accountCanary + "-eu"},
		{"POST", "/vertex_ai/v1/projects/my-project/locations/europe-west4/batchPredictionJobs", "", "/v1/projects/my-project/locations/europe-west4/batchPredictionJobs?", "X-Goog-Api-Key", accountCanary},
		{"GET", "/vertex_ai/v1beta1/projects/my-project/locations/europe-west4/endpoints?pageToken=a%2Bb", "", "/v1beta1/projects/my-project/locations/europe-west4/endpoints?pageToken=a%2Bb", "X-Goog-Api-Key", accountCanary},
		{"POST", "/bedrock/guardrail/g:1/version/DRAFT/apply", "", "/guardrail/g:1/version/DRAFT/apply?", "X-Amz-Security-Token", awsSession},
		{"GET", "/bedrock/async-invoke?maxResults=5&nextToken=a%2Fb&statusEquals=Completed", "", "/async-invoke?maxResults=5&nextToken=a%2Fb&statusEquals=Completed", "X-Amz-Security-Token", awsSession},
		{"GET", "/bedrock/async-invoke/arn:aws:bedrock:us-west-2:1:async-invoke%3Aa%20b", "", "/async-invoke/arn:aws:bedrock:us-west-2:1:async-invoke%3Aa%20b?", "X-Amz-Security-Token", awsSession},
	} {
		options := []option{by, with("X-Amz-Date", callerCanary), with("Content-Type", "application/json")}
		if c.model != "" {
			options = append(options, with("x-gateway-model", c.model))
		}
		var body io.Reader
		if c.method == "POST" {
			body = strings.NewReader(`{"input":{"converse":{"messages":[{"role":"user","content":[{"text":"hello"}]}]}}}`)
		}
		a := g.do(c.method, c.path, body, options...)
		if a.status != 200 {
			t.Errorf("%s: %d %s", c.path, a.status, a.body)
			continue
		}
		got := p.last(t)
		if got.Method != c.method || got.Escaped+"?"+got.Query != c.want || got.Headers.Get(c.header) != c.value {
			t.Errorf("%s: the provider got %s %s?%s, %s %q", c.path, got.Method, got.Escaped, got.Query, c.header, got.Headers.Get(c.header))
		}
		if strings.HasPrefix(c.path, "/bedrock/") {
			signed = append(signed, got)
		}
	}
	judgeBedrock(t, signed)
	p.keptApart(t, key)
	for path, want := range map[string]string{
		"/anthropic/v1/files/unauthorized":      `{"type":"error","error":{"type":`,
		"/gemini/v1beta/files/forbidden":        `{"error":{"code":503,`,
		"/bedrock/async-invoke/forbidden":       `"message":"The provider refused`,
		"/cohere/v1/moved":                      `"message":"Every deployment`,
		"/openai_passthrough/v1/x/unauthorized": `"code":"upstream_auth_error"`,
	} {
		a := g.get(path, by)
		if a.status != 503 || !strings.Contains(a.body, want) || strings.Contains(fmt.Sprint(a.header, a.body), accountCanary) {
			t.Errorf("%s: %d %v %s", path, a.status, a.header, a.body)
		}
		if e := g.one(a); e.Status != "failed" || e.Source != "unpriced" || e.ClientStatus != 503 {
			t.Errorf("%s: row %+v", path, e)
		}
	}
	g.breaksOff(p, key)
	if strings.Contains(g.log.String(), accountCanary) || strings.Contains(g.log.String(), callerCanary) {
		t.Error("the log has a credential")
	}
}

// breaksOff requires that a response that its provider breaks off is recorded as far as it came.
func (g *gatewayProcess) breaksOff(p *passedAccount, key string) {
	g.t.Helper()
	r, err := http.NewRequestWithContext(g.t.Context(), http.MethodGet, g.url+"/cohere/v1/cut", http.NoBody)
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	begin := make([]byte, len("the beginning"))
	_, err = io.ReadFull(resp.Body, begin)
	p.cut <- struct{}{}
	rest, cut := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || string(begin) != "the beginning" || len(rest) > 0 || cut == nil {
		g.t.Errorf("a response that breaks off: %d %q %q, %v %v", resp.StatusCode, begin, rest, err, cut)
	}
	if e := g.one(&answer{header: resp.Header}); e.Status != "failed" || e.ErrorCode != "upstream_cut" || e.Source != "unpriced" || e.Passthrough.Response != int64(len(begin)) {
		g.t.Errorf("a response that breaks off: row %+v %+v", e, e.Passthrough)
	}
}

// Who may not use such a path, or whose request is not clear, gets an error that says so, and the provider gets nothing.
func TestPassthroughRefused(t *testing.T) {
	t.Parallel()
	p := newPassedAccount(t)
	g := startGateway(t, p.accounts())
	g.manages(http.MethodPost, "/guardrail", `{"guardrail_name":"words","engines":[{"engine_name":"content_filter","event_hooks":["pre_call"],"config":{"banned_keywords":["secret"]}}]}`)
	all := []string{"llm_api_routes", "passthrough_routes"}
	keys := map[string]string{
		"all":       g.keyOf("", tree{"allowed_routes": all}),
		"none":      g.keyOf("", tree{}),
		"star":      g.keyOf("", tree{"allowed_routes": []string{"/openai_passthrough/*", "llm_api_routes"}}),
		"files":     g.keyOf("", tree{"allowed_routes": []string{"passthrough:/openai_passthrough/v1/files*"}}),
		"guarded":   g.keyOf("", tree{"allowed_routes": all, "guardrails": []string{"words"}}),
		"prompted":  g.keyOf("", tree{"allowed_routes": all, "require_prompt": true}),
		"spent":     g.keyOf("", tree{"allowed_routes": all, "max_budget": 0}),
		"limited":   g.keyOf("", tree{"allowed_routes": all, "rpm_limit": 0}),
		"claude":    g.keyOf("", tree{"allowed_routes": all, "models": []string{"claude"}}),
		"blocked":   g.keyOf("", tree{"allowed_routes": all, "blocked": true}),
		"read only": g.keyOf("", tree{"allowed_routes": all, "key_type": "read_only"}),
		"unknown":   "sk-nobody-has-this-key-0123456789",
		"master":    adminKey,
	}
	const files = "/openai_passthrough/v1/files"
	before := p.count()
	for _, c := range []struct {
		key, method, path string
		status            int
		code              string
		options           []option
	}{
		{"none", "GET", files, 404, "unsupported_endpoint", nil},
		{"master", "POST", files, 404, "unsupported_endpoint", nil},
		{"star", "GET", files, 404, "unsupported_endpoint", nil},
		{"none", "GET", "/openai_passthrough/v1/chat/completions", 405, "method_not_allowed", nil},
		{"files", "POST", "/openai_passthrough/v1/batches", 403, "route_not_allowed", nil},
		{"files", "GET", "/openai_passthrough/v1/files/../batches", 400, "", nil},
		{"files", "GET", "/openai_passthrough/v1/files/%2e%2e/batches", 400, "", nil},
		{"files", "GET", "/openai_passthrough/v1/files%2F..%2Fbatches", 400, "", nil},
		{"files", "GET", "/openai_passthrough/v1/files%5C..%5Cbatches", 400, "", nil},
		{"files", "GET", "/openai_passthrough/v1/files/..;/batches", 400, "", nil},
		{"files", "GET", "/openai_passthrough/v1/files/%252e%252e/batches", 400, "", nil},
		{"all", "POST", "/openai_passthrough/v1/chat/%63ompletions", 404, "unsupported_endpoint", nil},
		{"all", "POST", "/openai_passthrough/v1/chat/completions/", 404, "unsupported_endpoint", nil},
		{"all", "GET", "/openai/v1/files", 404, "unsupported_endpoint", nil},
		{"all", "GET", "/somebody/v1/files", 404, "", nil},
		{"all", "OPTIONS", files, 404, "", nil},
		{"all", "GET", "/azure/openai/files", 400, "deployment_ambiguous", nil},
		{"all", "GET", "/azure/openai/files", 404, "deployment_not_found", []option{with("x-gateway-model", "gpt")}},
		{"all", "GET", "/azure/openai/files", 404, "deployment_not_found", []option{with("x-gateway-model", "nobody")}},
		{"claude", "GET", files, 404, "deployment_not_found", nil},
		{"claude", "GET", files, 404, "deployment_not_found", []option{with("x-gateway-model", "gpt")}},
		{"all", "GET", files, 400, "guardrail_not_found", []option{with("x-gateway-guardrail-id", "nobody")}},
		{"all", "GET", files, 403, "guardrail_required", []option{with("x-gateway-guardrail-id", "words")}},
		{"all", "GET", files, 403, "prompt_required", []option{with("x-gateway-prompt-id", "p")}},
		{"guarded", "POST", files, 403, "guardrail_required", nil},
		{"prompted", "GET", files, 403, "prompt_required", nil},
		{"spent", "GET", files, 429, "budget_exceeded", nil},
		{"limited", "GET", files, 429, "rate_limit_exceeded", nil},
		{"blocked", "GET", files, 401, "key_blocked", nil},
		{"read only", "GET", files, 403, "route_not_allowed", nil},
		{"unknown", "GET", files, 401, "invalid_api_key", nil},
	} {
		var body io.Reader
		if c.method == "POST" {
			body = strings.NewReader(`{}`)
		}
		a := g.do(c.method, c.path, body, append(c.options, with("Authorization", "Bearer "+keys[c.key]))...)
		if c.code == "" && a.status == c.status {
			continue // Envoy, or the server behind it
		}
		refused(t, c.key+" "+c.method+" "+c.path, a, c.status, c.code)
	}
	for path, want := range map[string]string{
		"/vertex_ai/v1/projects/other/locations/europe-west4/endpoints":     "the project in the path",
		"/vertex_ai/v1/projects/my-project/locations/us-central1/endpoints": "the location in the path",
		"/vertex_ai/v1/%70rojects/other/locations/europe-west4/endpoints":   "the project in the path",
	} {
		if a := g.get(path, with("Authorization", "Bearer "+keys["all"])); a.status != 404 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if n := p.count() - before; n != 0 {
		t.Errorf("the provider got %d requests: %+v", n, p.last(t))
	}
	for _, list := range [][]string{{"passthrough:/v1/files"}, {"passthrough:/key/*"}, {"passthrough:"}, {"passthrough:/gemini/*/x"}} {
		if status, out := g.by(adminKey, "/key/generate", tree{"allowed_routes": list}); status != 422 && status != 400 {
			t.Errorf("%v is taken: %d %v", list, status, out)
		}
	}
	// Nobody gives a permission that the own key does not have.
	g.changes("/user/new", tree{"user_id": "ada", "user_role": "internal_user", "auto_create_key": false})
	for name, list := range map[string][]string{"without a list": nil, "with a star": {"llm_api_routes", "/key/*", "/openai_passthrough/*"}, "with some": {"llm_api_routes", "/key/*", "passthrough:/openai_passthrough/v1/files*"}} {
		ada := g.keyOf("", tree{"user_id": "ada", "allowed_routes": list})
		for path, body := range map[string]tree{
			"/key/generate": {"allowed_routes": []string{"llm_api_routes", "passthrough_routes"}},
			"/key/update":   {"key": ada, "allowed_routes": []string{"llm_api_routes", "passthrough:/openai_passthrough/v1/*"}},
		} {
			if status, out := g.by(ada, path, body); status != 403 {
				t.Errorf("a key %s gives the permission with %s: %d %v", name, path, status, out)
			}
		}
		given, want := 403, []string{"llm_api_routes", "passthrough:/openai_passthrough/v1/files/1"}
		if name == "with some" {
			given = 200
		}
		if status, out := g.by(ada, "/key/generate", tree{"allowed_routes": want}); status != given {
			t.Errorf("a key %s gives what it may: %d %v, want %d", name, status, out, given)
		}
	}
	if a := g.do("GET", files, nil, with("Authorization", "Bearer "+keys["files"])); a.status != 200 {
		t.Errorf("a permitted path: %d %s", a.status, a.body)
	}
}
