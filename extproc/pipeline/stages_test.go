package pipeline

import (
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table in doc.go must name all stages in their order, and their files.
func TestDocListsTheStages(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ name, file string }
	var documented []row
	var order []string
	for line := range strings.Lines(f.Doc.Text()) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(strings.TrimSpace(line), "stage ") || strings.Contains(line, "-|-") {
			continue
		}
		name, file := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1])
		documented = append(documented, row{name, file})
		order = append(order, name)
	}
	// What follows the stages that may refuse is not a list of functions but
	// Envoy's own order.
	p := NewPipeline(Deps{})
	var want []string
	for _, s := range slices.Concat(p.entry, p.stages, p.unread) {
		want = append(want, s.name)
	}
	want = append(want, "dispatch", "receive")
	for _, s := range slices.Concat(p.whole, p.streamed, p.passedOn, p.finished, p.failed) {
		want = append(want, s.name)
	}
	want = append(want, "settle")
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("the stages and doc.go's table differ (-pipeline +doc):\n%s", diff)
	}
	for _, r := range documented {
		source, err := os.ReadFile(r.file)
		if err != nil {
			t.Errorf("stage %s: %v", r.name, err)
			continue
		}
		if !regexp.MustCompile(`(?i)\) ` + r.name + `\((_|ctx) context\.Context, `).Match(source) {
			t.Errorf("%s has no stage %s", r.file, r.name)
		}
	}
}
