package mgmt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// parameter is a parameter of a path.
var parameter = regexp.MustCompile(`\{([a-z_]+)(?:\.\.\.|=\*\*)?\}`)

// walk calls f for every route with its access. It fills in parameters in paths.
func walk(s *Server, f func(target string, a surface.Access, e surface.Effect)) {
	values := map[string]string{"model": "fast", "node_id": someNode, "key": "sk-nobody-has-this-key-00", "event_id": "evt_000000000000002a"}
	fill := func(path string) string {
		return parameter.ReplaceAllStringFunc(path, func(p string) string { return cmp.Or(values[parameter.FindStringSubmatch(p)[1]], "x") })
	}
	for _, r := range append(s.plain(), s.files()...) {
		for _, path := range r.paths {
			e := surface.Change
			if r.method == http.MethodGet || slices.Contains(dataplane.Paths(), path) {
				e = surface.Read
			}
			f(r.method+" "+fill(path), r.access, e)
		}
	}
	for _, r := range surface.Routes() {
		if op, ok := s.operations.All[r.RPC]; ok {
			f(r.Method+" "+fill(r.Path), op.Access, op.Effect)
		}
	}
}

// Every route, with every kind of key: callers without the right are denied before anything
// else happens, and keys without a role cannot use a route that changes state.
func TestEveryRouteIdentifiesTheCaller(t *testing.T) {
	s, n := newFake(t)
	n.fail(fault.New(fault.Unavailable, "", "The nodes are away."))
	walk(s, func(target string, a surface.Access, e surface.Effect) {
		if strings.Contains(target, "{") {
			t.Errorf("%s: a parameter is not filled in", target)
		}
		for key, may := range map[string]bool{
			"": a == surface.Public, "sk-nobody-has-this-key-00": a == surface.Public, "not a key": a == surface.Public,
			plainKey: a <= surface.AnyKey, masterKey: true,
		} {
			got := ask(t, s, target, "", as(key))
			if refused := got.status == http.StatusUnauthorized || got.status == http.StatusForbidden; refused == may {
				t.Errorf("%s with key %q: %d %s", target, key, got.status, got.body)
			}
			if got.status == http.StatusForbidden && got.refusal(t) != "insufficient_permissions" {
				t.Errorf("%s with key %q: %s", target, key, got.body)
			}
		}
		if e.Changes() && a < surface.Scoped {
			t.Errorf("%s changes state and is open to any key", target)
		}
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.mu.actors) > 0 || n.mu.restore != nil {
		t.Errorf("something was changed: %v", n.mu.actors)
	}
}

// declared returns the table of operations by their full names.
func declared() map[string]surface.Operation {
	out := map[string]surface.Operation{}
	for _, s := range surface.Services() {
		for _, op := range s.Operations {
			out["/"+s.Name+"/"+op.Name] = op
		}
	}
	return out
}

// The table of operations has exactly the operations that are served.
func TestEveryRowIsServed(t *testing.T) {
	s, _ := newFake(t)
	for name := range declared() {
		if _, ok := s.operations.All[name]; !ok {
			t.Errorf("%s is in the table and not served", name)
		}
	}
	for _, r := range surface.Routes() {
		if _, ok := s.operations.All[r.RPC]; !ok {
			t.Errorf("%s %s leads to %s, which is not served", r.Method, r.Path, r.RPC)
		}
	}
}

func TestManagementErrorsHaveADetail(t *testing.T) {
	s, _ := newFake(t)
	for _, target := range []string{"POST /key/list", "GET /nothing/here", "POST /model/delete"} {
		a := ask(t, s, target, "", as(""))
		v := a.json(t)
		e, _ := v["error"].(map[string]any)
		if managed := target == "POST /model/delete"; managed != (v["detail"] != nil) || managed && v["detail"] != e["message"] {
			t.Errorf("%s: %s", target, a.body)
		}
	}
	if a := ask(t, s, "GET /key/list", "", as("")); a.json(t)["detail"] == nil || a.header.Get("Www-Authenticate") != "Bearer" {
		t.Errorf("without a key: %v %s", a.header, a.body)
	}
	if a := ask(t, s, "GET /v1/models/nope", "", nil); a.json(t)["detail"] != nil {
		t.Errorf("OpenAI's route: %s", a.body)
	}
}

// The response lists every wrong field with its place.
func TestInvalidRequestsNameTheirFields(t *testing.T) {
	s, _ := newFake(t)
	for _, c := range []struct {
		target, body string
		want         []string // of each problem: type, loc
	}{
		{"GET /spend/logs?limit=1.5", "", []string{"invalid_type [query limit]"}},
		{"GET /cluster/status?nope=1", "", []string{"unknown_parameter [query nope]"}},
		{"DELETE /cluster/members/nope", "", []string{"invalid_value [path node_id]"}},
		{"POST /cluster/restore", "", []string{"confirmation_required [query confirm]"}},
		{"POST /key/generate", `{"models":["a",1]}`, []string{"invalid_type [body models 1]"}},
		{"POST /key/generate", `{"key":"short","models":["a",""],"max_budget":-1}`, []string{
			"invalid_value [body models 1]", "invalid_value [body key]", "invalid_value [body max_budget]",
		}},
		{"POST /key/generate", `{"model_max_budget":{"a":{"max_budget":-1}}}`, []string{"invalid_value [body model_max_budget a max_budget]"}},
		{"POST /model/new", `{}`, []string{"missing_required_parameter [body model_name]", "missing_required_parameter [body gateway_params]"}},
	} {
		a := ask(t, s, c.target, c.body, nil)
		v := a.json(t)
		e, _ := v["error"].(map[string]any)
		var got []string
		list, _ := v["detail"].([]any)
		for _, one := range list {
			entry, _ := one.(map[string]any)
			got = append(got, fmt.Sprint(entry["type"], " ", entry["loc"]))
			if text, _ := entry["msg"].(string); text == "" {
				t.Errorf("%s %s: no message in %v", c.target, c.body, entry)
			}
		}
		if a.status != http.StatusUnprocessableEntity || e["code"] != "validation_error" || e["type"] != "invalid_request_error" || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s %s: %d %s", c.target, c.body, a.status, a.body)
		}
	}
}

