package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/config"
)

const admin = "general_settings: {master_key: sk-0123456789abcdef}\n"

// TestBounds gives files that would exhaust a parser without bounds.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"brackets":     {"x-a: " + strings.Repeat("[", 200_000), "nest more than 64 deep"},
		"braces":       {"x-a: " + strings.Repeat("{a: ", 200_000), "nest more than 64 deep"},
		"dashes":       {strings.Repeat("- ", 200_000) + "a", "nest more than 64 deep"},
		"indentation":  {indented(100), "nest more than 64 deep"},
		"keys":         {strings.Repeat("a:\n", 200_000), "more than 10000 keys"},
		"no UTF-8":     {"a: \xff", "not UTF-8"},
		"question":     {"? a\n: b\n", "question mark"},
		"directive":    {"%YAML 1.2\n---\na: b\n", "directives"},
		"too large":    {strings.Repeat(" ", config.MaxSize+1), "larger than 16 MiB"},
		"list at root": {"- a\n", "must be a mapping"},
		"text at root": {"hello", "must be a mapping"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("f", []byte(c.src), none)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// indented returns mappings within mappings.
func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// TestManyInAFlatList has more entries at the column of its key than a mapping
// may have keys: a list has no such bound.
func TestManyInAFlatList(t *testing.T) {
	src := "model_list:\n" + strings.Repeat("- {model_name: a, gateway_params: {model: openai/a}}\n", 11_000) + admin
	c, err := config.Parse("f", []byte(src), none)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Models) != 11_000 {
		t.Errorf("%d models", len(c.Models))
	}
}

// TestEveryProblem checks that no number of problems hides one.
func TestEveryProblem(t *testing.T) {
	src := admin + "model_list:\n" + strings.Repeat("- {model_name: a, gateway_params: {model: openai/a, api_bse: x}}\n", 500)
	_, err := config.Parse("f", []byte(src), none)
	if err == nil || strings.Count(err.Error(), `did you mean "api_base"?`) != 500 {
		t.Errorf("got %v", err)
	}
}

func TestMasterKeyOfLiteLLM(t *testing.T) {
	c, err := config.Parse("f", nil, environment([]byte("LITELLM_MASTER_KEY=sk-0123456789abcdef")))
	if err != nil || c.MasterKey.Reveal() != "sk-0123456789abcdef" {
		t.Errorf("got %v, %v", c, err)
	}
	if _, err := config.Parse("f", nil, environment([]byte("LITELLM_MASTER_KEY=sk-1234"))); err == nil {
		t.Error("the documentation's key is accepted")
	}
}

// FuzzParse checks that no file crashes the reader, that what is accepted can be
// printed and read again, and that no credential of the environment is shown.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/refused/*.txtar", "testdata/accepted/*.txtar"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			a, err := txtar.ParseFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(section(a, "gateway.yaml"))
		}
	}
	f.Add([]byte("a: &a {<<: *a}\nb: [*a, *a]\n"))
	f.Add([]byte("cluster: {join: 'a,[::1]:7,10.0.0.1', expect: 5, listen: :7400, tls: {ca: a, cert: b, key: c}, gossip_key: os.environ/K}\n"))
	f.Add([]byte("cluster: {expect: 3, key_staleness: 0}\nshutdown_delay: 5m\n"))
	f.Add([]byte("a: |\n  b\nc: >-\n  d\n'e': \"f\\u0041\"\n"))
	const secret = "sk-QuItEsEcReT-0123456789-0123456789" // long enough for every purpose
	env := func(string) (string, bool) { return secret, true }
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := config.Parse("f", src, env)
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("shown: %v", err)
			}
			return
		}
		effective := c.Effective()
		if strings.Contains(fmt.Sprintf("%v%+v%v", c.MasterKey, c.Keys, c.Environment), secret) {
			t.Error("a credential is shown")
		}
		_, err = config.Parse("f", effective, env)
		for line := range strings.Lines(fmt.Sprint(err)) {
			if !strings.Contains(line, "[redacted] stands for") {
				t.Errorf("%s\n%s", line, effective)
			}
		}
	})
}

// large returns a configuration of n deployments on 20 endpoints.
func large(n int) []byte {
	b := []byte(admin + "model_list:\n")
	for i := range n {
		b = fmt.Appendf(b, `  - model_name: model-%d
    gateway_params:
      model: openai/gpt-4o-%d
      api_base: https://host%d.example.com/v1
      api_key: os.environ/KEY
      rpm: 100
      tpm: 100000
      weight: 2
      timeout: 30
      input_cost_per_token: 2.5e-06
    model_info:
      id: dep-%d
      base_model: gpt-4o
      mode: chat
`, i%500, i, i%20, i)
	}
	return b
}

// BenchmarkParse10k reads 10,000 deployments; a start must take less than a second.
func BenchmarkParse10k(b *testing.B) {
	src := large(10_000)
	env := environment([]byte("KEY=k"))
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := config.Parse("f", src, env); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad10k does the same from a file.
func BenchmarkLoad10k(b *testing.B) {
	path := filepath.Join(b.TempDir(), "gateway.yaml")
	if err := os.WriteFile(path, large(10_000), 0o600); err != nil {
		b.Fatal(err)
	}
	env := environment([]byte("KEY=k"))
	for b.Loop() {
		if _, err := config.Load(path, env); err != nil {
			b.Fatal(err)
		}
	}
}
