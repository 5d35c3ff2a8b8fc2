package config_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/config"
)

var update = flag.Bool("update", false, "rewrite the expected files")

// canary is in every value of the environment of the golden files.
const canary = "CANARY"

// none is an empty environment.
func none(string) (string, bool) { return "", false }

// environment reads NAME=value lines.
func environment(src []byte) func(string) (string, bool) {
	vars := map[string]string{}
	for line := range strings.Lines(string(src)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		vars[name] = value
	}
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

// section returns a file of an archive.
func section(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// expect compares with a file of the archive, or rewrites it.
func expect(t *testing.T, path string, a *txtar.Archive, name string, got []byte) {
	t.Helper()
	if *update {
		found := false
		for i := range a.Files {
			if a.Files[i].Name == name {
				a.Files[i].Data, found = got, true
			}
		}
		if !found {
			a.Files = append(a.Files, txtar.File{Name: name, Data: got})
		}
		if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(section(a, name)), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func archives(t *testing.T, pattern string) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	all := map[string]*txtar.Archive{}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = a
	}
	return all
}

// TestRefused compares the problems of bad files with the expected ones.
func TestRefused(t *testing.T) {
	for path, a := range archives(t, "testdata/refused/*.txtar") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			_, err := config.Parse("gateway.yaml", section(a, "gateway.yaml"), environment(section(a, "env")))
			if err == nil {
				t.Fatal("accepted")
			}
			if _, ok := errors.AsType[config.ProblemsError](err); !ok {
				t.Fatalf("not ProblemsError: %T", err)
			}
			if kind := fault.KindOf(err); kind != fault.Malformed {
				t.Errorf("kind is %v", kind)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("shows a credential: %v", err)
			}
			expect(t, path, a, "want", []byte(err.Error()+"\n"))
		})
	}
}

// providers are those that the accepted files name.
func providers() catalog.Providers {
	return catalog.Providers{
		"openai":    {DefaultBase: "https://api.openai.com/v1", NeedsKey: true},
		"anthropic": {DefaultBase: "https://api.anthropic.com", NeedsKey: true},
		"gemini":    {DefaultBase: "https://generativelanguage.googleapis.com", NeedsKey: true, APIs: func(string, string, string, cloud.Settings) []string { return []string{"gemini"} }},
	}
}

// TestAccepted compares what good files come to: their warnings and their
// effective configuration. The catalogue and the set of keys must take them.
func TestAccepted(t *testing.T) {
	for path, a := range archives(t, "testdata/accepted/*.txtar") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, err := config.Parse("gateway.yaml", section(a, "gateway.yaml"), environment(section(a, "env")))
			if err != nil {
				t.Fatal(err)
			}
			var warnings bytes.Buffer
			for _, w := range c.Warnings {
				fmt.Fprintln(&warnings, w)
			}
			effective := c.Effective()
			shown := fmt.Sprintf("%v %+v %#v %v %+v %s %s", c, c, c, *c, *c, effective, warnings.Bytes())
			if strings.Contains(shown, canary) {
				t.Error("a credential is shown")
			}
			expect(t, path, a, "warnings", warnings.Bytes())
			expect(t, path, a, "effective", effective)
			if _, err := catalog.New(c.Catalog(), providers(), nil); err != nil {
				t.Errorf("catalogue: %v", c.Locate(err))
			}
			if _, err := tenancy.New(c.VirtualKeys(), c.MasterKey); err != nil {
				t.Errorf("keys: %v", err)
			}
			again(t, c, effective)
		})
	}
}

