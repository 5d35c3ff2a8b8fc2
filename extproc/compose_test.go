package extproc

import (
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

const (
	supportID = "0197c1a0-0000-7000-8000-000000000001"
	foreignID = "0197c1a0-0000-7000-8000-000000000002"
	longID    = "0197c1a0-0000-7000-8000-000000000003"
)

// library is a set of prompts. support has two versions, the label production for the first, and the
// label trial, which is split; long has 1 KB and five variables, and foreign is
// another organization's.
func library(tb testing.TB) *prompts.Set {
	tb.Helper()
	var state recordtest.State
	set := prompts.New()
	run := func(op func(tx *record.Txn) error) {
		tb.Helper()
		tx := record.NewTxn(time.Unix(1_700_000_000, 0), "ada")
		if err := op(tx); err != nil {
			tb.Fatal(err)
		}
		changes, _, err := state.Commit(tx)
		if err != nil {
			tb.Fatal(err)
		}
		var broken []error
		if set, broken = set.With(changes); len(broken) > 0 {
			tb.Fatal(broken[0])
		}
	}
	find := func(tx *record.Txn) *prompts.Prompt {
		p, err := set.Find(tx, "name", "support", resource.Who{MaySee: func(id.Organization) bool { return true }})
		if err != nil {
			tb.Fatal(err)
		}
		return p
	}
	message := func(role, text string) prompts.Message { return prompts.Message{Role: role, Content: text} }
	run(func(tx *record.Txn) error {
		_, _, err := set.Create(tx, prompts.Prompt{Head: resource.Head{ID: supportID, Name: "support"}},
			prompts.Content{Messages: []prompts.Message{message("system", "Help {{ name }}.")}})
		return err
	})
	run(func(tx *record.Txn) error {
		text := "You help {{ a }} with {{ b }} in {{ c }}. " + strings.Repeat("Be polite, be brief, and never guess. ", 24) + "{{ d }} {{ e }}"
		_, _, err := set.Create(tx, prompts.Prompt{Head: resource.Head{ID: longID, Name: "long"}}, prompts.Content{Messages: []prompts.Message{message("system", text)}})
		return err
	})
	run(func(tx *record.Txn) error {
		_, _, err := set.Create(tx, prompts.Prompt{Head: resource.Head{ID: foreignID, Name: "foreign", Organization: "other"}},
			prompts.Content{Messages: []prompts.Message{message("system", "Secret.")}})
		return err
	})
	run(func(tx *record.Txn) error {
		p := find(tx)
		_, _, err := set.Update(tx, p, *p, prompts.Content{
			Messages: []prompts.Message{message("system", "Help {{ name }} well."), message("user", "Hello?"), message("assistant", "Yes.")},
			Config: prompts.Config{
				{Name: "model", Value: []byte(`"fast"`)}, {Name: "temperature", Value: []byte("0.5"), Enforced: true}, {Name: "max_tokens", Value: []byte("77")},
			},
		}, 0)
		return err
	})
	run(func(tx *record.Txn) error {
		_, err := set.SetLabel(tx, find(tx), prompts.Label{Name: "production", Shares: []prompts.Share{{Version: 1, Weight: 1}}}, 0)
		return err
	})
	run(func(tx *record.Txn) error {
		_, err := set.SetLabel(tx, find(tx), prompts.Label{Name: "trial", Shares: []prompts.Share{{Version: 1, Weight: 1}, {Version: 2, Weight: 1}}}, 0)
		return err
	})
	return set
}

// withLibrary gives a kit prompts.
func withLibrary(tb testing.TB) change {
	tb.Helper()
	set := library(tb)
	return func(_ *kit, d *pipeline.Deps) {
		view := *d.View()
		view.Prompts = set
		d.View = func() *cluster.View { return &view }
	}
}

const ada = `"prompt_variables":{"name":"Ada \"A\" Lovelace"}`

// TestPromptsAreComposed composes requests in each language and sends them to each provider: the
// provider gets the messages and settings of the prompt, and never a field of the gateway.
func TestPromptsAreComposed(t *testing.T) {
	t.Parallel()
	for caller, asked := range languageCases() {
		for provider, served := range providerCases() {
			if _, ok := served.path[caller]; !ok || caller == "completions" { // no chat: TestRejectedPrompts
				continue
			}
			t.Run(caller+" to "+provider, func(t *testing.T) {
				t.Parallel()
				k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{served.deployment}, Router: quick(0)}, withLibrary(t))
				e := k.open(t)
				out := e.request(to(e, asked.path), strings.Replace(asked.body, "{", `{"prompt_id":"support","metadata":{"prompt_label":"latest"},`+ada+`,`, 1))
				if out.refused != nil {
					t.Fatalf("rejected: %+v", out.refused)
				}
				if strings.Contains(out.body, "prompt_") {
					t.Errorf("the provider gets a field of the gateway: %s", out.body)
				}
				at := 0
				for _, text := range []string{`Help Ada \"A\" Lovelace well.`, `Hello?`, `Yes.`, `Hello`} {
					i := strings.Index(out.body[at:], text)
					if i < 0 && text == `Help Ada \"A\" Lovelace well.` && strings.Contains(out.body, text) {
						continue
					}
					if i < 0 {
						t.Fatalf("%q is missing, or in another order: %s", text, out.body)
					}
					if !strings.HasPrefix(text, "Help") { // it may stand after the messages, as Anthropic's system
						at += i + len(text)
					}
				}
				if !strings.Contains(out.body, `"temperature":0.5`) {
					t.Errorf("the enforced temperature is missing: %s", out.body)
				}
				if !strings.Contains(out.body, "77") && caller != "messages" { // whose caller sets max_tokens
					t.Errorf("the default of max_tokens is missing: %s", out.body)
				}
				a := e.answer(jsonAnswer(served.whole))
				if a.status != 200 || a.headers["x-gateway-prompt"] != "support@2" {
					t.Errorf("the caller gets %d, prompt %q", a.status, a.headers["x-gateway-prompt"])
				}
				if got := k.event(e.uuid).Prompt; got != (usage.Prompt{ID: supportID, Version: 2, Label: "latest"}) {
					t.Errorf("recorded %+v", got)
				}
				k.settled()
			})
		}
	}
}

