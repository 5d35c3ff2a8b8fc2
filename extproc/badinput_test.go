package extproc

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

// badChat is a request that no provider accepts, in each language of chats.
type badChat struct {
	body  map[string]string // by the caller's language
	param map[string]string // what the error names, likewise
	scan  bool              // each request is rejected, also one that is passed on
}

// badChats lists what the issues of other gateways are about.
func badChats() map[string]badChat {
	fifty := func(tool string) string { return "[" + strings.Repeat(tool+",", 49) + tool + "]" }
	const chat, messages, responses = `{"model":"fast",`, `{"model":"fast","max_tokens":9,`, `{"model":"fast",`
	asked := map[string]string{"chat": `"messages":[{"role":"user","content":"Hello"}]`, "messages": `"messages":[{"role":"user","content":"Hello"}]`, "responses": `"input":"Hello"`}
	return map[string]badChat{
		"50 tools of one name": {
			body: map[string]string{
				"chat":      chat + asked["chat"] + `,"tools":` + fifty(`{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}`) + `}`,
				"messages":  messages + asked["messages"] + `,"tools":` + fifty(`{"name":"f","input_schema":{"type":"object"}}`) + `}`,
				"responses": responses + asked["responses"] + `,"tools":` + fifty(`{"type":"function","name":"f","parameters":{"type":"object"}}`) + `}`,
			},
			param: map[string]string{"chat": "tools[1].function.name", "messages": "tools[1].name", "responses": "tools[1].name"},
		},
		"a result without a call": {
			body: map[string]string{
				"chat":      chat + `"messages":[{"role":"user","content":"Hello"},{"role":"tool","tool_call_id":"c","content":"r"}]}`,
				"messages":  messages + `"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}]}`,
				"responses": responses + `"input":[{"type":"function_call_output","call_id":"c","output":"r"}]}`,
			},
			param: map[string]string{"chat": "messages[1].tool_call_id", "messages": "messages[0].content[0].tool_use_id", "responses": "input[0].call_id"},
		},
		"a type that nobody knows": {
			body: map[string]string{
				"chat":      chat + `"messages":[{"role":"user","content":[{"type":"hologram","hologram":{}}]}]}`,
				"messages":  messages + `"messages":[{"role":"user","content":[{"type":"hologram"}]}]}`,
				"responses": responses + `"input":[{"type":"hologram"}]}`,
			},
			param: map[string]string{"chat": "messages[0].content[0].type", "messages": "messages[0].content[0]", "responses": "input[0].type"},
		},
		"a role that nobody knows": {
			body: map[string]string{
				"chat":      chat + `"messages":[{"role":"robot","content":"a"}]}`,
				"messages":  messages + `"messages":[{"role":"robot","content":"a"}]}`,
				"responses": responses + `"input":[{"role":"robot","content":"a"}]}`,
			},
			param: map[string]string{"chat": "messages[0].role", "messages": "messages[0].role", "responses": "input[0].role"},
		},
		"129 choices": {
			body: map[string]string{
				"chat": chat + `"n":129,` + asked["chat"] + `}`, "messages": messages + `"n":129,` + asked["messages"] + `}`, "responses": responses + `"n":129,` + asked["responses"] + `}`,
			},
			param: map[string]string{"chat": "n", "messages": "n", "responses": "n"},
			scan:  true,
		},
	}
}

// What no provider accepts is a clear error in the caller's language, through each pair of languages, and costs
// nothing. Where caller and provider have the same language, the provider's own error reaches the caller.
func TestBadChatsAreRejected(t *testing.T) {
	t.Parallel()
	for what, bad := range badChats() {
		for caller, asked := range languageCases() {
			for provider, served := range providerCases() {
				path, ok := served.path[caller]
				if !ok || bad.body[caller] == "" {
					continue
				}
				t.Run(what+", "+caller+" to "+provider, func(t *testing.T) {
					t.Parallel()
					k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{served.deployment}, Router: quick(0)})
					e := k.open(t)
					out := e.request(to(e, asked.path), bad.body[caller])
					passed := path == asked.path && !bad.scan
					if passed {
						if out.refused != nil || out.headers[":path"] != path {
							t.Fatalf("the provider is not asked: %+v", out.refused)
						}
						rejectedByProvider(t, e, caller)
						if ev := k.event(e.uuid); ev.Cost != 0 {
							t.Errorf("a rejected request costs %+v", ev)
						}
						k.settled()
						return
					}
					if out.refused == nil || out.refused.status != 400 {
						t.Fatalf("%+v, sent %s", out.refused, out.body)
					}
					message, param := callersError(t, caller, out.refused.body)
					if !strings.Contains(message, bad.param[caller]) && !strings.Contains(message, `"`+bad.param[caller]+`"`) || caller != "messages" && param != bad.param[caller] {
						t.Errorf("the error does not name %s: %s", bad.param[caller], out.refused.body)
					}
					e.close()
					notAsked(t, k)
				})
			}
		}
	}
}

