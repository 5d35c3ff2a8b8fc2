package xds_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/envoy/bootstrap"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/xds"
)

const usual = catalog.RetryOn5xx | catalog.RetryOn429 | catalog.RetryOnTimeout | catalog.RetryOnConnection

// plan names the clusters of a plan: the first attempt's as it is, the later ones' in variant v.
func plan(v contract.Variant, endpoints ...catalog.Endpoint) []string {
	out := []string{contract.ClusterName(endpoints[0].ID, contract.Bare)}
	for _, e := range endpoints[1:] {
		out = append(out, contract.ClusterName(e.ID, v))
	}
	return out
}

// TestAttempts sends requests through a real Envoy to two providers, of which one fails.
func TestAttempts(t *testing.T) {
	r := newRig(t, xds.Config{})
	bad := newProvider(t, func(w http.ResponseWriter, q *http.Request) {
		code := 500
		_, _ = fmt.Sscanf(q.Header.Get("Anthropic-Beta"), "%d", &code)
		if code == 1 { // does not answer
			<-q.Context().Done()
			return
		}
		w.WriteHeader(code)
	})
	good := newProvider(t, fine)
	e := r.publish(usual, bad.URL, good.URL, "http://127.0.0.1:1", "http://nothing.invalid")
	r.serve(e...)
	failing, serving, closed, unknown := e[0], e[1], e[2], e[3]
	large := strings.Repeat("0123456789abcdef", 5<<20/16)
	retry := map[string]string{contract.HeaderMaxRetries: "1"}

	for _, tc := range []struct {
		name   string
		order  order
		body   string
		header []string
		status int
		sees   string   // the body that the good provider sees; empty: as it came; "-": none
		failed []uint32 // statuses in the attempt log
	}{
		{
			name: "body_as_it_came", order: order{plan: plan(contract.Rewrite, serving)},
			body: `{"a":1}`, status: 200,
		},
		{
			name: "body_made_longer", order: order{plan: plan(contract.Rewrite, serving), body: `{"longer":"body"}`},
			body: `{}`, status: 200, sees: `{"longer":"body"}`,
		},
		{
			name: "large_body_made_shorter", order: order{plan: plan(contract.Rewrite, serving), body: `{"short":1}`},
			body: large, status: 200, sees: `{"short":1}`,
		},
		{
			name: "retry_of_a_large_body", order: order{plan: plan(contract.Rewrite, failing, serving), headers: retry},
			body: large, status: 200, failed: []uint32{500},
		},
		{
			name: "large_body_with_retries_left", order: order{plan: plan(contract.Rewrite, serving, failing), headers: retry},
			body: large, status: 200,
		},
		{
			name: "retry_with_another_body", order: order{plan: plan(contract.Rewrite, failing, serving), headers: retry, rewrite: `{"re":"written"}`, path: "/other?x=1"},
			body: `{}`, status: 200, sees: `{"re":"written"}`, failed: []uint32{500},
		},
		{
			name: "no_retry_unless_asked", order: order{plan: plan(contract.Rewrite, failing, serving)},
			body: `{}`, status: 500, sees: "-", failed: []uint32{500},
		},
		{
			name: "401_is_final", order: order{plan: plan(contract.Rewrite, failing, serving), headers: map[string]string{
				contract.HeaderMaxRetries: "1", "anthropic-beta": "401",
			}},
			body: `{}`, status: 401, sees: "-", failed: []uint32{401},
		},
		{
			name: "401_is_retried_when_listed", order: order{plan: plan(contract.Rewrite, failing, serving), headers: map[string]string{
				contract.HeaderMaxRetries: "1", contract.HeaderRetriableCodes: "401,403", "anthropic-beta": "401",
			}},
			body: `{}`, status: 200, failed: []uint32{401},
		},
		{
			name: "529_is_retried", order: order{plan: plan(contract.Rewrite, failing, serving), headers: map[string]string{
				contract.HeaderMaxRetries: "1", "anthropic-beta": "529",
			}},
			body: `{}`, status: 200, failed: []uint32{529},
		},
		{
			name: "timeout_is_retried", order: order{plan: plan(contract.Rewrite, failing, serving), headers: map[string]string{
				contract.HeaderMaxRetries: "1", contract.HeaderPerTryTimeout: "2000", "anthropic-beta": "1",
			}},
			body: `{}`, status: 200, failed: []uint32{0},
		},
		{
			name: "refused_connection_is_retried", order: order{plan: plan(contract.Rewrite, closed, serving), headers: retry},
			body: `{}`, status: 200, failed: []uint32{0},
		},
		{
			name: "name_that_does_not_resolve_is_retried", order: order{plan: plan(contract.Rewrite, unknown, serving), headers: retry},
			body: `{}`, status: 200, failed: []uint32{0},
		},
		{
			name: "clients_cannot_steer_the_router", order: order{plan: plan(contract.Rewrite, failing, serving)},
			body: `{}`, header: []string{
				"x-envoy-max-retries", "3", "x-envoy-retry-on", "5xx", "x-envoy-hedge-on-per-try-timeout", "true",
				"x-envoy-upstream-rq-timeout-ms", "1", "x-envoy-upstream-rq-per-try-timeout-ms", "1",
				"x-envoy-retriable-status-codes", "500", "x-forwarded-for", "10.0.0.1", "x-envoy-internal", "true",
			},
			status: 500, sees: "-", failed: []uint32{500},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r.t = t
			before := len(good.requests())
			r.proc.set(tc.order)
			a := r.post(tc.body, tc.header...)
			if a.status != tc.status {
				t.Errorf("status %d, want %d: %s", a.status, tc.status, a.body)
			}
			if diff := gocmp.Diff([]string{"request_headers", "request_body", "response_headers"}, r.proc.saw()); diff != "" {
				t.Errorf("messages to ext_proc (-want +got):\n%s", diff)
			}
			for _, want := range tc.failed {
				entry := r.log.next(t)
				if got := entry.GetResponse().GetResponseCode().GetValue(); got != want {
					t.Errorf("attempt log has status %d, want %d", got, want)
				}
				if want == 0 && entry.GetCommonProperties().GetResponseFlags() == nil {
					t.Error("attempt log has neither status nor flags")
				}
				if got, want := entry.GetCommonProperties().GetUpstreamCluster(), tc.order.plan[0]; got != want {
					t.Errorf("attempt log has cluster %s, want %s", got, want)
				}
				if got, want := entry.GetRequest().GetRequestId(), r.proc.ids[0]; got != want || want == "" {
					t.Errorf("attempt log has request id %q, want %q", got, want)
				}
			}
			sees := good.requests()[before:]
			switch {
			case tc.sees == "-":
				if len(sees) != 0 {
					t.Errorf("the good provider saw %d requests, want none", len(sees))
				}
			case len(sees) != 1:
				t.Errorf("the good provider saw %d requests, want 1", len(sees))
			default:
				want := tc.sees
				if want == "" {
					want = tc.body
				}
				if sees[0].body != want {
					t.Errorf("the provider saw a body of %d bytes, want the %d expected", len(sees[0].body), len(want))
				}
				if sees[0].length != int64(len(want)) {
					t.Errorf("the provider saw content-length %d, want %d", sees[0].length, len(want))
				}
				if tc.order.path != "" && sees[0].path != tc.order.path {
					t.Errorf("the provider saw path %s, want %s", sees[0].path, tc.order.path)
				}
			}
		})
	}
}

