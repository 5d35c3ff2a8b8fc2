package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

// TestDocsHaveTheDefaults: the table of router settings has the default of each one that is a
// number other than 0.
func TestDocsHaveTheDefaults(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	_, settings, _ := strings.Cut(string(page), "## `router_settings`")
	for line := range strings.Lines(settings) {
		cells := strings.Split(line, " | ")
		names, ok := strings.CutPrefix(cells[0], "| ")
		if !ok || len(cells) < 3 {
			continue
		}
		for name := range strings.SplitSeq(names, ", ") {
			documented[strings.Trim(name, "`")] = cells[1]
		}
	}
	checked := 0
	for _, f := range catalog.RouterFields() {
		if f.Default == 0 {
			continue
		}
		want := fmt.Sprint(f.Default)
		if slices.Contains([]string{"retry_after", "timeout", "cooldown_time"}, f.Name) {
			want = fmt.Sprint(time.Duration(f.Default).Seconds(), " s")
		}
		if checked++; documented[f.Name] != want {
			t.Errorf("%s: the page says %q, want %q", f.Name, documented[f.Name], want)
		}
	}
	if checked != 5 {
		t.Errorf("%d settings have a default, want 5", checked)
	}
}

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
