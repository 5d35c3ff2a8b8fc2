package extproc

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// to returns the headers of a request to a path.
func to(e *envoy, path string) []string {
	list := plainHeaders(e.uuid, "authorization", "Bearer "+appKey)
	for i := 0; i < len(list); i += 2 {
		if list[i] == ":path" {
			list[i+1] = path
		}
	}
	return list
}

// priced is a deployment that is sold by other units than tokens as well.
func priced() catalog.Spec {
	d := place("solo", "fast", "fast", 0)
	d.Prices = map[string]string{"input_cost_per_token": "0.000001", "output_cost_per_image": "0.04", "input_cost_per_query": "0.002"}
	return catalog.Spec{Deployments: []catalog.DeploymentSpec{d}, Router: quick(0)}
}

// Each operation sends the caller's bytes on, answers with the provider's, and records what the
// provider reports, or what the request says.
func TestOperations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, path, body, reply string
		sentTo                  string
		tokens                  usage.Tokens
		source                  usage.Source
		cost                    string
	}{
		{
			"embeddings", "/v1/embeddings", `{"input":["a","b"],"model":"fast","dimensions":2}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-1]},{"object":"embedding","index":1,"embedding":[1,2]}],"model":"up","usage":{"prompt_tokens":7,"total_tokens":7}}`,
			"/v1/embeddings",
			usage.Tokens{Input: 7},
			usage.Provider, "0.000007",
		},
		{
			"embeddings of tokens", "/embeddings", `{"input":[1,2,3],"model":"fast"}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"up","usage":{"prompt_tokens":3,"total_tokens":3}}`,
			"/v1/embeddings",
			usage.Tokens{Input: 3},
			usage.Provider, "0.000003",
		},
		{
			"completions", "/v1/completions", `{"prompt":"a","model":"fast","max_tokens":5}`,
			`{"id":"c","object":"text_completion","choices":[{"text":"b c","index":0,"finish_reason":"stop"}],"model":"up","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
			"/v1/completions",
			usage.Tokens{Input: 1, Output: 2},
			usage.Provider, "0.000001",
		},
		{
			"moderations", "/v1/moderations", `{"input":"a","model":"fast"}`,
			`{"id":"m","model":"up","results":[{"flagged":false}]}`,
			"/v1/moderations",
			usage.Tokens{},
			usage.None, "0",
		},
		{
			"pictures by the piece", "/v1/images/generations", `{"prompt":"a fox","model":"fast","n":2}`,
			`{"created":1,"data":[{"url":"https://a.example/1"},{"url":"https://a.example/2"}]}`,
			"/v1/images/generations",
			usage.Tokens{Input: 2, Images: 2},
			usage.Estimated, "0.080002",
		},
		{
			"a ranking", "/v2/rerank", `{"query":"a","documents":["b","c"],"model":"fast"}`,
			`{"id":"r","results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}],"meta":{"billed_units":{"search_units":1}}}`,
			"/v1/rerank",
			usage.Tokens{SearchQueries: 1},
			usage.Provider, "0.002",
		},
		{
			"a path with the model", "/openai/deployments/fast/embeddings", `{"input":"a"}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"up","usage":{"prompt_tokens":3,"total_tokens":3}}`,
			"/v1/embeddings",
			usage.Tokens{Input: 3},
			usage.Provider, "0.000003",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, priced())
			e := k.open(t)
			out := e.request(to(e, test.path), test.body)
			if out.refused != nil {
				t.Fatalf("rejected: %d %s", out.refused.status, out.refused.body)
			}
			if out.headers[":path"] != test.sentTo {
				t.Errorf("sent to %s, want %s", out.headers[":path"], test.sentTo)
			}
			var sent struct {
				Model string `json:"model"`
			}
			if err := json.Unmarshal([]byte(out.body), &sent); err != nil || sent.Model != "fast" {
				t.Errorf("sent %s: %v", out.body, err)
			}
			a := e.answer(jsonAnswer(test.reply))
			if want := strings.Replace(test.reply, `"up"`, `"fast"`, 1); a.status != 200 || a.body != want {
				t.Errorf("the caller gets %d %s, want %s", a.status, a.body, want)
			}
			ev := k.event(e.uuid)
			if diff := cmp.Diff(test.tokens, ev.Tokens); diff != "" || ev.Source != test.source {
				t.Errorf("source %v, usage (-want +got):\n%s", ev.Source, diff)
			}
			if ev.Outcome != journal.Success || a.headers["x-gateway-response-cost"] != test.cost {
				t.Errorf("outcome %v %s, cost %s, want %s", ev.Outcome, ev.ErrorCode, a.headers["x-gateway-response-cost"], test.cost)
			}
			k.settled()
		})
	}
}

