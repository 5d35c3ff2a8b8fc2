package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecipeOfANamedResource compares the list of files in docs/adding.md with the
// files that name guardrails: a listed file must name them, and another source file
// that depends on them must be listed.
func TestRecipeOfANamedResource(t *testing.T) {
	t.Chdir("..")
	page, err := os.ReadFile("docs/adding.md")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(page), "\n## A named resource\n")
	recipe, _, _ = strings.Cut(recipe, "\n## ")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`").FindAllStringSubmatch(recipe, -1) {
		listed[m[1]] = true
		text, err := os.ReadFile(m[1])
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(strings.ToLower(string(text)), "guardrail") {
			t.Errorf("the recipe lists %s, which does not name guardrails", m[1])
		}
	}
	if len(listed) != 8 {
		t.Fatalf("the recipe lists %d files, want 4 new ones and 4 others", len(listed))
	}
	depends := regexp.MustCompile(`GuardrailService|SpaceGuardrail\b|clusterv1\.Guardrail\b|message Guardrail |cluster/guardrails"`)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if path != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || path == "proto/gen" {
				return filepath.SkipDir
			}
			return nil
		case strings.HasPrefix(path, "extproc/guard/"), path == "extproc/pipeline/guard.go", path == "gateway/guardrails.go", path == "mgmt/guardrailapply.go",
			path == "mgmt/guardrailservices.go", path == "mgmt/credentials.go":
			return nil // they apply guardrails, and keep secrets of their services, which other resources have no need of
		case strings.HasSuffix(path, "_test.go"), listed[path], !strings.Contains(".go .proto .yaml", filepath.Ext(path)), filepath.Ext(path) == "":
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && depends.Match(text) {
			t.Errorf("%s depends on guardrails, and the recipe in docs/adding.md does not list it", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