// posts returns all routes that take a body, each with a valid one.
func posts() map[string]string {
	return map[string]string{
		"POST /key/generate":   `{}`,
		"POST /key/delete":     `{"key_aliases":["x"]}`,
		"DELETE /key/delete":   `{"key_aliases":["x"]}`,
		"POST /model/new":      `{"model_name":"m","gateway_params":{"model":"openai/x","api_key":"k"}}`,
		"POST /model/delete":   `{"id":"x"}`,
		"DELETE /model/delete": `{"id":"x"}`,
		"POST /config/update":  `{"router_settings":{}}`,
		"POST /cluster/remove": `{"node_id":"33333333333333333333333333333333"}`,
	}
}

func TestBadBodies(t *testing.T) {
	s, n := newFake(t)
	for target, good := range posts() {
		for name, c := range map[string]struct {
			body   string
			change func(r *http.Request)
			status int
			code   string
		}{
			"a list":              {`[]`, nil, 400, "invalid_json"},
			"a string":            {`"x"`, nil, 400, "invalid_json"},
			"null":                {`null`, nil, 400, "invalid_json"},
			"cut off":             {good[:len(good)-1], nil, 400, "invalid_json"},
			"two values":          {good + "{}", nil, 400, "invalid_json"},
			"a name twice":        {`{"x_":1,"x_":2}`, nil, 400, "invalid_json"},
			"not UTF-8":           {"{\"x\":\"\xff\"}", nil, 400, "invalid_json"},
			"unknown field":       {`{"is_latest":true}`, nil, 422, "unknown_field is_latest"},
			"camel case":          {`{"keyAlias":"x"}`, nil, 422, "unknown_field keyAlias"},
			"too large":           {big(rest.MaxBody), nil, 413, "request_too_large"},
			"too large, unknown":  {big(rest.MaxBody), func(r *http.Request) { r.ContentLength = -1 }, 413, "request_too_large"},
			"plain text":          {good, with("Content-Type", "text/plain"), 415, "unsupported_media_type"},
			"no content type":     {good, with("Content-Type", ""), 415, "unsupported_media_type"},
			"a form":              {good, with("Content-Type", "application/x-www-form-urlencoded"), 415, "unsupported_media_type"},
			"utf-16":              {good, with("Content-Type", "application/json; charset=utf-16"), 415, "unsupported_media_type"},
			"compressed":          {good, with("Content-Encoding", "gzip"), 415, "unsupported_media_type"},
			"body in the query":   {good, func(r *http.Request) { r.URL.RawQuery = "body=%7B%7D" }, 422, "unknown_parameter body"},
			"a slow body":         {good, func(r *http.Request) { r.Body = io.NopCloser(iotest.ErrReader(os.ErrDeadlineExceeded)) }, 408, "request_timeout"},
			"a body that breaks":  {good, func(r *http.Request) { r.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)) }, 400, "invalid_body"},
			"a query of nonsense": {good, func(r *http.Request) { r.URL.RawQuery = "%zz" }, 400, "invalid_parameter"},
		} {
			a := ask(t, s, target, c.body, c.change)
			if a.status != c.status || a.refusal(t) != c.code {
				t.Errorf("%s, %s: %d %s", target, name, a.status, a.body)
			}
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.mu.actors)+len(n.mu.removed) > 0 {
		t.Errorf("a bad request changed something: %v %v", n.mu.actors, n.mu.removed)
	}
}