// Embeddings have the form that the caller asked for, whatever form the provider has.
func TestEmbeddingsHaveTheRequestedForm(t *testing.T) {
	t.Parallel()
	const numbers, text = `[0.5,-1,3.1415927]`, `"AAAAPwAAgL/bD0lA"`
	for _, test := range []struct{ asked, reply, want string }{
		{`"base64"`, numbers, text},
		{`"base64"`, text, text},
		{`"float"`, text, numbers},
		{`"float"`, numbers, numbers},
		{`null`, text, numbers},
	} {
		k := newKit(t, one())
		e := k.open(t)
		e.request(to(e, "/v1/embeddings"), `{"model":"fast","input":["a","b"],"encoding_format":`+test.asked+`}`)
		reply := `{"object":"list","data":[{"index":0,"embedding":X},{"embedding":X,"index":1}],"model":"fast","usage":{"prompt_tokens":7,"total_tokens":7}}`
		a := e.answer(jsonAnswer(strings.ReplaceAll(reply, "X", test.reply)))
		if want := strings.ReplaceAll(reply, "X", test.want); a.body != want {
			t.Errorf("%s: the caller gets %s, want %s", test.asked, a.body, want)
		}
		k.settled()
	}
}

// What a provider cannot have meant is not passed on, and is recorded once.
func TestRejectsOtherEmbeddings(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"half of them":  `{"index":0,"embedding":[1]}`,
		"another order": `{"index":1,"embedding":[1]},{"index":0,"embedding":[2]}`,
		"one twice":     `{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}`,
		"more":          `{"index":0,"embedding":[1]},{"index":1,"embedding":[2]},{"index":2,"embedding":[3]}`,
		"none":          ``,
	} {
		k := newKit(t, one())
		e := k.open(t)
		e.request(to(e, "/v1/embeddings"), `{"model":"fast","input":["a","b"]}`)
		a := e.answer(jsonAnswer(`{"data":[` + data + `],"model":"up","usage":{"prompt_tokens":7,"total_tokens":7}}`))
		if a.status != 502 || !strings.Contains(a.body, "upstream_invalid_response") {
			t.Errorf("%s: the caller gets %d %s", name, a.status, a.body)
		}
		if ev := k.event(e.uuid); ev.Outcome != journal.Failed || ev.Tokens.Output != 0 {
			t.Errorf("%s: recorded %+v", name, ev)
		}
		k.settled()
	}
}

// An operation that no deployment of a model serves is rejected, and one that some serve goes to
// those.
func TestServesWhatTheProvidersHave(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{
		Deployments: []catalog.DeploymentSpec{claude("c", "only", 0), claude("d", "mixed", 0), place("o", "mixed", "mixed", 1)},
		Router:      quick(2),
	})
	e := k.open(t)
	out := e.request(to(e, "/v1/embeddings"), `{"model":"only","input":"a"}`)
	if out.refused == nil || out.refused.status != 400 || !strings.Contains(out.refused.body, "unsupported_endpoint") {
		t.Errorf("%+v", out.refused)
	}
	e.close()
	e = k.open(t)
	out = e.request(to(e, "/v1/embeddings"), `{"model":"mixed","input":"a"}`)
	if out.refused != nil || out.headers[":authority"] != "o.example" {
		t.Errorf("%+v, sent to %s", out.refused, out.headers[":authority"])
	}
	e.quit()
	k.settled()
}

// Requests that no provider could take name what is wrong.
func TestRejectsInvalidInputs(t *testing.T) {
	t.Parallel()
	many := `{"model":"fast","input":["a"` + strings.Repeat(`,"a"`, 100_000) + `]}`
	k := newKit(t, one())
	for _, test := range []struct{ path, body, param, code string }{
		{"/v1/embeddings", `{"model":"fast"}`, "input", "missing_required_parameter"},
		{"/v1/embeddings", `{"model":"fast","input":[]}`, "input", "invalid_value"},
		{"/v1/embeddings", `{"model":"fast","input":""}`, "input", "invalid_value"},
		{"/v1/embeddings", `{"model":"fast","input":{}}`, "input", "invalid_type"},
		{"/v1/embeddings", `{"input":"a"}`, "model", "missing_required_parameter"},
		{"/v1/embeddings", many, "input", "invalid_value"},
		{"/v1/completions", `{"model":"fast"}`, "prompt", "missing_required_parameter"},
		{"/v1/images/generations", `{"model":"fast","prompt":"a","n":129}`, "n", "invalid_value"},
		{"/v1/rerank", `{"model":"fast","query":"a"}`, "documents", "missing_required_parameter"},
		{"/v1/rerank", `{"model":"fast","documents":["a"]}`, "query", "missing_required_parameter"},
	} {
		e := k.open(t)
		out := e.request(to(e, test.path), test.body)
		if out.refused == nil || out.refused.status != 400 ||
			!strings.Contains(out.refused.body, `"param":"`+test.param+`"`) || !strings.Contains(out.refused.body, test.code) {
			t.Errorf("%s %.60s: %+v", test.path, test.body, out.refused)
		}
		e.close()
	}
	k.settled()
}

