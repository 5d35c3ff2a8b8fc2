//go:build linux && nightly

package e2e

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// agent is a coding agent without a terminal: it gets one prompt, and runs the tools that the model
// calls.
type agent struct {
	t       *testing.T
	home    string // of the agent
	work    string // where it works
	gateway string
	outside string // a proxy that nothing may ask for anything
}

// newAgent is an agent with folders of its own. Whatever it wants of hosts other than the loopback
// fails, and the test with it.
func newAgent(t *testing.T, gateway string) *agent {
	t.Helper()
	var asked atomic.Int64
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		t.Logf("the agent asked for %s", r.Host)
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(outside.Close)
	t.Cleanup(func() {
		if n := asked.Load(); n > 0 {
			t.Errorf("the agent asked for other hosts %d times", n)
		}
	})
	return &agent{t: t, home: t.TempDir(), work: t.TempDir(), gateway: gateway, outside: outside.URL}
}

// run runs a program of .tmp/bin with arguments, and more variables than those that each agent has.
func (a *agent) run(program string, env []string, args ...string) string {
	a.t.Helper()
	path, err := filepath.Abs(filepath.Join(cmp.Or(os.Getenv("MODELGATEWAY_AGENTS"), ".tmp/bin"), program))
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		a.t.Fatalf("no agent to test with; run: make agents (%v)", err)
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = a.work
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + a.home, "HTTP_PROXY=" + a.outside, "HTTPS_PROXY=" + a.outside, "NO_PROXY=127.0.0.1",
	}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}

// codex gives Codex a prompt and returns its session.
func (a *agent) codex(model, prompt string, args ...string) string {
	a.t.Helper()
	config := `model_provider = "gateway"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
apps = false
plugins = false
[model_providers.gateway]
name = "gateway"
base_url = "` + a.gateway + `/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
`
	if err := os.WriteFile(filepath.Join(a.home, "config.toml"), []byte(config), 0o600); err != nil {
		a.t.Fatal(err)
	}
	out := a.run("codex", []string{"CODEX_HOME=" + a.home, "GATEWAY_KEY=" + adminKey},
		append([]string{"exec", "--skip-git-repo-check", "--model", model}, append(args, prompt)...)...)
	session := regexp.MustCompile(`session id: (\S+)`).FindStringSubmatch(out)
	if session == nil {
		a.t.Fatalf("Codex names no session: %s", out)
	}
	return session[1]
}

// claude gives Claude Code a prompt and returns its session.
func (a *agent) claude(model, prompt string) string {
	a.t.Helper()
	return a.claudeAt(model, prompt, "ANTHROPIC_BASE_URL="+a.gateway, "ANTHROPIC_AUTH_TOKEN="+adminKey)
}

// claudeAt is claude with the variables that say where the models are.
func (a *agent) claudeAt(model, prompt string, env ...string) string {
	a.t.Helper()
	out := a.run("claude", append(env,
		"ANTHROPIC_MODEL="+model, "ANTHROPIC_DEFAULT_HAIKU_MODEL="+model,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"IS_SANDBOX=1", // it refuses to run tools as root otherwise
	), "--print", prompt, "--dangerously-skip-permissions", "--output-format", "json")
	var result struct {
		Session string `json:"session_id"`
		IsError bool   `json:"is_error"`
		Result  string `json:"result"`
	}
	_, last, _ := strings.Cut(out, "{\"duration") // warnings may come before
	if err := json.Unmarshal([]byte("{\"duration"+last), &result); err != nil || result.IsError || result.Session == "" || !strings.Contains(result.Result, "The tool answered") {
		a.t.Fatalf("%v: %s", err, out)
	}
	return result.Session
}

// wrote checks what a tool has written.
func (a *agent) wrote(name string) {
	a.t.Helper()
	if text, err := os.ReadFile(filepath.Join(a.work, name)); err != nil || strings.TrimSpace(string(text)) != "written" {
		a.t.Errorf("%s: %q, %v", name, text, err)
	}
}

