package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every link from a page to a file or a heading of this repository leads there.
func TestLinksOfPages(t *testing.T) {
	t.Chdir("..")
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	checked := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(withoutCode(string(text)), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			checked++
			path, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			info, err := os.Stat(target)
			switch {
			case err != nil:
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			case anchor != "" && (info.IsDir() || !anchors(t, target)[anchor]):
				t.Errorf("%s links to %s, and there is no such heading", page, m[1])
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d links were found", checked)
	}
}

// pages are the pages for readers.
func pages(t *testing.T) (out []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// withoutCode is a page without its blocks of code, which have brackets of their own.
func withoutCode(page string) string {
	var out strings.Builder
	code := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			code = !code
		} else if !code && !strings.HasPrefix(line, "    ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// anchors are the anchors of a page's headings, as GitHub makes them.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	dropped := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	for line := range strings.Lines(withoutCode(string(text))) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			name := dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			out[strings.ReplaceAll(name, " ", "-")] = true
		}
	}
	return out
}