// again gives an effective configuration back: it is refused for its
// credentials and for nothing else, and with credentials it says the same.
func again(t *testing.T, c *config.Config, effective []byte) {
	t.Helper()
	_, err := config.Parse("effective.yaml", effective, none)
	problems, ok := errors.AsType[config.ProblemsError](err)
	if !ok {
		t.Fatalf("effective configuration with its credentials left out: %v", err)
	}
	for _, p := range problems {
		if !strings.Contains(p.Detail, "[redacted] stands for a credential") {
			t.Errorf("effective configuration: %v", p)
		}
	}
	filled := bytes.Replace(effective, []byte(`gossip_key: "[redacted]"`), []byte("gossip_key: "+strings.Repeat("c0ffee00", 8)), 1)
	filled = bytes.Replace(filled, []byte(`queue_url: "[redacted]"`), []byte("queue_url: nats://u:p@127.0.0.1/t"), 1)
	for i := 0; bytes.Contains(filled, []byte(`"[redacted]"`)); i++ {
		filled = bytes.Replace(filled, []byte(`"[redacted]"`), fmt.Appendf(nil, "sk-filled-in-as-long-as-any-%08d", i), 1)
	}
	second, err := config.Parse("effective.yaml", filled, none)
	if err != nil {
		t.Fatalf("effective configuration with credentials filled in: %v", err)
	}
	same := cmp.Options{
		cmp.Comparer(func(a, b vault.Secret) bool { return a.IsEmpty() == b.IsEmpty() }),
		cmp.Comparer(func(a, b vault.Source) bool { return a.KMS() == b.KMS() && a.IsZero() == b.IsZero() }),
		cmpopts.IgnoreUnexported(config.Config{}),
		cmpopts.IgnoreFields(config.Config{}, "Warnings"),
		cmpopts.IgnoreFields(config.Info{}, "Extras"),
		cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(c, second, same); diff != "" {
		t.Errorf("effective configuration says something else (-first +second):\n%s", diff)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gateway.yaml")
	if err := os.WriteFile(path, []byte("\ufeffgeneral_settings: {master_key: os.environ/M}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path, environment([]byte("M=sk-0123456789abcdef")))
	if err != nil {
		t.Fatal(err)
	}
	if c.MasterKey.Reveal() != "sk-0123456789abcdef" || c.Listen != "127.0.0.1:8080" || c.DataDir != "./data" {
		t.Errorf("read as %+v", c)
	}
	for _, bad := range []string{filepath.Join(dir, "missing.yaml"), dir} {
		if _, err := config.Load(bad, none); fault.KindOf(err) != fault.Malformed || !strings.Contains(fault.From(err).Message(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := os.Truncate(path, config.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(path, none); err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("too large a file: %v", err)
	}
}

// TestSections reads one setting each and compares what it becomes.
func TestSections(t *testing.T) {
	const head = "general_settings: {master_key: sk-0123456789abcdef}\n"
	for name, c := range map[string]struct {
		src  string
		got  func(c *config.Config) any
		want any
	}{
		"duration number":      {"router_settings: {timeout: 30}", func(c *config.Config) any { return *c.Router.Timeout }, 30 * time.Second},
		"duration fraction":    {"router_settings: {retry_after: 0.08}", func(c *config.Config) any { return *c.Router.RetryAfter }, 80 * time.Millisecond},
		"duration unit":        {"router_settings: {retry_after: 80ms}", func(c *config.Config) any { return *c.Router.RetryAfter }, 80 * time.Millisecond},
		"duration quoted":      {`router_settings: {cooldown_time: "1h"}`, func(c *config.Config) any { return *c.Router.CooldownTime }, time.Hour},
		"listen all":           {"listen: :9000", func(c *config.Config) any { return c.Listen }, "0.0.0.0:9000"},
		"listen localhost":     {"listen: localhost:9000", func(c *config.Config) any { return c.Listen }, "127.0.0.1:9000"},
		"listen six":           {`listen: "[::1]:9000"`, func(c *config.Config) any { return c.Listen }, "[::1]:9000"},
		"null is absent":       {"log:\nenvoy: {concurrency: ~}", func(c *config.Config) any { return c.Log.Level }, "info"},
		"escape":               {"data_dir: /a/$${b}", func(c *config.Config) any { return c.DataDir }, "/a/${b}"},
		"own variables":        {"environment_variables: {D: /srv}\ndata_dir: ${D}/x", func(c *config.Config) any { return c.DataDir }, "/srv/x"},
		"anchors":              {"x-dir: &d /srv\ndata_dir: *d", func(c *config.Config) any { return c.DataDir }, "/srv"},
		"merge":                {"x-log: &l {level: warn, format: text}\nlog:\n  <<: *l\n  level: debug", func(c *config.Config) any { return c.Log }, config.Log{Level: "debug", Format: "text"}},
		"whole float":          {"router_settings: {num_retries: 3.0}", func(c *config.Config) any { return *c.Router.NumRetries }, 3},
		"request size":         {"limits: {max_request_bytes: 4096}", func(c *config.Config) any { return c.Limits.MaxRequestBytes }, int64(4096)},
		"bytes in flight":      {"limits: {max_inflight_request_bytes: 1073741824}", func(c *config.Config) any { return c.Limits.MaxInflightBytes }, int64(1 << 30)},
		"pace":                 {"limits: {long_body_bytes_per_second: 2097152}", func(c *config.Config) any { return c.Limits.LongBodyRate }, int64(2 << 20)},
		"connections":          {"limits: {max_connections: 100}", func(c *config.Config) any { return c.Limits.MaxConnections }, int64(100)},
		"management":           {"management_listen: localhost:8081", func(c *config.Config) any { return c.ManagementListen }, "127.0.0.1:8081"},
		"bytes, large bodies":  {"limits: {max_request_bytes: 1073741824}", func(c *config.Config) any { return c.Limits.MaxInflightBytes }, int64(4 << 30)},
		"litellm folds":        {"litellm_settings: {request_timeout: 7, num_retries: 1}", func(c *config.Config) any { return *c.Router.Timeout }, 7 * time.Second},
		"router wins":          {"litellm_settings: {request_timeout: 7}\nrouter_settings: {timeout: 8}", func(c *config.Config) any { return *c.Router.Timeout }, 8 * time.Second},
		"stream timeout unset": {"router_settings: {timeout: 8}", func(c *config.Config) any { return c.Catalog().Router.StreamTimeout }, (*time.Duration)(nil)},
		"alias long form":      {"router_settings: {model_group_alias: {a: {model: b}}}", func(c *config.Config) any { return c.Router.ModelGroupAlias }, map[string]string{"a": "b"}},
		"expires date":         {"keys: [{key: sk-abcdef0123456789, expires: 2027-01-31}]", func(c *config.Config) any { return c.Keys[0].Expires }, time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.Parse("f", []byte(head+c.src+"\n"), none)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.got(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPriceDigits checks that prices keep the digits of the file.
func TestPriceDigits(t *testing.T) {
	const src = `
general_settings: {master_key: sk-0123456789abcdef}
model_list:
- model_name: m
  gateway_params: {model: openai/m, api_key: k, input_cost_per_token: 2.5e-06, output_cost_per_token: 0.000000000123456789012345}
  model_info: {input_cost_per_token: 1, input_cost_per_token_above_200k_tokens: "3e-6", cache_read_input_token_cost_flex: 0}
`
	c, err := config.Parse("f", []byte(src), none)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"input_cost_per_token": "2.5e-06", "output_cost_per_token": "0.000000000123456789012345",
		"input_cost_per_token_above_200k_tokens": "3e-6", "cache_read_input_token_cost_flex": "0",
	}
	if diff := cmp.Diff(want, c.Catalog().Deployments[0].Prices); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLocate checks that the catalogue's complaints get their lines, also
// where the setting stands in litellm_settings.
func TestLocate(t *testing.T) {
	const src = `general_settings: {master_key: sk-0123456789abcdef}
model_list:
- model_name: a
  gateway_params: {model: openai/a, api_key: k}
- model_name: b
  gateway_params: {model: nobody/b, api_key: k}
litellm_settings:
  fallbacks:
  - {a: [b], b: [c]}
`
	c, err := config.Parse("f", []byte(src), none)
	if err != nil {
		t.Fatal(err)
	}
	_, err = catalog.New(c.Catalog(), providers(), nil)
	got := c.Locate(errors.Join(err, fault.Field("router_settings.fallbacks[1].b", "x", "bad"), errors.New("other")))
	const want = `f:5:3: model_list[1].gateway_params.model: the provider "nobody" is not known; known are anthropic, gemini, openai
f:9:14: router_settings.fallbacks[1].b: bad
other`
	if diff := cmp.Diff(want, got.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.Locate(nil) != nil {
		t.Error("Locate(nil) is an error")
	}
}
