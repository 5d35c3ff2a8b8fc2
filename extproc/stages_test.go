package extproc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/dataplane"
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
	for _, s := range slices.Concat(p.entry, p.stages) {
		want = append(want, s.name)
	}
	want = append(want, "dispatch", "receive")
	for _, s := range slices.Concat(p.whole, p.streamed, p.finished, p.failed) {
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

// attachment lists the files that speak ext_proc with Envoy.
func attachment() []string {
	return []string{
		"server.go", "downstream.go", "upload.go", "answer.go", "upstream.go", "registry.go", "attemptlog.go", "envoyhead.go",
	}
}

// The stages know nothing of gRPC, of Envoy's messages or of their frames, nor of the attachment,
// which translates between those and the Exchange.
func TestStagesKnowNoTransport(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	stages := make(map[string]*ast.File)
	theirs := make(map[string]string) // what the attachment declares, and where
	transport := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(attachment(), name) {
			stages[name] = f
			continue
		}
		transport += len(transports(f))
		for declared := range f.Scope.Objects {
			theirs[declared] = name
		}
	}
	if transport == 0 {
		t.Error("the attachment imports no transport: the test proves nothing")
	}
	for name, f := range stages {
		for _, path := range transports(f) {
			t.Errorf("%s imports %s: only the attachment does", name, path)
		}
		for _, used := range f.Unresolved {
			if at, ok := theirs[used.Name]; ok {
				t.Errorf("%s uses %s of %s, which belongs to the attachment", name, used.Name, at)
			}
		}
	}
}

// transports returns the imports of a file that are of gRPC, of Envoy, or of frames.
func transports(f *ast.File) []string {
	var out []string
	for _, spec := range f.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if strings.HasPrefix(path, "google.golang.org/grpc") || strings.Contains(path, "envoyproxy/") || strings.HasSuffix(path, "extproc/frame") {
			out = append(out, path)
		}
	}
	return out
}

// Each operation of the table must have the code that reads its requests, and must be found
// at each of its paths.
func TestEveryOperationHasItsReader(t *testing.T) {
	t.Parallel()
	byPath := NewPipeline(Deps{}).operations
	for _, path := range dataplane.Paths() {
		switch op := byPath[path]; {
		case op == nil:
			t.Errorf("POST %s has no operation", path)
		case op.language == nil:
			t.Errorf("operation %s of POST %s lacks a language", op.callType, path)
		case op.scan == nil || op.bound == nil || op.rough == nil:
			t.Errorf("operation %s of POST %s lacks a scanner or an estimate", op.callType, path)
		}
	}
}
