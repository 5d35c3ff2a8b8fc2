package main

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the scaffold writes must be what docs/adding.md lists, with guardrails as its example: four new files, and
// a few lines in four others, none of which go.
func TestWritesWhatTheRecipeLists(t *testing.T) {
	t.Chdir("../..")
	page, err := os.ReadFile("docs/adding.md")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(page), "\n## A named resource\n")
	recipe, _, _ = strings.Cut(recipe, "\n## ")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`").FindAllStringSubmatch(recipe, -1) {
		listed = append(listed, strings.ReplaceAll(m[1], "guardrail", "snippet"))
	}
	files, err := scaffold(os.DirFS("."), "snippet")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	if diff := cmp.Diff(listed, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("the recipe and the scaffold differ (-recipe +scaffold):\n%s", diff)
	}
	added := map[string]int{}
	for name, text := range files {
		before, err := os.ReadFile(name)
		if err != nil {
			continue // it is new
		}
		lines := map[string]int{}
		for line := range strings.Lines(string(text)) {
			lines[strings.Join(strings.Fields(line), " ")]++
			added[name]++
		}
		for line := range strings.Lines(string(before)) {
			if line = strings.Join(strings.Fields(line), " "); lines[line] == 0 {
				t.Errorf("%s has lost the line %q", name, line)
			}
			added[name]--
		}
	}
	want := map[string]int{"proto/cluster/v1/resource.proto": 14, "cluster/store/keyspaces.go": 7, "cluster/view.go": 3, "mgmt/services.go": 1}
	if diff := cmp.Diff(want, added); diff != "" {
		t.Errorf("lines added to files that exist (-want +got):\n%s", diff)
	}
}

// The bytes of keyspaces are stored, so a new one must be unused.
func TestTakesUnusedBytes(t *testing.T) {
	t.Parallel()
	records, names, err := unusedBytes([]byte("A Space = 'a'\nB Space = 'c'\n"))
	if err != nil || records != 'b' || names != 'd' {
		t.Errorf("got %c and %c, %v", records, names, err)
	}
	if _, _, err := unusedBytes([]byte("nothing")); err == nil {
		t.Error("a file without keyspaces is taken")
	}
}

func TestRejectsWhatExists(t *testing.T) {
	t.Parallel()
	if _, err := scaffold(os.DirFS("../.."), "guardrail"); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"", "Snippet", "two words", "x"} {
		if err := run([]string{name}, t.TempDir(), ""); err == nil {
			t.Errorf("%q is taken as a name", name)
		}
	}
}

func TestPlural(t *testing.T) {
	t.Parallel()
	for noun, want := range map[string]string{"snippet": "snippets", "policy": "policies", "key": "keys", "box": "boxes"} {
		if got := plural(noun); got != want {
			t.Errorf("%s: %s, want %s", noun, got, want)
		}
	}
}
