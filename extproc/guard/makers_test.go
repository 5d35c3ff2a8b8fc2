package guard_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/guard/remote"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// withEngine returns a screen with an engine of the gateway.
func withEngine(e guardrails.Engine) *guard.Screen {
	return guard.New([]*guard.Guardrail{ready(e)}, nil)
}

// ready returns a guardrail with an engine of the gateway.
func ready(e guardrails.Engine) *guard.Guardrail {
	g := &guardrails.Guardrail{Head: resource.Head{ID: "1", Name: "real"}, Engines: []guardrails.Engine{e}}
	return guard.NewLibrary(guard.Makers(guard.Outside{
		Client: remote.NewClient(remote.Config{Private: true}),
		Open:   func(sealed []byte, _ string) (vault.Secret, error) { return vault.NewSecret(string(sealed)), nil },
	})).Get(g)
}

// Each kind of engine that can be stored examines texts, with all values that its settings may have.
func TestEveryKindHasItsEngine(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"results":[{"action":"none"}]}`
		if r.URL.Path == "/analyze" {
			answer = `[]`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(service.Close)
	for _, kind := range guardrails.Kinds() {
		if kind.Name == "tool_permission" {
			continue
		}
		e := guardrails.Engine{Name: kind.Name, Hooks: kind.Hooks, BannedKeywords: []string{"zebra"}, APIBase: service.URL}
		for _, s := range kind.Settings {
			switch s.Name {
			case "entities":
				e.Entities = s.Values
			case "detectors":
				e.Detectors = s.Values
			}
		}
		s := withEngine(e)
		if _, err := s.Request(t.Context(), texts.Chat(), []byte(`{"messages":[{"role":"user","content":"nothing"}]}`)); err != nil {
			t.Errorf("%s: %v", kind.Name, err)
		}
	}
}

func TestEnginesOfTheGateway(t *testing.T) {
	for _, c := range []struct {
		engine guardrails.Engine
		text   string
		want   string
	}{
		{guardrails.Engine{Name: "presidio"}, "Ada Lovelace, ada@example.com, +44 20 7946 0958, 4111 1111 1111 1111", "[PERSON], [EMAIL_ADDRESS], [PHONE_NUMBER], [CREDIT_CARD]"},
		{guardrails.Engine{Name: "presidio", Entities: []string{"PERSON"}, Reversible: true}, "Ada Lovelace met Charles Babbage. Ada Lovelace wrote.", "[PERSON_1] met [PERSON_2]. [PERSON_1] wrote."},
		{guardrails.Engine{Name: "presidio", AllowList: []string{"ada@example.com"}}, "ada@example.com or bob@example.com", "ada@example.com or [EMAIL_ADDRESS]"},
		{guardrails.Engine{Name: "content_filter", BannedKeywords: []string{"zebra"}, BannedPatterns: []string{"proj-[0-9]+"}, Action: "anonymize"}, "A Zebra in PROJ-17", "A [KEYWORD_0] in [PATTERN_0]"},
	} {
		c.engine.Hooks = []string{guardrails.PreCall}
		out, err := withEngine(c.engine).Request(t.Context(), texts.Chat(), []byte(`{"messages":[{"role":"user","content":"`+c.text+`"}]}`))
		if err != nil || !strings.Contains(string(out), `"`+c.want+`"`) {
			t.Errorf("%s: %s %v, want %s", c.engine.Name, out, err, c.want)
		}
	}
}
