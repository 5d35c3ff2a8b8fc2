package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Tests that the Makefile and the pages name exist: a test that is renamed would otherwise run
// in another way than its row of the Makefile says, and nobody would notice.
func TestNamedTestsExist(t *testing.T) {
	t.Parallel()
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	named := map[string]*regexp.Regexp{
		"Makefile": regexp.MustCompile(`\bTest[A-Z]\w+`),
		".md":      regexp.MustCompile("`(Test[A-Z]\\w+)`"),
	}
	var functions strings.Builder
	mentions := make(map[string]string) // where each name is
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, "_test.go") {
			for _, m := range declared.FindAllSubmatch(text, -1) {
				functions.WriteString("\n")
				functions.Write(m[1])
			}
		}
		for suffix, pattern := range named {
			if strings.HasSuffix(name, suffix) {
				for _, m := range pattern.FindAllString(string(text), -1) {
					mentions[strings.Trim(m, "`")] = name
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(mentions) < 20 {
		t.Errorf("the Makefile and the pages name %d tests: are they read?", len(mentions))
	}
	for name, where := range mentions {
		if !strings.Contains(functions.String(), "\n"+name) { // a pattern may be the start of a name
			t.Errorf("%s names %s, and there is no such test", where, name)
		}
	}
}

// variable returns the value of a variable of the Makefile.
func variable(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + name + ` := (.+)$`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("the Makefile has no %s", name)
	}
	return string(m[1])
}

// Each test that make test runs without the race detector is only in packages where it runs so:
// in any other package it would not run at all.
func TestRepeatedTestsRun(t *testing.T) {
	t.Parallel()
	in := make(map[string]bool)
	for dir := range strings.FieldsSeq(variable(t, "REPEATED_IN")) {
		if below, ok := strings.CutSuffix(dir, "/..."); ok {
			all, err := filepath.Glob(filepath.Join("..", below, "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range all {
				in[one] = true
			}
			dir = below
		}
		in[filepath.Join("..", dir)] = true
	}
	repeated := regexp.MustCompile(strings.ReplaceAll(variable(t, "REPEATED"), "$$", "$"))
	found := 0
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			if repeated.Match(m[1]) {
				found++
				if !in[filepath.Dir(path)] {
					t.Errorf("make test does not run %s of %s", m[1], path)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 20 {
		t.Errorf("%d tests in %d packages", found, len(in))
	}
}

// Packages that make test tests without the race detector start no goroutines, neither they nor
// their tests, and share nothing with any.
func TestNothingIsConcurrentInUnracedPackages(t *testing.T) {
	t.Parallel()
	concurrent := regexp.MustCompile(`(?m)^\s*go |\.Go\(|\bchan\b|"sync"|"sync/atomic"|net/http/httptest`)
	for dir := range strings.FieldsSeq(variable(t, "UNRACED")) {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if m := concurrent.Find(text); m != nil && name != "../docs/names_test.go" {
				t.Errorf("%s has %q: take %s out of UNRACED in the Makefile", name, m, dir)
			}
		}
	}
}