// rejectedByProvider has the provider reject a request, and checks what the caller gets.
func rejectedByProvider(t *testing.T, e *envoy, caller string) {
	t.Helper()
	reply := `{"error":{"message":"that is not accepted","type":"invalid_request_error","param":"x","code":"invalid_value"}}`
	if caller == "messages" {
		reply = `{"type":"error","error":{"type":"invalid_request_error","message":"that is not accepted"}}`
	}
	c := jsonAnswer(reply)
	c.status = 400
	a := e.answer(c)
	if message, _ := callersError(t, caller, a.body); a.status != 400 || message != "that is not accepted" {
		t.Errorf("the caller gets %d %s", a.status, a.body)
	}
}

// callersError reads an error in the caller's language. Anthropic's has no param.
func callersError(t *testing.T, caller, body string) (message, param string) {
	t.Helper()
	var e struct {
		Type  string `json:"type"`
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
			Param   string `json:"param"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.Error.Message == "" || e.Error.Type == "" || (e.Type == "error") != (caller == "messages") {
		t.Fatalf("not an error in the language %s: %v: %s", caller, err, body)
	}
	return e.Error.Message, e.Error.Param
}

// A form where JSON is due is rejected in the caller's language, for each operation that takes JSON.
func TestFormsWhereJSONIsDue(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	for caller, path := range map[string]string{
		"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses",
		"completions": "/v1/completions", "embeddings": "/v1/embeddings", "pictures": "/v1/images/generations",
		"moderations": "/v1/moderations", "ranking": "/v1/rerank",
	} {
		e := k.open(t)
		out := e.request(toForm(e, path), form("file", "x", "model=fast"))
		if out.refused == nil || out.refused.status != 415 {
			t.Fatalf("%s: %+v", caller, out)
		}
		if message, _ := callersError(t, caller, out.refused.body); !strings.Contains(message, "application/json") {
			t.Errorf("%s: %s", caller, message)
		}
		e.close()
	}
	notAsked(t, k)
}

// A provider's answer of another kind than the request's is its failure: the caller gets an error in its
// language, and one row says so, without a cost.
func TestAnswersOfAnotherKind(t *testing.T) {
	t.Parallel()
	sound := came{status: 200, headers: []string{"content-type", "audio/mpeg"}, pieces: []string{"\xff\xfb\x90\x64"}}
	object := jsonAnswer(`{}`)
	for caller, asked := range languageCases() {
		for provider, served := range providerCases() {
			if _, ok := served.path[caller]; !ok {
				continue
			}
			for _, stream := range []bool{false, true} {
				for name, c := range map[string]came{"sound": sound, "an object": object} {
					if name == "an object" && !stream {
						continue // of the right kind
					}
					body := asked.body
					if stream {
						body = strings.Replace(body, "{", `{"stream":true,`, 1)
					}
					k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{served.deployment}, Router: quick(0)})
					e := k.open(t)
					if out := e.request(to(e, asked.path), body); out.refused != nil {
						t.Fatalf("%s from %s: %+v", caller, provider, out.refused)
					}
					a := e.answer(c)
					if a.status != 502 {
						t.Errorf("%s for %s from %s, streamed %v: the caller gets %d %q", name, caller, provider, stream, a.status, a.body)
						continue
					}
					if message, _ := callersError(t, caller, a.body); strings.Contains(message, "\xff") {
						t.Errorf("%s from %s: %s", caller, provider, a.body)
					}
					k.event(e.uuid)
					k.settled()
				}
			}
		}
	}
}

// No inputs and too many are rejected, and so is an answer with half of what was asked, however the provider
// is paid: one row, without a cost for what is missing.
func TestRejectedAnswersAreRecordedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, body, reply string }{
		"half the embeddings":  {"/v1/embeddings", `{"model":"fast","input":["a","b"]}`, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}],"model":"up","usage":{"prompt_tokens":7,"total_tokens":7}}`},
		"another order":        {"/v1/embeddings", `{"model":"fast","input":["a","b"]}`, `{"object":"list","data":[{"object":"embedding","index":1,"embedding":[1]},{"object":"embedding","index":0,"embedding":[2]}],"model":"up","usage":{"prompt_tokens":7,"total_tokens":7}}`},
		"sound for embeddings": {"/v1/embeddings", `{"model":"fast","input":["a","b"]}`, "\xff\xfb\x90\x64"},
		"sound for pictures":   {"/v1/images/generations", `{"model":"fast","prompt":"a fox"}`, "\xff\xfb\x90\x64"},
		"a text for a ranking": {"/v1/rerank", `{"model":"fast","query":"a","documents":["b"]}`, "b"},
	} {
		k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{place("a", "fast", "fast", 0), place("b", "fast", "fast", 1)}, Router: quick(0)})
		e := k.open(t)
		if out := e.request(to(e, c.path), c.body); out.refused != nil {
			t.Fatalf("%s: %+v", name, out.refused)
		}
		a := e.answer(jsonAnswer(c.reply))
		rejectedWith(t, e, a, 502, "upstream_invalid_response")
		if rows := k.events(e.uuid); len(rows) != 1 {
			t.Errorf("%s: %d rows", name, len(rows))
		}
		k.settled()
	}
}
