package config_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

// TestREADMEHasTheDefaults: the table of the README has the default of each router
// setting that is a number other than 0, at the setting's place in its row.
func TestREADMEHasTheDefaults(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for line := range strings.Lines(string(readme)) {
		cells := strings.Split(line, " | ")
		names, ok := strings.CutPrefix(cells[0], "| `.")
		if !ok || len(cells) < 3 {
			continue
		}
		defaults := strings.Split(cells[1], ", ")
		for i, name := range strings.Split(names, ", ") {
			documented[strings.Trim(name, "`.")] = defaults[min(i, len(defaults)-1)]
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
			t.Errorf("%s: the README says %q, want %q", f.Name, documented[f.Name], want)
		}
	}
	if checked != 5 {
		t.Errorf("%d settings have a default, want 5", checked)
	}
}
