package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// schemathesisLevel says how many requests TestSchemathesis makes: brief, a few
// random ones for each operation; check, also those that follow from each word of
// the description; nightly, many of both, other ones every time.
var schemathesisLevel = flag.String("schemathesis", "brief", "how much TestSchemathesis does: brief, check or nightly")

// schemathesisModels are the models of the description's examples.
func schemathesisModels() []string {
	return []string{"gpt-4o=openai/fake-gpt", "claude=anthropic/fake-claude", "chat=openai/fake-gpt", "chat-backup=openai/fake-gpt"}
}

// schemathesisRun is what a level adds to schemathesis.toml.
type schemathesisRun struct {
	args  []string
	tags  map[string]int // random requests for each operation of a tag, where it has few operations
	least int            // requests in all
}

// schemathesisPlan returns what the level asks for. With the systematic requests
// that makes a thousand at least for each tag, save for Operation, whose
// operations have no parameters.
func schemathesisPlan(t *testing.T) schemathesisRun {
	t.Helper()
	switch *schemathesisLevel {
	case "brief":
		return schemathesisRun{args: []string{"--phases", "examples,fuzzing", "--max-examples", "3"}, least: 400}
	case "check":
		return schemathesisRun{
			args:  []string{"--max-examples", "50"},
			tags:  map[string]int{"Prompts": 100, "Credentials": 100, "Cluster": 300, "Inference": 300, "Usage": 1000},
			least: 25000,
		}
	case "nightly":
		seed := strconv.FormatInt(time.Now().UnixNano()%1e9, 10)
		return schemathesisRun{args: []string{"--max-examples", "500", "--seed", seed}, least: 60000}
	}
	t.Fatalf("-schemathesis is brief, check or nightly, not %s", *schemathesisLevel)
	return schemathesisRun{}
}

// config writes the configuration of a run.
func (r schemathesisRun) config(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("tools/schemathesis/schemathesis.toml")
	if err != nil {
		t.Fatal(err)
	}
	for tag, n := range r.tags {
		text = fmt.Appendf(text, "\n[[operations]]\ninclude-tag = %q\ngeneration.max-examples = %d\n", tag, n)
	}
	name := filepath.Join(t.TempDir(), "schemathesis.toml")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Requests made of the description, right ones and wrong ones, have the answers
// that it describes: no failure of the server, no undocumented status, no answer
// that breaks its schema, and what is not valid is refused.
func TestSchemathesis(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	p.loose = true // its callers send what they like, and the gateway passes it on
	// No model rests, whatever was asked of it.
	g := startGateway(t, models(p, schemathesisModels()...)+"router_settings: {disable_cooldowns: true}\n")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour) // the test's own deadline comes first
	defer cancel()
	plan := schemathesisPlan(t)
	args := append([]string{"-m", "schemathesis.cli", "--config-file", plan.config(t), "run", g.url + "/openapi.json", "--no-color"}, plan.args...)
	cmd := exec.CommandContext(ctx, apiPythonPath(t), args...)
	cmd.Env = append(os.Environ(), "GATEWAY_KEY="+adminKey, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	summary := string(out)
	if err != nil {
		t.Errorf("%v\n%s", err, summary)
	}
	made := regexp.MustCompile(`(\d+) generated`).FindStringSubmatch(summary)
	if made == nil {
		t.Fatalf("no requests were made:\n%s", summary)
	}
	if n, err := strconv.Atoi(made[1]); err != nil || n < plan.least {
		t.Errorf("%d requests are fewer than %d (%v)\n%s", n, plan.least, err, summary)
	}
	if at := strings.LastIndex(summary, "SUMMARY"); at >= 0 {
		t.Log(summary[at:])
	}
}
