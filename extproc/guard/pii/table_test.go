package pii_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/pii"
)

// TestMarkedTexts: in the texts of testdata, what is marked is found, and nothing else.
func TestMarkedTexts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no texts", err)
	}
	e := newEngine(t, pii.Settings{})
	mark := regexp.MustCompile(`\[([A-Z_]+):([^\]]*)\]`)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			lines, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(lines)) {
				line = strings.TrimSuffix(line, "\n")
				if line == "" || line[0] == '#' {
					continue
				}
				text := mark.ReplaceAllString(line, "$2")
				if got := enginetest.Marked(text, enginetest.Whole(t, e, text)); got != line {
					t.Errorf("found\n%s\nwant\n%s", got, line)
				}
			}
		})
	}
}
