package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// apiPythonPath is the Python that has the readers of API descriptions. There is
// no test without one.
func apiPythonPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("MODELGATEWAY_API_PYTHON")
	if path == "" {
		path = ".tmp/bin/python-api"
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no Python with schemathesis; run: make api-tools (%v)", err)
	}
	return path
}

// A validator of others finds the description to be OpenAPI 3.1, and every example
// in it to be as the schema beside it says.
func TestOpenAPIIsValid(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, apiPythonPath(t), "tools/openapi/valid.py", "proto/gen/openapi.json").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// described are the methods of each path of the description, and whether they
// need no key.
func described(t *testing.T, document []byte) map[string]map[string]bool {
	t.Helper()
	var d struct {
		Paths map[string]map[string]struct {
			Security *[]any `json:"security"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{}
	for path, item := range d.Paths {
		out[path] = map[string]bool{}
		for verb, o := range item {
			out[path][strings.ToUpper(verb)] = o.Security != nil && len(*o.Security) == 0
		}
	}
	return out
}

// reaches reports whether a path is one of a template's: /team/block is one of
// /team/{team_id}, too.
func reaches(template, path string) bool {
	pattern := regexp.MustCompile(`\\\{[^}]*\}`).ReplaceAllString(regexp.QuoteMeta(template), "[^/]+")
	return regexp.MustCompile("^" + pattern + "$").MatchString(path)
}

// exampleOf is an operation with the request that its description shows.
type exampleOf struct {
	Parameters []struct {
		Name     string         `json:"name"`
		In       string         `json:"in"`
		Required bool           `json:"required"`
		Example  jsontext.Value `json:"example"`
	} `json:"parameters"`
	Body struct {
		Content map[string]struct {
			Example jsontext.Value `json:"example"`
		} `json:"content"`
	} `json:"requestBody"`
}

// send makes the request that the description shows, as an admin.
func (g *gatewayProcess) send(method, path string, o exampleOf) (status int, answer []byte) {
	g.t.Helper()
	query := url.Values{}
	for _, p := range o.Parameters {
		var value any
		if p.Example != nil {
			if err := json.Unmarshal(p.Example, &value); err != nil {
				g.t.Fatal(err)
			}
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(value)))
		case p.In == "query" && p.Required:
			query.Set(p.Name, fmt.Sprint(value))
		}
	}
	media, body := "application/json", []byte(o.Body.Content["application/json"].Example)
	if form, ok := o.Body.Content["multipart/form-data"]; ok {
		media, body = g.formOf(form.Example)
	}
	req, err := http.NewRequest(method, g.url+path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminKey)
	if o.Body.Content != nil {
		req.Header.Set("Content-Type", media)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	answer, err = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		g.t.Error(err)
	}
	return resp.StatusCode, answer
}

// formOf returns the form that an example describes, and its content type.
func (g *gatewayProcess) formOf(example jsontext.Value) (media string, body []byte) {
	g.t.Helper()
	var fields map[string]string
	if err := json.Unmarshal(example, &fields); err != nil {
		g.t.Fatal(err)
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		create := w.CreateFormField
		if name == "file" || name == "image" {
			create = func(name string) (io.Writer, error) { return w.CreateFormFile(name, name) }
		}
		to, err := create(name)
		if err != nil {
			g.t.Fatal(err)
		}
		_, _ = io.WriteString(to, fields[name])
	}
	_ = w.Close()
	return w.FormDataContentType(), b.Bytes()
}

// The requests that the description shows are right: they are done, unless what
// they are about is not there, or is there already.
func TestOpenAPIExamples(t *testing.T) {
	t.Parallel()
	g := startGateway(t, models(newUpstream(t), schemathesisModels()...))
	text, err := os.ReadFile("proto/gen/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths map[string]map[string]exampleOf `json:"paths"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, verb := range slices.Sorted(maps.Keys(d.Paths[path])) {
			o := d.Paths[path][verb]
			if path == "/cluster/restore" || path == "/model/discover" { // the body of one is no JSON, and the other asks real providers
				continue
			}
			status, answer := g.send(strings.ToUpper(verb), path, o)
			if status != http.StatusOK && status != http.StatusNotFound && status != http.StatusConflict {
				t.Errorf("%s %s: %d %s\nfor %s", verb, path, status, answer, o.Body.Content)
			}
		}
	}
}

// knock asks for a path without a key and without a body.
func (g *gatewayProcess) knock(method, path string) *http.Response {
	g.t.Helper()
	req, err := http.NewRequest(method, g.url+path, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp
}

// The gateway has the operations of its description, no other methods at their
// paths, and lets nobody in without a key where the description asks for one.
func TestOpenAPIIsWhatIsServed(t *testing.T) {
	t.Parallel()
	g := startGateway(t, models(newUpstream(t), "fast=openai/fake-gpt"))
	resp, err := http.Get(g.url + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	served, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %d", err, resp.StatusCode)
	}
	kept, err := os.ReadFile("proto/gen/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), string(served)); diff != "" {
		t.Fatalf("another description is served than was generated:\n%s", diff)
	}
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	operations := described(t, served)
	for template, methods := range operations {
		path := parameter.ReplaceAllString(template, "x")
		var want []string
		for other, methods := range operations {
			if reaches(other, path) {
				want = slices.AppendSeq(want, maps.Keys(methods))
			}
		}
		for method, public := range methods {
			status := g.knock(method, path).StatusCode
			if public && (status == http.StatusUnauthorized || status == http.StatusNotFound || status == http.StatusMethodNotAllowed) || !public && status != http.StatusUnauthorized {
				t.Errorf("%s %s without a key: %d", method, template, status)
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		other := g.knock(http.MethodOptions, path)
		allowed := other.Header.Values("Allow")
		slices.Sort(allowed)
		if diff := cmp.Diff(want, slices.Compact(allowed)); other.StatusCode != http.StatusMethodNotAllowed || diff != "" {
			t.Errorf("%s: %d, methods in the description -, at the gateway +\n%s", template, other.StatusCode, diff)
		}
	}
	page := g.knock(http.MethodGet, "/docs")
	if page.StatusCode != http.StatusOK || !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") || !strings.HasPrefix(page.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("/docs: %d %v", page.StatusCode, page.Header)
	}
}