// TestWhereAPromptIsNamed names a prompt in each place.
func TestWhereAPromptIsNamed(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), withLibrary(t))
	for name, c := range map[string]struct {
		body    string
		headers []string
		want    string
	}{
		"id":                            {`{"prompt_id":"` + supportID + `","prompt_version":1,"model":"fast","messages":[{"role":"user","content":"x"}]}`, nil, "support@1"},
		"label":                         {with(`"prompt_id":"support","prompt_label":"production"`), nil, "support@1"},
		"metadata":                      {with(`"metadata":{"prompt_id":"support","prompt_version":1}`), nil, "support@1"},
		"litellm_metadata":              {with(`"litellm_metadata":{"prompt_id":"support","prompt_label":"production"}`), nil, "support@1"},
		"headers":                       {hello, []string{"x-gateway-prompt-id", "support", "x-gateway-prompt-version", "1"}, "support@1"},
		"header and body":               {with(`"prompt_id":"support"`), []string{"x-gateway-prompt-label", "production"}, "support@1"},
		"the same twice":                {with(`"prompt_id":"support"`), []string{"x-gateway-prompt-id", "support"}, "support@2"},
		"null":                          {with(`"prompt_id":null,"prompt_variables":null`), nil, ""},
		"the prompt's model":            {`{"model":"prompt","prompt_id":"support","messages":[{"role":"user","content":"x"}]}`, nil, "support@2"},
		"the prompt's model by silence": {`{"prompt_id":"support","messages":[{"role":"user","content":"x"}]}`, nil, "support@2"},
	} {
		e := k.open(t)
		out := e.request(append(plainHeaders(e.uuid, "authorization", "Bearer "+appKey), c.headers...), c.body)
		if out.refused != nil {
			t.Errorf("%s: rejected: %+v", name, out.refused)
			e.close()
			continue
		}
		if strings.Contains(out.body, "prompt_") || strings.Contains(out.body, `"prompt"`) {
			t.Errorf("%s: the provider gets %s", name, out.body)
		}
		for header := range out.headers {
			if strings.HasPrefix(header, "x-gateway-prompt") {
				t.Errorf("%s: the provider gets the header %s", name, header)
			}
		}
		if a := e.answer(jsonAnswer(goodReply)); a.headers["x-gateway-prompt"] != c.want {
			t.Errorf("%s: composed with %q, want %q", name, a.headers["x-gateway-prompt"], c.want)
		}
	}
	k.settled()
}

