package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// failing returns a deployment of a model name that fails before the others of it.
func failing(p *upstream, name, provider string) string {
	return fmt.Sprintf("  - model_name: %s\n    gateway_params: {model: %s/fake+fail-500, api_base: %s/v1, api_key: provider-key, input_cost_per_token: 0.000001, output_cost_per_token: 0.00001}\n", name, provider, p.url)
}

// TestGuardrailMatrix: each engine at each of its hooks, with each action that it has, whole and streamed, at providers of the caller's
// language and of another, at the first attempt, at a retry and at a fallback.
func TestGuardrailMatrix(t *testing.T) {
	t.Parallel()
	const address, secret = "ada.matrix@example.com", "SK9f8e7d6c5b4a39281706f5e4d3c2b1a0"
	p := newUpstream(t)
	config := models(p, "gpt=openai_compatible/fake-gpt+obey", "claude=anthropic/fake-claude+obey")
	for name, provider := range map[string]string{"gpt": "openai_compatible", "claude": "anthropic"} {
		config += failing(p, name+"-retry", provider) + failing(p, name+"-fallback", provider) + strings.Replace(strings.Replace(failing(p, name+"-retry", provider), "fail-500", "obey", 1), "{model", "{order: 1, model", 1)
	}
	g := startGateway(t, config+"router_settings:\n  num_retries: 1\n  retry_after: 0\n  disable_cooldowns: true\n  fallbacks: [{gpt-fallback: [gpt]}, {claude-fallback: [claude]}]\n")
	for engine, settings := range map[string]string{
		"presidio":         `"entities":["EMAIL_ADDRESS"],`,
		"content_filter":   `"banned_keywords":["purple narwhal"],`,
		"detect_secret":    ``,
		"prompt_injection": ``,
		"tool_permission":  `"blocked_tools":["shell"],`,
	} {
		actions := map[string][]string{"presidio": {"anonymize", "block"}, "content_filter": {"anonymize", "block"}, "detect_secret": {"redact", "block"}, "prompt_injection": {"flag", "block"}, "tool_permission": {"remove", "block"}}
		for _, hook := range []string{"pre_call", "post_call"} {
			for _, action := range actions[engine] {
				if hook == "post_call" && (engine == "prompt_injection" || action == "remove") {
					continue
				}
				member := "action"
				if engine == "tool_permission" {
					member = "on_violation"
				}
				g.manages(http.MethodPost, "/guardrail", fmt.Sprintf(`{"guardrail_name":"%s-%s-%s","engines":[{"engine_name":"%s","event_hooks":["%s"],"config":{%s"%s":"%s"}}]}`,
					engine, hook, action, engine, hook, settings, member, action))
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/guardrails_matrix.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey, "ADDRESS="+address, "SECRET="+secret)
	out, err := cmd.CombinedOutput()
	const cases = 17 * 2 * 6
	if err != nil || strings.Count(string(out), "ok ") != cases {
		t.Errorf("%v: %d of %d\n%s", err, strings.Count(string(out), "ok "), cases, onlyFailed(string(out)))
	}

	bodies := map[string][]string{} // that providers got, by the number of the case
	number := regexp.MustCompile(`case-([0-9]{4})`)
	for _, r := range p.Requests() {
		if m := number.FindStringSubmatch(r.Body); m != nil {
			bodies[m[1]] = append(bodies[m[1]], r.Body)
		}
	}
	attempts := map[string]int{"gpt": 1, "claude": 1, "gpt-retry": 2, "claude-retry": 2, "gpt-fallback": 3, "claude-fallback": 3}
	for line := range strings.SplitSeq(string(out), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 5 || fields[0] != "ok" {
			continue
		}
		heard, rule, want := bodies[fields[1]], fields[2], attempts[fields[4]]
		if strings.HasSuffix(rule, "pre_call-block") {
			want = 0 // and a block of a response leads to no other attempt
		}
		if len(heard) != want {
			t.Errorf("%s: the providers got %d requests, want %d", line, len(heard), want)
		}
		if !strings.Contains(rule, "pre_call") {
			continue
		}
		for _, body := range heard {
			if strings.Contains(body, address) || strings.Contains(body, secret) || strings.Contains(body, "narwhal") || strings.Contains(body, `"name":"shell"`) {
				t.Errorf("%s: a provider got %s", line, body)
			}
		}
	}
	if log := g.log.String(); strings.Contains(log, address) || strings.Contains(log, secret) {
		t.Error("the log has a value")
	}
}

func onlyFailed(out string) string {
	var failed []string
	for line := range strings.SplitSeq(out, "\n") {
		if !strings.HasPrefix(line, "ok ") {
			failed = append(failed, line)
		}
	}
	return strings.Join(failed, "\n")
}
