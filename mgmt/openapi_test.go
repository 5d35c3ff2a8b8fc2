package mgmt

import (
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// describedOperation is what the API's description says of a method and path.
type describedOperation struct {
	Security   *[]any `json:"security"`
	Parameters []struct {
		Ref string `json:"$ref"`
	} `json:"parameters"`
	Request   describedBody            `json:"requestBody"`
	Responses map[string]describedBody `json:"responses"`
}

// describedBody is a body, by its media types.
type describedBody struct {
	Content map[string]any `json:"content"`
}

func (b describedBody) media() []string { return slices.Sorted(maps.Keys(b.Content)) }

// public reports whether no key is asked for.
func (o describedOperation) public() bool { return o.Security != nil && len(*o.Security) == 0 }

// takes reports whether it has one of the parameters that several have.
func (o describedOperation) takes(name string) bool {
	for _, p := range o.Parameters {
		if strings.HasSuffix(p.Ref, "/"+name) {
			return true
		}
	}
	return false
}

// withoutNames is a path whose parameters have no names: the description and the
// server need not agree on them.
func withoutNames(path string) string {
	return regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "{}")
}

// describedOperations are all operations of the description, by method and path.
func describedOperations(t *testing.T) map[string]describedOperation {
	t.Helper()
	text, err := os.ReadFile("../proto/gen/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths map[string]map[string]describedOperation `json:"paths"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	out := map[string]describedOperation{}
	for path, item := range d.Paths {
		for method, o := range item {
			out[strings.ToUpper(method)+" "+withoutNames(path)] = o
		}
	}
	return out
}

// Operations of the data plane have the forms of their rows.
func TestDescriptionHasTheFormsOfTheOperations(t *testing.T) {
	described := describedOperations(t)
	for _, row := range dataplane.Operations() {
		answers := row.Answers()
		for _, path := range row.Documented() {
			o := described["POST "+withoutNames(path)]
			if diff := cmp.Diff([]string{row.Request.Media}, o.Request.media()); diff != "" {
				t.Errorf("POST %s: form of the request (-row +description)\n%s", path, diff)
			}
			if diff := cmp.Diff(answers, o.Responses["200"].media()); diff != "" {
				t.Errorf("POST %s: forms of the response (-row +description)\n%s", path, diff)
			}
		}
	}
}

// The description has exactly the routes of the server, requires a key where the server does,
// and offers Idempotency-Key for operations that change something.
func TestDescriptionIsOfTheRoutes(t *testing.T) {
	described := describedOperations(t)
	s := &Server{cfg: Config{Metrics: http.NotFoundHandler()}}
	want, got := map[string]bool{}, map[string]bool{} // whether it is public
	for _, r := range append(s.plain(), s.files()...) {
		for _, p := range r.paths {
			want[r.method+" "+withoutNames(p)] = r.access == surface.Public
		}
	}
	for _, o := range dataplane.Operations() {
		if o.Method != "" { // http.ServeMux has no patterns of their form
			for _, path := range o.Documented() {
				want["POST "+withoutNames(path)] = false
			}
		}
	}
	table := declared()
	for _, r := range surface.Routes() {
		at := r.Method + " " + withoutNames(r.Path)
		want[at] = table[r.RPC].Access == surface.Public
		if o, ok := described[at]; ok && o.takes("IdempotencyKey") != table[r.RPC].Effect.Changes() {
			t.Errorf("%s (%s): Idempotency-Key is described: %v", at, r.RPC, o.takes("IdempotencyKey"))
		}
	}
	for at, o := range described {
		got[at] = o.public()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes of the server -, operations of the description +\n%s", diff)
	}
}
