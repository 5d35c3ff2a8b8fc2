package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeFiles writes files below a directory.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// readFiles returns the files of a directory.
func readFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

// TestPromptFiles: a directory that is pushed, pulled and pushed again makes no version, and what
// changes in it makes one.
func TestPromptFiles(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt"))
	c := newTerminal(t, g)
	source, copied := t.TempDir(), t.TempDir()
	all := `---
# the comment stays where it is
default_label: production
protected_labels: [production, audited]
labels:
  production: latest
config:
  temperature: 0.50
  model: gpt
  stop: [END]
  response_format: {type: json_schema, json_schema: {name: a, schema: {type: object, properties: {z: {type: string}, a: {type: number}}}}}
  metadata: {b: "1", a: "2"}
  enforce: [temperature]
variable_schema: {type: object, properties: {name: {type: string, default: you}}}
---
[system]
{% include "prompt:zz tone" %} You help {{ name }}.
[placeholder history]
[user]
[system] is no header here.
\[user]

[user json]
[{"type": "text", "text": "{{ name }}"}]
`
	writeFiles(t, source, map[string]string{
		"all.prompt":       all,
		"zz%20tone.prompt": "[system]\nBe {{ mood }}.\n",
		"lite.prompt":      "---\nmodel: gpt\ninput:\n  schema:\n    text: string\n---\nSystem: Sum up.\nUser: {{text}}\n",
		"README.md":        "no prompt",
	})
	made := "zz tone@1 made\nall@1 made\nall label production: 1\nall settings\nlite@1 made\n"
	if out := c.run("prompt", "push", source, "--dry-run"); !strings.Contains(out, "+++ all@1\n") || !strings.Contains(out, "+Be {{ mood }}.\n") || strings.Contains(out, "made") {
		t.Errorf("a dry run says\n%s", out)
	}
	if out := c.run("prompt", "push", source); out != made {
		t.Errorf("push says\n%s, want\n%s", out, made)
	}
	unchanged := "zz tone@1 unchanged\nall@1 unchanged\nlite@1 unchanged\n"
	for range 2 {
		if out := c.run("prompt", "push", source); out != unchanged {
			t.Errorf("the same push says\n%s, want\n%s", out, unchanged)
		}
	}
	before := readFiles(t, source)
	c.run("prompt", "pull", source)
	if diff := cmp.Diff(before, readFiles(t, source)); diff != "" {
		t.Errorf("pull changes files that say the same:\n%s", diff)
	}
	c.run("prompt", "pull", copied)
	if got := readFiles(t, copied); len(got) != 3 || got["zz%20tone.prompt"] != "---\nname: zz tone\nvariables:\n  - mood\n---\n[system]\nBe {{ mood }}.\n" || !strings.Contains(got["all.prompt"], "labels:\n  production: 1\n") {
		t.Errorf("pull writes %v", got)
	}
	if out := c.run("prompt", "push", copied); out != unchanged {
		t.Errorf("pulled and pushed again:\n%s, want\n%s", out, unchanged)
	}
	if out := c.run("prompt", "push", copied, "--dry-run"); out != "" {
		t.Errorf("a dry run without a difference says\n%s", out)
	}

	writeFiles(t, source, map[string]string{"all.prompt": strings.NewReplacer("0.50", "1", "You help", "You greet").Replace(all)})
	out := c.run("prompt", "push", "--dry-run", source)
	for _, want := range []string{"--- all@1\n+++ all@2\n", "-  temperature: 0.5\n", "+  temperature: 1\n", "-  production: 1\n+  production: 2\n", "+{% include \"prompt:zz tone\" %} You greet {{ name }}.\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("a dry run lacks %q:\n%s", want, out)
		}
	}
	if out := c.run("prompt", "push", source); out != "zz tone@1 unchanged\nall@2 made\nall label production: 2\nlite@1 unchanged\n" {
		t.Errorf("the change says\n%s", out)
	}
	if out := c.run("prompt", "pull", copied, "all"); out != "all@2 written\n" {
		t.Errorf("pull says\n%s", out)
	}
	if a := g.do(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"prompt","prompt_id":"all","prompt_variables":{"mood":"kind"},"messages":[{"role":"user","content":"x"}]}`),
		with("Authorization", "Bearer "+adminKey), with("Content-Type", "application/json")); a.status != 200 || a.header.Get("x-gateway-prompt") != "all@2" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}

	// What the issue of prompts shows: names and versions without flags.
	if out := c.run("prompt", "diff", "all", "1", "2"); !strings.Contains(out, "config.temperature") {
		t.Errorf("diff says\n%s", out)
	}
	c.run("prompt", "label", "all", "staging", "1")
	if out := c.run("prompt", "labels", "all"); !strings.Contains(out, "staging") {
		t.Errorf("the labels are\n%s", out)
	}
	c.run("prompt", "usage", "all")
}

// TestPromptsExample runs the example as a reader would: the users get the versions that it says.
func TestPromptsExample(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai_compatible/fake-gpt"))
	cmd := exec.CommandContext(t.Context(), "examples/prompts/run.sh")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "GATEWAY_KEY="+adminKey, "GATEWAY="+newTerminal(t, g).program)
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "-You help {{ name") || !strings.Contains(text, "support@2 made") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestPromptFileErrors: an error names the file and the line, and nothing is sent if one file is wrong.
func TestPromptFileErrors(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt"))
	c := newTerminal(t, g)
	fails := func(want string, args ...string) {
		t.Helper()
		if out, err := c.try(args...); err == nil || !strings.Contains(out, want) {
			t.Errorf("%v: %v\n%s\nwant %s", args, err, out, want)
		}
	}
	dir := t.TempDir()
	fails("has no files *.prompt; check the directory", "prompt", "push", dir)
	writeFiles(t, dir, map[string]string{"a.prompt": "[system]\nx\n", "b.prompt": "---\nmodal: gpt\n---\nx\n", "c.prompt": "---\nname: a\n---\nx\n"})
	fails(filepath.Join(dir, "b.prompt")+":2: there is no field modal", "prompt", "push", dir)
	fails(filepath.Join(dir, "c.prompt")+":1: "+filepath.Join(dir, "a.prompt")+" has a prompt of that name too", "prompt", "push", dir)
	if out := c.run("prompt", "list"); strings.Contains(out, " a ") {
		t.Errorf("a wrong directory is pushed in part:\n%s", out)
	}
	bad := t.TempDir()
	writeFiles(t, bad, map[string]string{"bad.prompt": "[system]\n{{ a.b( }}\n"})
	fails(filepath.Join(bad, "bad.prompt")+": ", "prompt", "push", bad)
	fails("there is no prompt nothing; modelgateway prompt list shows those that there are", "prompt", "pull", bad+"/new", "nothing")
}

// TestPromptFilesOfOrganizations: files are prompts of the key's organization, or of the one that a
// flag names, and prompts of the same name of others stay as they are.
func TestPromptFilesOfOrganizations(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt"))
	c := newTerminal(t, g)
	c.run("organization", "new", "--organization-id", "acme", "--organization-alias", "Acme")
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"tone.prompt": "[system]\nBe ours.\n"})
	if out := c.run("prompt", "push", dir, "--organization-id", "acme"); out != "tone@1 made\n" {
		t.Error(out)
	}
	if out := c.run("prompt", "push", dir); out != "tone@1 made\n" {
		t.Errorf("everybody's prompt: %s", out)
	}
	writeFiles(t, dir, map[string]string{"tone.prompt": "[system]\nBe nobody's.\n"})
	if out := c.run("prompt", "push", dir); out != "tone@2 made\n" {
		t.Error(out)
	}
	key, _ := c.object("key", "generate", "--organization-id", "acme")["key"].(string)
	own := t.TempDir()
	member := &terminal{t: t, program: c.program, env: append(os.Environ(), "MODELGATEWAY_URL="+g.url, "MODELGATEWAY_KEY="+key)}
	if out := member.run("prompt", "pull", own); out != "tone@1 written\n" || readFiles(t, own)["tone.prompt"] != "[system]\nBe ours.\n" {
		t.Errorf("%s %v", out, readFiles(t, own))
	}
}