// Headers that a vendor's clients send reach that vendor and no other.
func TestVendorsHeadersReachTheirVendor(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{claude("c", "smart", 0), place("o", "fast", "fast", 0)}, Router: quick(0)})
	sent := []string{
		"anthropic-beta", "b", "openai-beta", "o", "x-codex-turn", "t", "x-claude-code-session-id", "s", "x-stainless-lang", "python", "x-app", "cli",
	}
	for model, want := range map[string]map[string]string{
		"smart": {"anthropic-beta": "b", "x-claude-code-session-id": "s"},
		"fast":  {"openai-beta": "o", "x-codex-turn": "t", "x-stainless-lang": "python", "x-app": "cli"},
	} {
		e := k.open(t)
		out := e.ask(strings.Replace(hello, "fast", model, 1), sent...)
		got := map[string]string{}
		for i := 0; i < len(sent); i += 2 {
			if value, ok := out.headers[sent[i]]; ok {
				got[sent[i]] = value
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", model, diff)
		}
		e.quit()
		if ev := k.event(e.uuid); ev.Session != "s" {
			t.Errorf("%s: the session is %q", model, ev.Session)
		}
	}
	k.settled()
}

// A query reaches a provider of the caller's language, without credentials.
func TestQueriesReachTheProvider(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{claude("c", "smart", 0), place("o", "fast", "fast", 0)}, Router: quick(0)})
	for _, test := range []struct{ model, path, want string }{
		{"fast", "/v1/chat/completions?beta=true&key=secret&api-version=1&x=2", "/v1/chat/completions?beta=true&x=2"},
		{"fast", "/v1/chat/completions?api_key=secret", "/v1/chat/completions"},
		{"smart", "/v1/chat/completions?beta=true", "/v1/messages"},
		{"fast", "/openai/deployments/fast/chat/completions?api-version=2024-10-21", "/v1/chat/completions"},
	} {
		e := k.open(t)
		out := e.request(to(e, test.path), strings.Replace(hello, "fast", test.model, 1))
		if out.refused != nil || out.headers[":path"] != test.want {
			t.Errorf("%s: sent to %s, want %s (%+v)", test.path, out.headers[":path"], test.want, out.refused)
		}
		e.quit()
	}
	k.settled()
}

// A provider without an endpoint stays in use for what it has.
func TestAMissingEndpointCoolsNothingDown(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{
		Deployments: []catalog.DeploymentSpec{place("a", "fast", "fast", 0), place("b", "fast", "fast", 0)}, Router: quick(1),
	})
	for _, ask := range []struct{ path, body string }{
		{"/v1/embeddings", `{"model":"fast","input":"a"}`},
		{"/v1/responses", `{"model":"fast","input":"a"}`},
		{"/v1/responses/input_tokens", `{"model":"fast","input":"a"}`},
	} {
		for range 4 {
			e := k.open(t)
			if out := e.request(to(e, ask.path), ask.body); out.refused != nil {
				t.Fatalf("%s: %+v", ask.path, out.refused)
			}
			k.attempt(e.uuid, 1, 404, nil)
			c := failedWith(404, "unknown_url", "Unknown request URL")
			c.attempt = 2
			e.answer(c)
		}
	}
	e := k.open(t)
	taken(t, e, hello)
	e.quit()
	k.settled()
}

// A picture costs what the price table says of its quality and size.
func TestPicturesBySize(t *testing.T) {
	t.Parallel()
	d := place("solo", "fast", "", 0)
	d.Model = "openai/gpt-image-1.5"
	known := catalog.Providers{"openai": {DefaultBase: "https://api.openai.com/v1", NeedsKey: true}}
	spec := catalog.Spec{Deployments: []catalog.DeploymentSpec{d}, Router: quick(0)}
	listed, err := catalog.New(spec, known, price.NewList())
	if err != nil {
		t.Fatal(err)
	}
	costs := map[string]money.Pico{}
	for _, size := range []string{"1024x1024", "1024x1536"} {
		k := newKit(t, spec, func(_ *kit, deps *pipeline.Deps) {
			view := *deps.View()
			view.Catalog = listed
			deps.View = func() *cluster.View { return &view }
		})
		e := k.open(t)
		if out := e.request(to(e, "/v1/images/generations"), `{"prompt":"a fox","model":"fast","n":2,"size":"`+size+`"}`); out.refused != nil {
			t.Fatalf("rejected: %+v", out.refused)
		}
		e.answer(jsonAnswer(`{"created":1,"data":[{"url":"https://a.example/1"},{"url":"https://a.example/2"}]}`))
		costs[size] = k.event(e.uuid).Cost
		k.settled()
	}
	if more := costs["1024x1536"] - costs["1024x1024"]; more.String() != "0.008" || costs["1024x1024"] < 18_000_000_000 {
		t.Errorf("two pictures cost %v", costs)
	}
}
