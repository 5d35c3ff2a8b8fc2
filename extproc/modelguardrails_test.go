package extproc

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
)

// TestGuardrailsOfModels applies the guardrails of all deployments that a request may reach, before one of them is chosen:
// the attempt at a fallback has the body that the first one has.
func TestGuardrailsOfModels(t *testing.T) {
	t.Parallel()
	on, foreign := bothHooks("flag"), bothHooks("flag")
	on.DefaultOn = true
	foreign.Organization = "other"
	all := map[string]guardrails.Guardrail{"mask": bothHooks(""), "seen": bothHooks("flag"), "always": on, "foreign": foreign}
	for name, c := range map[string]struct {
		member      string
		main, spare []string
		want        string // the names in order; empty: 400
	}{
		"none":                       {want: "always"},
		"the model's":                {main: []string{"seen", "mask"}, want: "seen,mask,always"},
		"the fallback's":             {spare: []string{"mask"}, want: "mask,always"},
		"of both, each once":         {main: []string{"seen"}, spare: []string{"mask", "seen", "always"}, want: "seen,mask,always"},
		"behind the request's":       {member: `"guardrail_id":"mask",`, main: []string{"seen", "mask"}, want: "mask,seen,always"},
		"not switched off":           {member: `"guardrails":[],"disable_fallbacks":true,`, spare: []string{"mask"}, want: "mask,always"},
		"not there":                  {main: []string{"mask", "gone"}},
		"not there, of the fallback": {spare: []string{"gone"}},
		"of an organization":         {main: []string{"foreign"}},
	} {
		main, spare := place("a", "fast", "fast", 0), place("b", "spare", "spare", 0)
		main.Guardrails, spare.Guardrails = c.main, c.spare
		spec := catalog.Spec{Deployments: []catalog.DeploymentSpec{main, spare}, Router: quick(0)}
		spec.Router.Fallbacks = []map[string][]string{{"fast": {"spare"}}}
		k := newKit(t, spec, withGuardrails(t, all))
		e := k.open(t)
		out := e.request(plainHeaders(e.uuid, "authorization", "Bearer "+appKey), strings.Replace(hello, "{", "{"+c.member, 1))
		if c.want == "" {
			if out.refused == nil || out.refused.status != 400 || !strings.Contains(out.refused.body, `"code":"guardrail_not_found"`) ||
				!strings.Contains(out.refused.body, "The guardrails of the model") {
				t.Errorf("%s: %+v", name, out.refused)
			}
			e.close()
			continue
		}
		if out.refused != nil {
			t.Fatalf("%s: %+v", name, out.refused)
		}
		if masks := strings.Contains(c.want, "mask"); masks == strings.Contains(out.body, "Hello") {
			t.Errorf("%s: the provider gets %s", name, out.body)
		}
		if a := e.answer(jsonAnswer(goodReply)); a.headers["x-gateway-applied-guardrails"] != c.want {
			t.Errorf("%s: %q were applied, want %q", name, a.headers["x-gateway-applied-guardrails"], c.want)
		}
	}
}
