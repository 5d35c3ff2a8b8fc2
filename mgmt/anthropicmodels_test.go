package mgmt

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// newModels returns a server with models of the names m0 to m(n-1), and one of two deployments.
func newModels(t *testing.T, n int) *Server {
	t.Helper()
	s, node := newFake(t)
	spec := []catalog.DeploymentSpec{
		{ModelName: "two", Model: "openai/gpt-4o", APIKey: vault.NewSecret("k"), MaxInputTokens: 9000, MaxOutputTokens: 500},
		{ModelName: "two", Model: "openai/gpt-4o-mini", APIKey: vault.NewSecret("k"), MaxInputTokens: 7000, MaxOutputTokens: 600},
	}
	for i := range n {
		spec = append(spec, catalog.DeploymentSpec{ModelName: fmt.Sprint("m", i), Model: "openai/nobody-knows-it", APIKey: vault.NewSecret("k")})
	}
	cat, err := catalog.New(catalog.Spec{Deployments: spec}, catalog.Providers{"openai": {DefaultBase: "https://api.openai.com/v1", NeedsKey: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	node.mu.Lock()
	defer node.mu.Unlock()
	node.mu.view = cluster.NewView(cat, node.mu.view.Keys)
	return s
}

// claude makes a request one of Anthropic's clients.
func claude(r *http.Request) {
	r.Header.Set("X-Api-Key", masterKey)
	r.Header.Del("Authorization")
	r.Header.Set("Anthropic-Version", "2023-06-01")
}

// pageIDs returns the models of a page, in order, and whether there are more.
func pageIDs(t *testing.T, a answer) (ids string, more bool) {
	t.Helper()
	var list []string
	v := a.json(t)
	data, ok := v["data"].([]any)
	if a.status != http.StatusOK || !ok {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, m := range data {
		list = append(list, fmt.Sprint(m.(map[string]any)["id"]))
	}
	first, last := "<nil>", "<nil>"
	if len(list) > 0 {
		first, last = list[0], list[len(list)-1]
	}
	if fmt.Sprint(v["first_id"]) != first || fmt.Sprint(v["last_id"]) != last {
		t.Errorf("the ends of the page are wrong: %s", a.body)
	}
	more, _ = v["has_more"].(bool)
	return strings.Join(list, " "), more
}

func TestModelPages(t *testing.T) {
	s := newModels(t, 5)
	for _, c := range []struct {
		query, ids string
		more       bool
	}{
		{"", "m0 m1 m2 m3 m4 two", false},
		{"?beta=true&limit=1000", "m0 m1 m2 m3 m4 two", false},
		{"?limit=2", "m0 m1", true},
		{"?limit=2&after_id=m1", "m2 m3", true},
		{"?limit=2&after_id=m3", "m4 two", false},
		{"?after_id=two", "", false},
		{"?after_id=m2-which-is-gone", "m3 m4 two", false},
		{"?limit=2&before_id=m3", "m1 m2", true},
		{"?limit=2&before_id=m2", "m0 m1", false},
		{"?before_id=m0", "", false},
		{"?before_id=m2-which-is-gone&limit=1", "m2", true},
		{"?lifecycle[]=retired&lifecycle[]=active&limit=1", "m0", true},
		{"?lifecycle[]=retired", "", false},
	} {
		if ids, more := pageIDs(t, ask(t, s, "GET /v1/models"+c.query, "", claude)); ids != c.ids || more != c.more {
			t.Errorf("%s: %q, more %v", c.query, ids, more)
		}
	}
	if ids, more := pageIDs(t, ask(t, newModels(t, 30), "GET /v1/models", "", claude)); len(strings.Fields(ids)) != 20 || !more {
		t.Errorf("without a limit: %s", ids)
	}
}

// Read page by page in either direction, each model comes once.
func TestModelPagesAreComplete(t *testing.T) {
	s := newModels(t, 23)
	all, _ := pageIDs(t, ask(t, s, "GET /v1/models?limit=1000", "", claude))
	for _, limit := range []int{1, 4, 7, 24, 25} {
		forward, backward, cursor := "", "", ""
		for more := true; more; {
			var ids string
			ids, more = pageIDs(t, ask(t, s, fmt.Sprintf("GET /v1/models?limit=%d&after_id=%s", limit, cursor), "", claude))
			forward += " " + ids
			cursor = ids[strings.LastIndexByte(ids, ' ')+1:]
		}
		cursor = url.QueryEscape("\U0010FFFF")
		for more := true; more; {
			var ids string
			ids, more = pageIDs(t, ask(t, s, fmt.Sprintf("GET /v1/models?limit=%d&before_id=%s", limit, cursor), "", claude))
			backward = ids + " " + backward
			cursor, _, _ = strings.Cut(ids, " ")
		}
		if strings.TrimSpace(forward) != all || strings.TrimSpace(backward) != all {
			t.Errorf("pages of %d: %s, and %s", limit, forward, backward)
		}
	}
}

// Callers with the header anthropic-version get models and errors in Anthropic's form, others in OpenAI's.
func TestModelsByLanguage(t *testing.T) {
	s := newModels(t, 1)
	if a := ask(t, s, "GET /v1/models/two", "", nil); a.json(t)["object"] != "model" || a.header.Get("request-id") != "" {
		t.Errorf("for OpenAI's clients: %v %s", a.header, a.body)
	}
	if a := ask(t, s, "GET /v1/models?limit=none", "", nil); a.json(t)["object"] != "list" {
		t.Errorf("for OpenAI's clients: %s", a.body)
	}
	a := ask(t, s, "GET /v1/models/two", "", claude)
	if v := a.json(t); v["type"] != "model" || v["max_input_tokens"] != 7000.0 || v["max_tokens"] != 500.0 {
		t.Errorf("the smallest limits hold: %s", a.body)
	}
	if v := ask(t, s, "GET /models/m0", "", claude).json(t); v["max_input_tokens"] != nil || v["display_name"] != "m0" {
		t.Errorf("a model without known limits: %v", v)
	}
	for target, want := range map[string]string{
		"GET /v1/models/nope":                      "404 not_found_error",
		"GET /v1/models?limit=0":                   "400 invalid_request_error",
		"GET /v1/models?limit=1001":                "400 invalid_request_error",
		"GET /v1/models?limit=x":                   "400 invalid_request_error",
		"GET /v1/models?after_id=a&before_id=b":    "400 invalid_request_error",
		"GET /v1/models?lifecycle[]=new":           "400 invalid_request_error",
		"GET /v1/models?a=%zz":                     "400 invalid_request_error",
		"POST /v1/models":                          "405 invalid_request_error",
		"POST /v1/files":                           "404 not_found_error",
		"GET /v1/organizations/nowhere/to/be/seen": "404 not_found_error",
	} {
		a := ask(t, s, target, "", claude)
		v := a.json(t)
		e, _ := v["error"].(map[string]any)
		if fmt.Sprint(a.status, " ", e["type"]) != want || v["type"] != "error" || v["request_id"] != a.header.Get("request-id") || v["request_id"] == "" {
			t.Errorf("%s: %d %s", target, a.status, a.body)
		}
	}
	if a := ask(t, s, "GET /v1/models", "", as("")); a.json(t)["type"] != nil {
		t.Errorf("without a key, for OpenAI's clients: %s", a.body)
	}
	a = ask(t, s, "GET /v1/models", "", func(r *http.Request) { claude(r); r.Header.Del("X-Api-Key") })
	if e, _ := a.json(t)["error"].(map[string]any); a.status != http.StatusUnauthorized || e["type"] != "authentication_error" {
		t.Errorf("without a key: %d %s", a.status, a.body)
	}
	if a := ask(t, s, "POST /v1/messages", "", nil); a.json(t)["type"] != "error" {
		t.Errorf("a message without a body: %s", a.body)
	}
	if a := ask(t, s, "GET /key/list", "", func(r *http.Request) { claude(r); r.Header.Del("X-Api-Key") }); a.json(t)["detail"] == nil {
		t.Errorf("the management API has one form: %s", a.body)
	}
}

// Anthropic's SDK, strictly, accepts what its clients get.
func TestModelsFitTheSDK(t *testing.T) {
	s := newModels(t, 2)
	var in strings.Builder
	for _, c := range [][2]string{
		{"models", "GET /v1/models"},
		{"models", "GET /v1/models?after_id=two"},
		{"model", "GET /v1/models/two"},
		{"model", "GET /v1/models/m0"},
		{"error", "GET /v1/models/nope"},
		{"model", "GET /v1/models/nope"},
	} {
		line, err := json.Marshal(map[string]string{"name": c[1], "kind": c[0], "value": ask(t, s, c[1], "", claude).body})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	python := os.Getenv("MODELGATEWAY_PYTHON")
	if python == "" {
		var err error
		if python, err = filepath.Abs("../.tmp/bin/python-sdks"); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), python, "../extproc/anthropic/testdata/judge.py")
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.CombinedOutput()
	verdicts := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(verdicts) != 6 {
		t.Fatalf("%v: %s", err, out)
	}
	for i, v := range verdicts {
		if accepted := strings.Contains(v, `"problems": []`); accepted != (i < 5) { // the last is an error, judged as a model
			t.Errorf("%s", v)
		}
	}
}