// No header and no form changes the method of a request.
func TestMethodsAreWhatTheySay(t *testing.T) {
	s, n := newFake(t)
	a := ask(t, s, "POST /key/info", "key=x", func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Http-Method-Override", "GET")
	})
	if a.status != http.StatusMethodNotAllowed {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = ask(t, s, "GET /key/list", "", func(r *http.Request) {
		r.Header.Set("X-Http-Method-Override", "POST")
		r.Header.Set("Grpc-Timeout", "nonsense")
		r.Header.Set("Grpc-Metadata-Size", "0")
	})
	if a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.mu.actors) > 0 {
		t.Errorf("changed by %v", n.mu.actors)
	}
}

func TestBadQueries(t *testing.T) {
	s, _ := newFake(t)
	for target, want := range map[string]string{
		"GET /key/list?page=0":                    "invalid_value page",
		"GET /key/list?page=-1":                   "invalid_value page",
		"GET /key/list?page=1.5":                  "invalid_type page",
		"GET /key/list?page=99999999999":          "invalid_type page",
		"GET /key/list?page=":                     "invalid_type page",
		"GET /key/list?size=0":                    "invalid_value size",
		"GET /key/list?size=101":                  "invalid_value size",
		"GET /key/list?page=1&page=2":             "invalid_value page",
		"GET /key/list?return_full_object=maybe":  "invalid_type return_full_object",
		"GET /key/list?nope=x":                    "unknown_parameter nope",
		"GET /key/list?page.x=1":                  "unknown_parameter page.x",
		"GET /key/info?key=nonsense":              "invalid_value key",
		"GET /key/info?key=sha256:12":             "invalid_value key",
		"GET /model/info?teamId=x":                "unknown_parameter teamId",
		"GET /cluster/status?verbose=1":           "unknown_parameter verbose",
		"GET /cluster/status?%zz":                 "invalid_parameter",
		"DELETE /cluster/members/nope":            "invalid_value node_id",
		"DELETE /cluster/members/" + masterKey:    "invalid_value node_id",
		"DELETE /cluster/members/x?node_id=y":     "invalid_value node_id",
		"GET /spend/logs?limit=1001":              "invalid_value limit",
		"GET /spend/logs?limit=-1":                "invalid_value limit",
		"GET /spend/logs?start_date=9999":         "invalid_value start_date",
		"GET /spend/logs?api_key=sha256:nonsense": "invalid_value api_key",
	} {
		a := ask(t, s, target, "", nil)
		status := http.StatusUnprocessableEntity
		if want == "invalid_parameter" {
			status = http.StatusBadRequest
		}
		if a.status != status || a.refusal(t) != want {
			t.Errorf("%s: %d %s, want %s", target, a.status, a.body, want)
		}
	}
}

