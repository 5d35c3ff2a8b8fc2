package docs

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated part of docs/management.md")

// generated is the text above the generated rows.
const generated = "Named resources have a name that is unique in the organization that owns them:\n\n| path | what |\n|---|---|\n"

// TestResourcesAreListed checks that the tables of resources in docs/management.md have all
// resources. Those that no hand-written row names have a row with the text of the API's
// description.
func TestResourcesAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("management.md")
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), generated)
	if !ok {
		t.Fatalf("docs/management.md lacks %q", generated)
	}
	rest := after
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	want := before + generated + rowsBeyond(t, before) + rest
	if *update {
		if err := os.WriteFile("management.md", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("run go test ./docs -update (-want +got):\n%s", diff)
	}
}

// rowsBeyond returns the rows of the resources that a page does not name: those of the API's
// operations that change something.
func rowsBeyond(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile("../proto/gen/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Tags []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"tags"`
		Paths map[string]map[string]struct {
			Tags       []string         `json:"tags"`
			Parameters []map[string]any `json:"parameters"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	folders := map[string]map[string]bool{} // by tag
	for path, item := range d.Paths {
		for _, o := range item {
			changes := slices.ContainsFunc(o.Parameters, func(p map[string]any) bool { return p["$ref"] == "#/components/parameters/IdempotencyKey" })
			if !changes {
				continue
			}
			if folders[o.Tags[0]] == nil {
				folders[o.Tags[0]] = map[string]bool{}
			}
			folder, _, _ := strings.Cut(path[1:], "/")
			folders[o.Tags[0]]["`/"+folder] = true
		}
	}
	var rows strings.Builder
	for _, tag := range d.Tags {
		all := slices.Sorted(maps.Keys(folders[tag.Name]))
		if len(all) == 0 || slices.ContainsFunc(all, func(f string) bool { return strings.Contains(page, f) }) {
			continue
		}
		what, _, _ := strings.Cut(tag.Description, "\n")
		fmt.Fprintf(&rows, "| %s` | %s |\n", strings.Join(all, "`, "), what)
	}
	return rows.String()
}