// A body that ext_proc gets in pieces reaches the provider once, whether or not Envoy's
// router keeps a copy of it for retries, and whenever an attempt fails.
func TestBodyInPieces(t *testing.T) {
	r := newRig(t, xds.Config{})
	failing, serving := newProvider(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }), newProvider(t, fine)
	early := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	t.Cleanup(early.Close)
	reset := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.CopyN(io.Discard, q.Body, 1<<20)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(reset.Close)
	e := r.publish(usual, failing.URL, serving.URL, early.URL, reset.URL)
	r.serve(e...)
	body := strings.Repeat("0123456789abcdef", 5<<20/16)
	for _, tc := range []struct {
		name    string
		plan    []string
		retries string
		rewrite string
	}{
		{"no_retry", plan(contract.Rewrite, e[1]), "0", ""},
		{"retries_left", plan(contract.Rewrite, e[1], e[0]), "1", ""},
		{"retried", plan(contract.Rewrite, e[0], e[1]), "1", ""},
		{"failed_before_it_was_read", plan(contract.Rewrite, e[2], e[1]), "1", ""},
		{"failed_before_it_was_read_and_rewritten", plan(contract.Rewrite, e[2], e[1]), "1", strings.Repeat("x", 1<<20)},
		{"reset_while_it_was_read", plan(contract.Rewrite, e[3], e[1]), "1", ""},
		{"reset_while_it_was_read_and_rewritten", plan(contract.Rewrite, e[3], e[1]), "1", strings.Repeat("x", 6<<20)},
	} {
		for _, declared := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s_declared_%t", tc.name, declared), func(t *testing.T) {
				r.t = t
				before := len(serving.requests())
				r.proc.set(order{plan: tc.plan, headers: map[string]string{contract.HeaderMaxRetries: tc.retries}, rewrite: tc.rewrite})
				q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if !declared {
					q.ContentLength = -1
				}
				a, err := http.DefaultClient.Do(q)
				if err != nil {
					t.Fatal(err)
				}
				_ = a.Body.Close()
				sees := serving.requests()[before:]
				if a.StatusCode != http.StatusOK || len(sees) != 1 {
					t.Fatalf("status %d, the provider saw %d requests", a.StatusCode, len(sees))
				}
				want := cmp.Or(tc.rewrite, body)
				if sees[0].body != want {
					t.Errorf("the provider saw %d bytes, want %d", len(sees[0].body), len(want))
				}
			})
		}
	}
}