// TestRejectedPrompts sends what cannot be composed.
func TestRejectedPrompts(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), withLibrary(t))
	for name, c := range map[string]struct {
		path, body  string
		status      int
		code, param string
	}{
		"unknown":           {"", with(`"prompt_id":"nothing"`), 404, "prompt_not_found", "prompt_id"},
		"of others":         {"", with(`"prompt_id":"` + foreignID + `"`), 404, "prompt_not_found", "prompt_id"},
		"no version":        {"", with(`"prompt_id":"support","prompt_version":3`), 404, "prompt_version_not_found", "prompt_version"},
		"version zero":      {"", with(`"prompt_id":"support","prompt_version":0`), 400, "invalid_value", "prompt_version"},
		"negative version":  {"", with(`"prompt_id":"support","prompt_version":-1`), 400, "invalid_value", "prompt_version"},
		"version as text":   {"", with(`"prompt_id":"support","prompt_version":"1"`), 400, "invalid_value", "prompt_version"},
		"label":             {"", with(`"prompt_id":"support","prompt_label":"none"`), 404, "prompt_label_not_found", "prompt_label"},
		"label and version": {"", with(`"prompt_id":"support","prompt_label":"production","prompt_version":1`), 400, "invalid_value", "prompt_label"},
		"said twice":        {"", with(`"prompt_id":"support","metadata":{"prompt_id":"other"}`), 400, "duplicate_parameter", "prompt_id"},
		"id is a number":    {"", with(`"prompt_id":7`), 400, "invalid_type", "prompt_id"},
		"variables alone":   {"", with(`"prompt_variables":{}`), 400, "missing_required_parameter", "prompt_id"},
		"label alone":       {"", with(`"prompt_label":"production"`), 400, "missing_required_parameter", "prompt_id"},
		"variables a list":  {"", with(`"prompt_id":"support","prompt_variables":[]`), 400, "invalid_type", "prompt_variables"},
		"large variables":   {"", with(`"prompt_id":"support","prompt_variables":{"name":"` + strings.Repeat("x", 10<<20) + `"}`), 400, "invalid_prompt_variables", "prompt_variables"},
		"deep variables":    {"", with(`"prompt_id":"support","prompt_variables":{"name":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`), 400, "invalid_json", ""},
		"no model":          {"", `{"prompt_id":"support","prompt_version":1,"messages":[{"role":"user","content":"x"}]}`, 400, "missing_required_parameter", "model"},
		"a completion":      {"/v1/completions", `{"model":"fast","prompt":"x","prompt_id":"support"}`, 400, "unsupported_parameter", "prompt_id"},
		"no chat":           {"/v1/embeddings", `{"model":"fast","input":"x","prompt_id":"support"}`, 400, "unsupported_parameter", "prompt_id"},
	} {
		e := k.open(t)
		path := c.path
		if path == "" {
			path = "/v1/chat/completions"
		}
		out := e.request(to(e, path), c.body)
		if out.refused == nil || out.refused.status != c.status || !strings.Contains(out.refused.body, `"code":"`+c.code) || c.param != "" && !strings.Contains(out.refused.body, `"param":"`+c.param) {
			t.Errorf("%s: %+v", name, out.refused)
		}
		e.close()
	}
	k.settled()
}

