package template_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
)

var update = flag.Bool("update", false, "rewrite the list of templates that are rejected; make jinja makes the expected texts")

// sample is a template with values, and what the real Jinja makes of it.
type sample struct {
	Template string            `json:"template"`
	Values   jsontext.Value    `json:"values"`
	Includes map[string]string `json:"includes"`
}

// outcome is what Jinja, or the gateway, makes of a sample.
type outcome struct {
	Text  *string `json:"text"`
	Error bool    `json:"error"`
}

func read(tb testing.TB, path string, into any) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
}

const samplesDir = "testdata/jinja"

// samples reads the templates of testdata/jinja, as tools/jinja/reference.py does.
func samples(tb testing.TB) map[string]sample {
	tb.Helper()
	out := map[string]sample{}
	files, err := filepath.Glob(samplesDir + "/*.json")
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range files {
		base := strings.TrimSuffix(filepath.Base(path), ".json")
		if base == "expected" || base == "refused" {
			continue
		}
		var file struct {
			Values jsontext.Value    `json:"values"`
			Cases  map[string]sample `json:"cases"`
		}
		read(tb, path, &file)
		for name, s := range file.Cases {
			if s.Values == nil {
				s.Values = file.Values
			}
			out[base+"/"+name] = s
		}
	}
	templates, err := filepath.Glob(samplesDir + "/*/*.jinja")
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range templates {
		text, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		dir := filepath.Dir(path)
		var values map[string]jsontext.Value
		read(tb, dir+"/values.json", &values)
		for name, v := range values {
			out[filepath.Base(dir)+"/"+strings.TrimSuffix(filepath.Base(path), ".jinja")+"/"+name] = sample{Template: string(text), Values: v}
		}
	}
	return out
}

// render renders a sample, with partials that it brings.
func (s sample) render(tb testing.TB) (string, error) {
	tb.Helper()
	values, err := template.Decode(s.Values)
	if err != nil {
		tb.Fatal(err)
	}
	tpl, err := template.Parse(s.Template)
	if err != nil {
		return "", err
	}
	return tpl.Render(values, func(r template.Reference) (*template.Template, error) {
		text, ok := s.Includes[r.String()]
		if !ok {
			return nil, fault.New(fault.NotFound, "prompt_not_found", "There is no prompt %s.", r)
		}
		return template.Parse(text)
	})
}

// TestRendersAsJinja: a template renders as the real Jinja renders it, or is rejected with
// a reason, which testdata lists. No template renders differently, and few are rejected.
func TestRendersAsJinja(t *testing.T) {
	var expected map[string]outcome
	read(t, samplesDir+"/expected.json", &expected)
	all := samples(t)
	refused := map[string]string{}
	for name, s := range all {
		want, ok := expected[name]
		if !ok {
			t.Errorf("%s has no expected text; run: make jinja", name)
			continue
		}
		got, err := s.render(t)
		switch {
		case err != nil && fault.KindOf(err) == fault.Internal:
			t.Errorf("%s: %q: %v", name, s.Template, err)
		case err == nil && want.Error:
			t.Errorf("%s: %q renders as %q; Jinja raises an exception", name, s.Template, got)
		case err == nil && got != *want.Text:
			t.Errorf("%s: %q renders differently (-jinja +got):\n%s", name, s.Template, cmp.Diff(*want.Text, got))
		case err != nil && !want.Error:
			refused[name] = fault.From(err).Detail
		}
	}
	if len(expected) != len(all) {
		t.Errorf("there are %d templates and %d expected texts; run: make jinja", len(all), len(expected))
	}
	if 50*len(refused) > len(all) {
		t.Errorf("%d of %d templates are rejected, more than 2 %%", len(refused), len(all))
	}
	path := samplesDir + "/refused.json"
	if *update {
		data, err := json.Marshal(refused, json.Deterministic(true), jsontext.WithIndent(" "))
		if err == nil {
			err = os.WriteFile(path, append(data, '\n'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var listed map[string]string
	read(t, path, &listed)
	if diff := cmp.Diff(listed, refused); diff != "" {
		t.Errorf("other templates are rejected than testdata lists (-listed +rejected):\n%s", diff)
	}
}

// TestFormsOfModels: chat templates in the style of at least 40 families of models are
// among the samples, and at least 100 prompts and 500 templates.
func TestFormsOfModels(t *testing.T) {
	count := map[string]int{}
	var families []string
	for name := range samples(t) {
		group, rest, _ := strings.Cut(name, "/")
		count[group]++
		count["all"]++
		if family, _, ok := strings.Cut(rest, "/"); ok && !slices.Contains(families, family) {
			families = append(families, family)
		}
	}
	if len(families) < 40 || count["prompts"] < 100 || count["all"] < 500 {
		t.Errorf("there are %d families of models, %d prompts and %d templates", len(families), count["prompts"], count["all"])
	}
}