// TestCheck has an answer looked at before the client sees any of it.
func TestCheck(t *testing.T) {
	r := newRig(t, xds.Config{})
	broken := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "data: {\"error\":\"overloaded\"}\n\n")
	})
	good := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
		}
	})
	e := r.publish(usual|catalog.RetryOnStreamError, broken.URL, good.URL)
	r.serve(e...)
	r.eventually("check clusters", func() bool { return r.server.Acked(e[1].ID, contract.Check) })
	r.proc.set(order{
		plan: []string{contract.ClusterName(e[0].ID, contract.Check), contract.ClusterName(e[1].ID, contract.Check)},
		next: `"error"`, headers: map[string]string{contract.HeaderMaxRetries: "1"},
	})
	a := r.post(`{"stream":true}`)
	if want := "data: 0\n\ndata: 1\n\ndata: 2\n\n"; a.status != 200 || a.body != want {
		t.Errorf("status %d, body %q, want the second provider's alone", a.status, a.body)
	}
	if n := len(r.proc.upstream); n != 2 || r.proc.upstream[1]["role"] != contract.RoleCheck {
		t.Errorf("the upstream filters were asked %d times: %v", n, r.proc.upstream)
	}
}

// TestLocalReplies holds Envoy's own answers to the gateway's shape.
func TestLocalReplies(t *testing.T) {
	r := newRig(t, xds.Config{})
	good := newProvider(t, fine)
	e := r.publish(usual, good.URL)
	r.serve(e...)
	r.proc.set(order{plan: []string{"no such cluster"}})
	for _, tc := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		code                     string
	}{
		{"plan_without_cluster", "POST", "/v1/chat/completions", `{}`, nil, 503, "service_unavailable"},
		{"trace", "TRACE", "/v1/chat/completions", "", nil, 405, "method_not_allowed"},
		{"escaped_slash", "GET", "/v1%2fmodels", "", nil, 400, "invalid_request"},
		{"large_headers", "GET", "/", "", []string{"X-Large", strings.Repeat("x", 70<<10)}, 431, "request_headers_too_large"},
		{"unknown_method", "BREW", "/", "", nil, 400, "invalid_request"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r.t = t
			a := r.do(tc.method, tc.path, tc.body, tc.header...)
			if a.status != tc.status {
				t.Errorf("status %d, want %d: %s", a.status, tc.status, a.body)
			}
			checkShape(t, a, tc.code)
		})
	}
	t.Run("ours_pass_unchanged", func(t *testing.T) {
		r.t = t
		r.proc.set(order{refuse: 429})
		a := r.post(`{}`)
		if a.status != 429 || a.body != `{"error":{"message":"ours"}}` || a.header.Get("X-Ours") != "yes" {
			t.Errorf("the processor's answer was changed: %v", a)
		}
	})
	t.Run("no_plan_is_for_the_gateway", func(t *testing.T) {
		r.t = t
		r.proc.set(order{})
		for _, a := range []answer{
			r.post(`{}`), r.post(""), r.do(http.MethodGet, "/v1/chat/completions", ""), r.do(http.MethodPost, "/v1//chat/completions/x", "{}"),
			r.do(http.MethodGet, "/v1/models", "", "Cookie", "a=b"),
		} {
			if a.body != "gateway" {
				t.Errorf("not answered by the gateway: %v", a)
			}
		}
		if len(good.requests()) != 0 {
			t.Error("a provider was reached without a plan")
		}
	})
}

// TestSlowBody: a request that never comes to its end is cut, and says so.
func TestSlowBody(t *testing.T) {
	r := newRig(t, xds.Config{}, func(c *bootstrap.Config) { c.RequestTimeout = time.Second })
	r.publish(usual)
	r.serve()
	pr, pw := io.Pipe()
	defer func() { _ = pw.Close() }()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/chat/completions", pr)
	if err != nil {
		t.Fatal(err)
	}
	q.ContentLength = 100
	resp, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("status %d, %v, want 408", resp.StatusCode, err)
	}
	checkShape(t, answer{resp.StatusCode, resp.Header, string(text)}, "request_timeout")
}

// plainID is the form of every request id, also where Envoy replies by itself.
var plainID = regexp.MustCompile(`^req_[0-9a-f]{32}$`)

func checkShape(t *testing.T, a answer, code string) {
	t.Helper()
	var body struct {
		Error struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Code    string  `json:"code"`
			Param   *string `json:"param"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		t.Fatalf("body %q: %v", a.body, err)
	}
	if body.Error.Code != code || body.Error.Message == "" || body.Error.Type == "" {
		t.Errorf("error %+v, want code %s", body.Error, code)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content-type %q", got)
	}
	if a.status == 503 && a.header.Get("Retry-After") == "" {
		t.Error("503 without retry-after")
	}
	if got := a.header.Get("X-Request-Id"); a.status != 400 && a.status != 431 && !plainID.MatchString(got) {
		t.Errorf("x-request-id %q", got)
	}
	if got := a.header.Get("Server"); got != "modelgateway" {
		t.Errorf("server %q", got)
	}
}