// TestPromptsAreNotOld: a node that is cut off from its cluster composes nothing.
func TestPromptsAreNotOld(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), withLibrary(t), func(_ *kit, d *pipeline.Deps) { d.Fresh = func() bool { return false } })
	e := k.open(t)
	if out := e.request(to(e, "/v1/chat/completions"), with(`"prompt_id":"support"`)); out.refused == nil || out.refused.status != 503 || !strings.Contains(out.refused.body, "cut_off") {
		t.Errorf("a prompt that may be old is used: %+v", out.refused)
	}
	e.close()
	e = k.open(t)
	if out := e.request(to(e, "/v1/chat/completions"), hello); out.refused != nil {
		t.Fatalf("a request without a prompt is rejected: %+v", out.refused)
	}
	e.answer(jsonAnswer(goodReply))
	k.settled()
}

// TestSplitLabelsKeepTheirUsers: one end user gets one version, and users get both.
func TestSplitLabelsKeepTheirUsers(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), withLibrary(t))
	versions := map[string]int{}
	for user := range strings.FieldsSeq("ada bob cy dot eve fay gus hal ida jo kim leo") {
		first := ""
		for range 2 {
			e := k.open(t)
			e.request(to(e, "/v1/chat/completions"), with(`"prompt_id":"support","prompt_label":"trial","user":"`+user+`"`))
			got := e.answer(jsonAnswer(goodReply)).headers["x-gateway-prompt"]
			if first == "" {
				first = got
			}
			if got != first {
				t.Errorf("%s gets %s and then %s", user, first, got)
			}
		}
		versions[first]++
	}
	if versions["support@1"] == 0 || versions["support@2"] == 0 || len(versions) != 2 {
		t.Errorf("the users get %v", versions)
	}
	k.settled()
}

// TestLaterAttemptsAreComposed: an attempt after the first, also at a provider of another language,
// has the prompt.
func TestLaterAttemptsAreComposed(t *testing.T) {
	t.Parallel()
	r := quick(1)
	r.Fallbacks = []map[string][]string{{"fast": {"smart"}}}
	spec := catalog.Spec{Deployments: []catalog.DeploymentSpec{place("a", "fast", "fast", 0), claude("claude", "smart", 0)}, Router: r}
	k := newKit(t, spec, withLibrary(t))
	e := k.open(t)
	if out := e.request(to(e, "/v1/chat/completions"), with(`"prompt_id":"support",`+ada)); out.refused != nil {
		t.Fatalf("rejected: %+v", out.refused)
	}
	last := k.again(t, e.uuid, 3)
	if last == nil || !strings.Contains(last.body, "Lovelace well.") || strings.Contains(last.body, "prompt_") || !strings.Contains(last.headers[":path"], "/v1/messages") {
		t.Errorf("the fallback gets %+v", last)
	}
	e.close()
}

// BenchmarkPrompts measures a chat of 1 KB: without a prompt in the library, without a prompt of it,
// and with one of 1 KB and five variables in each language.
func BenchmarkPrompts(b *testing.B) {
	filler := strings.Repeat("Where is my parcel, please? ", 34)
	chat := strings.Replace(hello, "Hello", filler, 1)
	named := `{"prompt_id":"long","prompt_variables":{"a":"Ada","b":"parcels","c":"Paris","d":"Be kind.","e":"Thanks."},`
	at := place("solo", "fast", "fast", 0)
	at.Model = "openai_compatible/fast"
	b.Run("no library", func(b *testing.B) {
		benchmarkAt(b, newKit(b, alone(at)), "/v1/chat/completions", chat, jsonAnswer(goodReply))
	})
	b.Run("no prompt", func(b *testing.B) {
		benchmarkAt(b, newKit(b, alone(at), withLibrary(b)), "/v1/chat/completions", chat, jsonAnswer(goodReply))
	})
	b.Run("chat", func(b *testing.B) {
		benchmarkAt(b, newKit(b, alone(at), withLibrary(b)), "/v1/chat/completions", strings.Replace(chat, "{", named, 1), jsonAnswer(goodReply))
	})
	b.Run("messages", func(b *testing.B) {
		body := strings.Replace(strings.Replace(helloMessages, "Hello", filler, 1), "{", named, 1)
		benchmarkAt(b, newKit(b, alone(claude("c", "fast", 0)), withLibrary(b)), "/v1/messages", body, jsonAnswer(strings.Replace(goodMessage, "X", "Hi there.", 1)))
	})
}