// Codex and Claude Code run tools that a model of each language calls, and their session is that of
// the records of their requests.
func TestAgents(t *testing.T) {
	p := newUpstream(t)
	p.loose = true // Codex's requests have members that OpenAI's document lacks
	g := startGateway(t, models(p, "coder-chat=openai_compatible/obey", "coder-messages=anthropic/obey", "coder-responses=openai/obey+fake-codex", "coder-gemini=gemini/gemini-3-flash+obey"))
	for _, model := range []string{"coder-chat", "coder-messages", "coder-responses", "coder-gemini"} {
		// Each tool takes a request for the call, and one with its result.
		check := func(t *testing.T, session string, least int) {
			t.Helper()
			rows := slices.DeleteFunc(g.spend(""), func(r spendLog) bool { return r.Session != session })
			for _, r := range rows {
				if r.Status != "success" || r.Group != model || r.Source != "provider" {
					t.Errorf("recorded %+v", r)
				}
			}
			if len(rows) < least {
				t.Errorf("%d records of session %s, want %d", len(rows), session, least)
			}
		}
		t.Run("Codex/"+model, func(t *testing.T) {
			a := newAgent(t, g.url)
			check(t, a.codex(model, `call: exec_command {"cmd":"echo written > shell.txt"}`, "--dangerously-bypass-approvals-and-sandbox"), 2)
			a.wrote("shell.txt")
			// In its sandbox Codex searches only a copy of the web.
			check(t, a.codex(model, "Hello."), 1)
		})
		t.Run("ClaudeCode/"+model, func(t *testing.T) {
			a := newAgent(t, g.url)
			check(t, a.claude(model, `call: Bash {"command":"echo written > shell.txt","description":"write"}`), 2)
			a.wrote("shell.txt")
			check(t, a.claude(model, `call: Write {"file_path":"`+filepath.Join(a.work, "file.txt")+`","content":"written"}`), 2)
			a.wrote("file.txt")
		})
	}
	if !slices.ContainsFunc(p.Requests(), func(r fake.Request) bool { return strings.Contains(r.Body, `"external_web_access":false`) }) {
		t.Error("Codex no longer searches a copy of the web in its sandbox: the test shows nothing about it")
	}
}

// Claude Code as it is set up for Bedrock and for Vertex AI runs tools that a model calls, at the gateway.
func TestClaudeCodeAtClouds(t *testing.T) {
	p := newUpstream(t)
	g := startGateway(t, models(p, "coder-chat=openai_compatible/obey", "coder-messages=anthropic/obey"))
	bedrock := []string{"CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_BEDROCK_BASE_URL=" + g.url + "/bedrock", "AWS_REGION=us-east-1"}
	for name, env := range map[string][]string{
		"Bedrock with a bearer token": append(slices.Clone(bedrock), "AWS_BEARER_TOKEN_BEDROCK="+adminKey),
		"Bedrock without AWS":         append(slices.Clone(bedrock), "CLAUDE_CODE_SKIP_BEDROCK_AUTH=1", "ANTHROPIC_AUTH_TOKEN="+adminKey),
		"Vertex AI": {
			"CLAUDE_CODE_USE_VERTEX=1", "ANTHROPIC_VERTEX_BASE_URL=" + g.url + "/vertex_ai/v1", "CLAUDE_CODE_SKIP_VERTEX_AUTH=1", "ANTHROPIC_AUTH_TOKEN=" + adminKey,
			"CLOUD_ML_REGION=us-east5", "ANTHROPIC_VERTEX_PROJECT_ID=any",
		},
	} {
		for _, model := range []string{"coder-chat", "coder-messages"} {
			t.Run(name+"/"+model, func(t *testing.T) {
				a := newAgent(t, g.url)
				before := len(g.spend(""))
				a.claudeAt(model, `call: Bash {"command":"echo written > shell.txt","description":"write"}`, env...)
				a.wrote("shell.txt")
				var answered, refused int
				for _, r := range g.spend("")[before:] {
					switch {
					case r.Group != model:
						t.Errorf("recorded %+v", r)
					case r.Status == "success" && r.Source == "provider":
						answered++
					case r.HTTPStatus == http.StatusBadRequest: // a system message among the others: it goes on without, as with older models of Anthropic
						refused++
					default:
						t.Errorf("recorded %+v", r)
					}
				}
				if answered < 2 || refused > 1 { // the call, and its result
					t.Errorf("%d requests were answered, %d refused", answered, refused)
				}
			})
		}
	}
	// It looks for models of its own, and goes on without a list of AWS's profiles.
	if log := g.log.String(); !strings.Contains(log, "api/bedrock#") || !strings.Contains(log, `"code":"model_not_found"`) {
		t.Error("Claude Code no longer asks for profiles and models of Bedrock: the page on clients says so")
	}
	noneHasTheKey(t, p)
}
