package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsHaveEverySetting: each setting that config check prints is on a page of the
// documentation, by its name. What callers name themselves is deeper in the file.
func TestDocsHaveEverySetting(t *testing.T) {
	t.Parallel()
	var pages strings.Builder
	for _, name := range []string{"configuration.md", "cluster.md"} {
		b, err := os.ReadFile("../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		pages.Write(b)
	}
	files, err := filepath.Glob("testdata/accepted/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	key := regexp.MustCompile(`(?m)^(?:  )?([a-z][a-z_]+):`)
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, effective, ok := strings.Cut(string(b), "-- effective --")
		if !ok {
			t.Fatalf("%s has no effective configuration", name)
		}
		for _, found := range key.FindAllStringSubmatch(effective, -1) {
			if !regexp.MustCompile(`\b` + found[1] + `\b`).MatchString(pages.String()) {
				t.Errorf("%s has %s, and docs/configuration.md does not", name, found[1])
			}
		}
	}
}