// Without a quorum every response is 503, and comes soon.
func TestMinorityNeverSucceeds(t *testing.T) {
	s, n := newFake(t)
	targets := posts()
	for _, target := range []string{"GET /key/info?key=" + plainKey, "GET /cluster/status", "GET /cluster/members", "DELETE /cluster/members/33333333333333333333333333333333", "GET /cluster/snapshot"} {
		targets[target] = ""
	}
	for _, wait := range []time.Duration{0, 2 * time.Second, time.Hour} {
		n.fail(&fault.Error{Kind: fault.Unavailable, Detail: "No majority.", RetryAfter: wait})
		for target, body := range targets {
			a := ask(t, s, target, body, nil)
			after, err := strconv.Atoi(a.header.Get("Retry-After"))
			if a.status != http.StatusServiceUnavailable || err != nil || after < 1 || after > 5 {
				t.Errorf("%s: %d, retry after %q: %s", target, a.status, a.header.Get("Retry-After"), a.body)
			}
		}
	}
}

// A node that does not decide in time is given up. The response to a change says that the
// change may still happen.
func TestNodesThatHang(t *testing.T) {
	s, n := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		n.mu.Lock()
		n.mu.hangs = true
		n.mu.Unlock()
		targets := posts()
		targets["GET /cluster/status"] = ""
		for target, body := range targets {
			start := time.Now()
			a := ask(t, s, target, body, nil)
			if target == "POST /model/new" || body == "" || target == "POST /key/generate" {
				want := "outcome_unknown"
				if body == "" {
					want = "service_unavailable"
				}
				if a.refusal(t) != want {
					t.Errorf("%s: %s", target, a.body)
				}
			}
			if took := time.Since(start); a.status != http.StatusServiceUnavailable || took > 5*time.Second {
				t.Errorf("%s: %d after %v: %s", target, a.status, took, a.body)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if a := ask(t, s, "GET /cluster/status", "", func(r *http.Request) { *r = *r.WithContext(ctx) }); a.status != 499 {
			t.Errorf("a caller that left: %d %s", a.status, a.body)
		}
	})
}

// An error without a kind is a bug of the gateway, and its text is not in the response.
func TestInternalErrorsAreWithheld(t *testing.T) {
	s, n := newFake(t)
	n.fail(errors.New("secret of the machine"))
	for target, body := range posts() {
		if a := ask(t, s, target, body, nil); a.status != http.StatusInternalServerError || strings.Contains(a.body, "secret") {
			t.Errorf("%s: %d %s", target, a.status, a.body)
		}
	}
}

// Whatever a body contains, the request succeeds, or its error names the problem; it is never
// an internal error.
func TestNoBodyBreaksAnything(t *testing.T) {
	s, _ := newFake(t)
	names := []string{
		"models", "duration", "key_alias", "metadata", "key", "blocked", "keys", "key_aliases", "model_name", "gateway_params", "litellm_params",
		"model_info", "id", "model", "api_key", "rpm", "order", "timeout", "extra_headers", "prices", "input_cost_per_token", "drop_params", "max_tokens",
		"router_settings", "if_revision", "num_retries", "retry_on", "fallbacks", "model_group_alias", "node_id", "", "__proto__", "a.b",
	}
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaves := []*rapid.Generator[any]{
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Float64Range(-1e300, 1e300).AsAny(), rapid.IntRange(-5, 5).AsAny(),
			rapid.SampledFrom([]string{"openai/x", "1mo", "fast", "NaN", "-0", "os.environ/HOME"}).AsAny(),
		}
		if depth > 0 {
			leaves = append(leaves, rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 0, 3).AsAny(),
				rapid.MapOfN(rapid.SampledFrom(names), rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 0, 6).AsAny())
		}
		return rapid.OneOf(leaves...)
	}
	rapid.Check(t, func(rt *rapid.T) {
		body, err := json.Marshal(rapid.MapOfN(rapid.SampledFrom(names), value(3), 0, 8).Draw(rt, "body"))
		if err != nil {
			rt.Fatal(err)
		}
		for target := range posts() {
			a := ask(t, s, target, string(body), nil)
			if a.status >= 500 || a.status >= 400 && a.refusal(t) == "" {
				rt.Fatalf("%s %s: %d %s", target, body, a.status, a.body)
			}
		}
	})
}
