package main

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// guarded is a file that asks for guards which do not exist here.
func guarded(p *upstream) string {
	return `
model_list:
  - model_name: fast
    litellm_params: {model: openai/fake-gpt, api_base: "` + p.url + `/v1", api_key: k, tags: [free]}
litellm_settings: {callbacks: [prometheus, presidio]}
`
}

// TestStartsUnprotectedOnlyIfAccepted starts a file that asks for two guards: with
// neither or one of them accepted it does not start, and with both accepted each
// start warns of both.
func TestStartsUnprotectedOnlyIfAccepted(t *testing.T) {
	g := newGateway(t, guarded(newUpstream(t)))
	tags, presidio := "--accept-unprotected=litellm_params.tags", "--accept-unprotected=callbacks.presidio"
	for _, args := range [][]string{nil, {tags}} {
		check := append([]string{"config", "check", g.config}, args...)
		out, err := exec.Command(binary(t), check...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "requests would be served without this guard") || !strings.Contains(string(out), presidio[:20]) {
			t.Errorf("config check %v: %v\n%s", args, err, out)
		}
		g.args = args
		g.launch()
		if err := <-g.exited; err == nil || !strings.Contains(g.log.String(), "callbacks[1]: is not supported") {
			t.Fatalf("serve %v: %v\n%s", args, err, g.log.String())
		}
	}
	g.args = []string{tags, presidio}
	for range 2 {
		g.start()
		if a := g.chat(request("fast", "")); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
		for _, name := range []string{"litellm_params.tags", "callbacks.presidio"} {
			if !strings.Contains(g.log.String(), "is not enforced, as --accept-unprotected "+name+" accepts") {
				t.Errorf("no warning names %s", name)
			}
		}
		g.stop()
	}
}
