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
