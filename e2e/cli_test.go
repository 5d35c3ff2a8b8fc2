package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// terminal runs the program's commands against a gateway.
type terminal struct {
	t       *testing.T
	program string
	env     []string
}

func newTerminal(t *testing.T, g *gatewayProcess) *terminal {
	t.Helper()
	return &terminal{t: t, program: binary(t), env: append(os.Environ(), "MODELGATEWAY_URL="+g.url, "MODELGATEWAY_KEY="+adminKey)}
}

// run runs a command that must succeed and returns what it prints.
func (c *terminal) run(args ...string) string {
	c.t.Helper()
	out, err := c.try(args...)
	if err != nil {
		c.t.Fatalf("modelgateway %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (c *terminal) try(args ...string) (string, error) {
	cmd := exec.CommandContext(c.t.Context(), c.program, args...)
	cmd.Env = c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// object is the JSON that a command prints.
func (c *terminal) object(args ...string) map[string]any {
	c.t.Helper()
	text := c.run(append(args, "-o", "json")...)
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		c.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return out
}

// TestCommandLine does from a terminal what an operator does in a first week.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, quickstart(p))
	c := newTerminal(t, g)

	c.run("organization", "new", "Acme", "--organization-id", "acme", "--models", "fast,new")
	c.run("team", "new", "Research", "--team-id", "research", "--organization-id", "acme", "--max-budget", "100", "--budget-duration", "1mo")
	c.run("user", "new", "ada@example.com", "--user-id", "ada", "--auto-create-key=false")
	c.run("team", "member-add", "research", "--member", `{"user_id": "ada", "role": "admin"}`)
	if out := c.run("team", "list"); !strings.Contains(out, "research") || !strings.Contains(out, "Research") {
		t.Errorf("the teams are\n%s", out)
	}

	key := c.object("key", "generate", "--team-id", "research", "--key-alias", "ci", "--models", "fast")
	secret, _ := key["key"].(string)
	if a := g.chat(request("fast", ""), with("Authorization", "Bearer "+secret)); a.status != 200 {
		t.Errorf("the key is answered %d %s", a.status, a.body)
	}
	if out := c.run("key", "list", "--team-id", "research"); !strings.Contains(out, "ci") || strings.Contains(out, secret) {
		t.Errorf("the keys are\n%s", out)
	}
	if now := c.object("key", "update", secret, "--rpm-limit", "60"); now["rpm_limit"] != 60.0 {
		t.Errorf("updated to %v", now)
	}
	c.run("key", "block", secret)
	if a := g.chat(request("fast", ""), with("Authorization", "Bearer "+secret)); a.status != 401 {
		t.Errorf("a blocked key is answered %d", a.status)
	}
	c.run("key", "delete", secret)

	c.run("model", "new", "new", "--model", "openai/fake-gpt", "--api-base", p.url+"/v1", "--api-key", "sk-provider-0123456789", "--id", "new-1")
	if out := c.run("model", "list"); !strings.Contains(out, "new-1") || strings.Contains(out, "sk-provider") {
		t.Errorf("the models are\n%s", out)
	}
	if a := g.chat(request("new", "")); a.status != 200 {
		t.Errorf("the new model answers %d %s", a.status, a.body)
	}

	c.run("prompt", "new", "greeting", "--messages", `[{"role": "system", "content": "Greet {{ name }}."}]`)
	c.run("prompt", "update", "greeting", "--messages", `[{"role": "system", "content": "Greet {{ name }} warmly."}]`)
	if out := c.run("prompt", "render", "greeting", "--variables", `{"name": "Ada"}`); !strings.Contains(out, "Greet Ada warmly.") {
		t.Errorf("rendered\n%s", out)
	}
	if out := c.run("prompt", "versions", "greeting"); strings.Count(out, "greeting") != 2 {
		t.Errorf("the versions are\n%s", out)
	}

	for _, tc := range []struct{ args, want string }{
		{"team info nowhere", "team_not_found"},
		{"key generate --max-budget=-1", "max_budget"},
		{"key generate --duration soon", "duration"},
		{"key generate --team-id nowhere", "team_not_found"},
	} {
		if out, err := c.try(strings.Fields(tc.args)...); err == nil || !strings.Contains(out, tc.want) {
			t.Errorf("%s: %v\n%s", tc.args, err, out)
		}
	}
	if out := c.run("key", "generate", "--help"); !strings.Contains(out, "--key-alias text") || !strings.Contains(out, "unique among the keys of one team") {
		t.Errorf("the help is\n%s", out)
	}
	c.run("organization", "delete", "acme")
	if out, err := c.try("team", "info", "research"); err == nil {
		t.Errorf("a team outlived its organization:\n%s", out)
	}
}
