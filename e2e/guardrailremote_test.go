package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// The secrets of guardrails' services, which nobody may see.
const (
	analyzerKey   = "analyzer-key-canary-0123456789"
	checkerSecret = "whsec_checker-canary-0123456789"
	canaryName    = "Ada Lovelace-Canary"
)

// spanOf is a place that a service has found, in code points.
type spanOf struct {
	Entity string  `json:"entity_type,omitempty"`
	Name   string  `json:"entity,omitempty"`
	Start  int     `json:"start"`
	End    int     `json:"end"`
	Score  float64 `json:"score,omitempty"`
}

// placesOf returns where a text has the name.
func placesOf(text string) []spanOf {
	out := []spanOf{}
	for at := 0; ; {
		i := strings.Index(text[at:], canaryName)
		if i < 0 {
			return out
		}
		start := utf8.RuneCountInString(text[:at+i])
		out = append(out, spanOf{Start: start, End: start + utf8.RuneCountInString(canaryName)})
		at += i + len(canaryName)
	}
}

// guardServices are an analyzer and a checker, as the operator of a gateway runs them.
type guardServices struct {
	url    string
	mu     sync.Mutex
	faults []string // of requests that are not as they should be
}

func (s *guardServices) wrong(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

func newServices(t *testing.T) *guardServices {
	t.Helper()
	s := &guardServices{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /presidio/analyze", s.analyze)
	mux.HandleFunc("POST /check/{what}", s.check)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.Close()
		for _, f := range s.faults {
			t.Error(f)
		}
	})
	s.url = server.URL
	return s
}

// analyze does what Presidio's analyzer does.
func (s *guardServices) analyze(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+analyzerKey {
		s.wrong("the analyzer gets the token %q", r.Header.Get("Authorization"))
	}
	body, _ := io.ReadAll(r.Body)
	var one struct {
		Text string `json:"text"`
	}
	var list struct {
		Text []string `json:"text"`
	}
	if json.Unmarshal(body, &one) == nil {
		list.Text = []string{one.Text}
	} else if err := json.Unmarshal(body, &list); err != nil {
		s.wrong("the analyzer gets %s: %v", body, err)
	}
	all := make([][]spanOf, len(list.Text))
	for i, text := range list.Text {
		for _, p := range placesOf(text) {
			p.Entity, p.Score = "PERSON", 0.85
			all[i] = append(all[i], p)
		}
		if all[i] == nil {
			all[i] = []spanOf{}
		}
	}
	var answer any = all
	if one.Text != "" {
		answer = all[0]
	}
	_ = json.MarshalWrite(w, answer)
}

// check is a checker. What it does is in its path.
func (s *guardServices) check(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if err := signed(r.Header.Get("X-Gateway-Signature"), body, checkerSecret); err != nil {
		s.wrong("%v", err)
	}
	var in struct {
		Guardrail string `json:"guardrail"`
		Hook      string `json:"hook"`
		Request   string `json:"request_id"`
		Kind      string `json:"kind"`
		Texts     []struct {
			Text string `json:"text"`
		} `json:"texts"`
	}
	if err := json.Unmarshal(body, &in); err != nil || in.Guardrail == "" || !strings.HasSuffix(in.Guardrail, map[string]string{"pre_call": "before", "post_call": "after"}[in.Hook]) && in.Guardrail != "checker-rewrites" || !strings.HasPrefix(in.Request, "req_") || in.Kind != "content" {
		s.wrong("the checker gets %s (%v)", body, err)
	}
	results := []any{}
	for _, text := range in.Texts {
		places := placesOf(text.Text)
		switch {
		case len(places) == 0:
			results = append(results, map[string]any{"action": "none"})
		case r.PathValue("what") == "block":
			results = append(results, map[string]any{"action": "block", "entity": "CANARY"})
		case r.PathValue("what") == "rewrite":
			results = append(results, map[string]any{"action": "anonymize", "replacement": strings.ReplaceAll(text.Text, canaryName, "somebody")})
		default:
			for i := range places {
				places[i].Name = "PERSON"
			}
			results = append(results, map[string]any{"action": "anonymize", "spans": places})
		}
	}
	_ = json.MarshalWrite(w, map[string]any{"results": results})
}

// Applications use guardrails whose engines ask services: hooks, whole and streamed, and services that are away.
func TestGuardrailServicesBySDK(t *testing.T) {
	t.Parallel()
	p, s := newUpstream(t), newServices(t)
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt"))
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	make := func(name, engine, address, hooks, more string) {
		t.Helper()
		secret := `"api_key":"` + analyzerKey + `"`
		if engine == "http" {
			secret = `"signing_secret":"` + checkerSecret + `"`
		}
		g.manages(http.MethodPost, "/guardrail", `{"guardrail_name":"`+name+`","engines":[{"engine_name":"`+engine+`","event_hooks":[`+hooks+`],"config":{"api_base":"`+address+`",`+secret+more+`}}]}`)
	}
	for hook, name := range map[string]string{"before": `"pre_call"`, "after": `"post_call"`} {
		make("analyzer-"+hook, "presidio_remote", s.url+"/presidio/", name, `,"entities":["PERSON"]`)
		make("checker-"+hook, "http", s.url+"/check/mask", name, "")
		make("checker-blocks-"+hook, "http", s.url+"/check/block", name, "")
		for what, more := range map[string]string{"away-": "", "passes-": `,"on_error":"pass"`} {
			make("analyzer-"+what+hook, "presidio_remote", away.URL, name, more)
			make("checker-"+what+hook, "http", away.URL, name, more)
		}
	}
	make("analyzer-reversible", "presidio_remote", s.url+"/presidio", `"pre_call"`, `,"reversible":true`)
	make("checker-rewrites", "http", s.url+"/check/rewrite", `"pre_call","post_call"`, "")
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/guardrail_services_sdk.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey, "CANARY="+canaryName)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "ok ") != 32 {
		t.Errorf("%v\n%s", err, out)
	}
	if log := g.log.String(); strings.Contains(log, canaryName) || strings.Contains(log, analyzerKey) || strings.Contains(log, checkerSecret) {
		t.Error("the log has the name or a secret")
	}
}

// TestPresidioExample runs the example as a reader would who has an analyzer: the name is replaced, and comes back.
func TestPresidioExample(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai_compatible/fake-gpt"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "Presidio Analyzer service is up")
	})
	mux.HandleFunc("POST /analyze", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Text string }
		if err := json.UnmarshalRead(r.Body, &in, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Error(err)
		}
		found := []spanOf{}
		for entity, name := range map[string]string{"PERSON": "Ada Lovelace", "LOCATION": "London"} {
			if i := strings.Index(in.Text, name); i >= 0 {
				found = append(found, spanOf{Entity: entity, Start: i, End: i + len(name), Score: 0.85})
			}
		}
		_ = json.MarshalWrite(w, found)
	})
	analyzer := httptest.NewServer(mux)
	t.Cleanup(analyzer.Close)
	cmd := exec.CommandContext(t.Context(), "examples/presidio/run.sh")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "GATEWAY_KEY="+adminKey, "GATEWAY="+newTerminal(t, g).program, "ANALYZER_URL="+analyzer.URL)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "Write to [PERSON_1] in [LOCATION_1], please.") {
		t.Errorf("%v\n%s", err, out)
	}
	heard := p.Requests()
	if len(heard) != 1 || strings.Contains(heard[0].Body, "Ada") || strings.Contains(heard[0].Body, "London") {
		t.Errorf("the provider gets %+v", heard)
	}
}
