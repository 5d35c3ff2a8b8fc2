package fake

import (
	"os"
	"strings"
	"testing"
)

// TestEveryExampleTakesEffect tries each row's own example, and finds each row's
// own words in the README.
func TestEveryExampleTakesEffect(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range behaviours() {
		p := planOf("")
		if !row.fits(&p, row.example) {
			t.Errorf("%s does not fit its own row %q", row.example, row.name)
		}
		if want := "| `" + row.example + "` | " + row.does + " |"; !strings.Contains(string(readme), want) {
			t.Errorf("README.md lacks the row\n%s", want)
		}
	}
}

func TestNamesAreJustNames(t *testing.T) {
	plain := planOf("")
	for _, model := range []string{"gpt-4o", "claude-sonnet-4-5", "openai/gpt-4o-2024-11-20", "fail-", "fail-200", "fail-5000", "600", "cut-x", "slow-fast", "slow--1s", "error-th", "words-0"} {
		if got := planOf(model); got.status != plain.status || got.body != plain.body || got.cutAfter != never || got.errorAt != never || got.delay != 0 || got.words != 0 {
			t.Errorf("%s: %+v", model, got)
		}
	}
}
