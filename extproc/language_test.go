package extproc

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Requests of the three languages of chats, and of completions.
const (
	helloCompletions = `{"model":"fast","prompt":"Hello"}`

	helloMessages  = `{"model":"fast","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}`
	helloResponses = `{"model":"fast","input":"Hello"}`
)

// goodMessage is an answer in Anthropic's language, with X as its text.
const goodMessage = `{"id":"m","type":"message","role":"assistant","model":"claude-up","content":[{"type":"text","text":"X"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}}`

// languageCase is a caller's language: what it sends, and how it knows a complete answer.
type languageCase struct {
	path, body string
	text       string // where the text of a whole answer is
	last       string // the end of a stream
}

func languageCases() map[string]languageCase {
	return map[string]languageCase{
		"chat":      {"/v1/chat/completions", hello, `"content":"Hi there."`, "data: [DONE]\n\n"},
		"messages":  {"/v1/messages", helloMessages, `"text":"Hi there."`, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
		"responses": {"/v1/responses", helloResponses, `"text":"Hi there."`, "event: response.completed\n"},

		"completions": {"/v1/completions", helloCompletions, `"text":"Hi there."`, "data: [DONE]\n\n"},
	}
}

// providerCase is a provider: what it answers, with 10 tokens in and 5 out.
type providerCase struct {
	deployment catalog.DeploymentSpec
	path       map[string]string // by the caller's language
	whole      string
	stream     string
}

func providerCases() map[string]providerCase {
	const responded = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"up","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed",` +
		`"content":[{"type":"output_text","text":"Hi there.","annotations":[]}]}],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15}}`
	const streamed = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\",\"model\":\"up\",\"output\":[]}}\n\n" +
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":1,\"delta\":\"Hi there.\"}\n\n" +
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":2,\"response\":" + responded + "}\n\n"
	openai := func(name string) catalog.DeploymentSpec { return place(name, "fast", "fast", 0) }
	codex, compatible, chatOnly := openai("codex"), openai("compatible"), openai("chat")
	codex.Model = "openai/gpt-5-codex"
	chatOnly.Model = "openai/gpt-4o"
	compatible.Model = "openai_compatible/fast"
	spelled, forced := openai("spelled"), openai("forced")
	spelled.Model = "openai/responses/gpt-4o"
	forced.Model, forced.API = "openai/gpt-5-codex", "chat"
	chat := strings.NewReplacer(`"prompt_tokens":9,"completion_tokens":3,"total_tokens":12`, `"prompt_tokens":10,"completion_tokens":5,"total_tokens":15`)
	return map[string]providerCase{
		"openai": {
			openai("o"),
			map[string]string{"chat": "/v1/chat/completions", "messages": "/v1/chat/completions"},
			`{"id":"c","object":"chat.completion","model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"Hi there."},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`,
			text("Hi") + text(" there.") + stop() + chat.Replace(reported()) + done,
		},
		"openai's chats": {
			chatOnly,
			map[string]string{"completions": "/v1/chat/completions"},
			`{"id":"c","object":"chat.completion","model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"Hi there."},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`,
			text("Hi") + text(" there.") + stop() + chat.Replace(reported()) + done,
		},
		"openai's completions": {
			openai("o"),
			map[string]string{"completions": "/v1/completions"},
			`{"id":"c","object":"text_completion","model":"up","choices":[{"index":0,"text":"Hi there.","logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`,
			`data: {"id":"c","object":"text_completion","model":"up","choices":[{"index":0,"text":"Hi there.","logprobs":null,"finish_reason":"stop"}]}` + "\n\n" + chat.Replace(reported()) + done,
		},
		"openai's responses": {
			openai("r"),
			map[string]string{"responses": "/v1/responses"},
			responded,
			streamed,
		},
		"openai's responses alone": {
			codex, map[string]string{"chat": "/v1/responses", "messages": "/v1/responses", "responses": "/v1/responses", "completions": "/v1/responses"}, responded, streamed,
		},
		"openai's responses by the model's spelling": {
			spelled, map[string]string{"chat": "/v1/responses", "messages": "/v1/responses", "responses": "/v1/responses", "completions": "/v1/responses"}, responded, streamed,
		},
		"openai's chats by the setting api": {
			forced,
			map[string]string{"chat": "/v1/chat/completions", "messages": "/v1/chat/completions", "responses": "/v1/chat/completions", "completions": "/v1/chat/completions"},
			`{"id":"c","object":"chat.completion","model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"Hi there."},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`,
			text("Hi") + text(" there.") + stop() + chat.Replace(reported()) + done,
		},
		"compatible": {
			compatible,
			map[string]string{"chat": "/v1/chat/completions", "messages": "/v1/chat/completions", "responses": "/v1/chat/completions"},
			`{"id":"c","object":"chat.completion","model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"Hi there."},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`,
			text("Hi") + text(" there.") + stop() + chat.Replace(reported()) + done,
		},
		"anthropic": {
			claude("c", "fast", 0),
			map[string]string{"chat": "/v1/messages", "messages": "/v1/messages", "responses": "/v1/messages", "completions": "/v1/messages"},
			strings.Replace(goodMessage, "X", "Hi there.", 1),
			anthropicStream(),
		},
	}
}

// TestLanguages serves callers of each language from providers of each, whole and streamed: the
// caller gets its own language and its own name of the model, and the record is the same.
func TestLanguages(t *testing.T) {
	t.Parallel()
	for caller, asked := range languageCases() {
		for provider, served := range providerCases() {
			path, ok := served.path[caller]
			if !ok {
				continue
			}
			t.Run(caller+" from "+provider, func(t *testing.T) {
				t.Parallel()
				k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{served.deployment}, Router: quick(0)})
				e := k.open(t)
				out := e.request(to(e, asked.path), asked.body)
				if out.refused != nil || out.headers[":path"] != path {
					t.Fatalf("sent to %s, want %s: %+v", out.headers[":path"], path, out.refused)
				}
				a := e.answer(jsonAnswer(served.whole))
				if a.status != 200 || !strings.Contains(strings.ReplaceAll(a.body, ": ", ":"), asked.text) || !strings.Contains(a.body, `"model":"fast"`) || strings.Contains(a.body, `up"`) {
					t.Errorf("the caller gets %d %s", a.status, a.body)
				}
				recordedTheSame(t, k, e)
				streamsTheSame(t, k, asked, served)
				k.settled()
			})
		}
	}
}

func recordedTheSame(t *testing.T, k *kit, e *envoy) {
	t.Helper()
	ev := k.event(e.uuid)
	if ev.Tokens != (usage.Tokens{Input: 10, Output: 5}) || ev.Source != usage.Provider || ev.Outcome != journal.Success || ev.FinishReason != "stop" {
		t.Errorf("recorded %+v", ev)
	}
}

func streamsTheSame(t *testing.T, k *kit, asked languageCase, served providerCase) {
	t.Helper()
	for _, pieces := range [][]string{{served.stream}, bytesOf(served.stream)} {
		e := k.open(t)
		if out := e.request(to(e, asked.path), strings.Replace(asked.body, "{", `{"stream":true,`, 1)); out.refused != nil {
			t.Fatalf("rejected: %+v", out.refused)
		}
		c := streamAnswer()
		c.pieces = pieces
		a := e.answer(c)
		if a.immediate || a.headers["content-type"] != "text/event-stream; charset=utf-8" {
			t.Fatalf("the stream is answered with %+v", a)
		}
		end := a.body[strings.LastIndex(strings.TrimSuffix(a.body, "\n\n"), "\n\n")+2:]
		if !strings.HasPrefix(end, asked.last) && end != asked.last {
			t.Errorf("the stream ends with %q", end)
		}
		if strings.Contains(a.body, `up"`) || !strings.Contains(a.body, `"model":"fast"`) || !strings.Contains(a.body, "there.") {
			t.Errorf("the caller gets %s", a.body)
		}
		recordedTheSame(t, k, e)
	}
}

// TestErrorsHaveTheCallersLanguage: whatever rejects a request, the error has the form that the
// caller's client reads.
func TestErrorsHaveTheCallersLanguage(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	for _, test := range []struct{ name, key, body string }{
		{"no key", "sk-nobody-0123456789abcdef", helloMessages},
		{"nonsense", appKey, `{"model":`},
		{"no model", appKey, `{"max_tokens":1,"messages":[{"role":"user","content":"a"}]}`},
		{"a field of another type", appKey, strings.Replace(helloMessages, `"Hello"`, `[{"type":"text","text":1}]`, 1)},
	} {
		e := k.open(t)
		list := plainHeaders(e.uuid, "x-api-key", test.key)
		list[1] = "/v1/messages"
		out := e.request(list, test.body)
		if out.refused == nil || !strings.HasPrefix(out.refused.body, `{"type":"error","error":{"type":"`) || !strings.Contains(out.refused.body, `"request_id":"req_`) {
			t.Errorf("%s: %+v", test.name, out.refused)
		}
		e.close()
	}
	e := k.open(t)
	e.request(to(e, "/v1/messages"), helloMessages)
	c := jsonAnswer(`{"error":{"message":"no","type":"server_error"}}`)
	c.status = 500
	if a := e.answer(c); a.status != 503 || !strings.HasPrefix(a.body, `{"type":"error","error":{"type":"`) {
		t.Errorf("a failure of the provider is %d %s", a.status, a.body)
	}
	e = k.open(t)
	e.request(to(e, "/v1/messages"), strings.Replace(helloMessages, "{", `{"stream":true,`, 1))
	s := streamAnswer()
	s.pieces = []string{text("Hi")}
	if a := e.answer(s); !strings.Contains(a.body, "event: error\ndata: {\"type\":\"error\"") {
		t.Errorf("a stream that breaks off ends with %s", a.body)
	}
	k.settled()
}

// Completions are passed on if a deployment of the model serves them, and become chats otherwise: of
// each model by itself. What no chat can do is refused by name.
func TestCompletionsBecomeChats(t *testing.T) {
	t.Parallel()
	chat, native := place("chat", "fast", "fast", 0), place("native", "fast", "fast", 0)
	chat.Model, native.Model = "openai/gpt-4o", "openai/gpt-3.5-turbo-instruct"
	other := native
	other.ModelName = "base"
	echo := strings.Replace(helloCompletions, "{", `{"echo":true,`, 1)
	router := quick(0)
	router.Fallbacks = []map[string][]string{{"fast": {"base"}}}
	for _, test := range []struct {
		name        string
		deployments []catalog.DeploymentSpec
		router      catalog.RouterSpec
		body        string
		path, param string
	}{
		{"both", []catalog.DeploymentSpec{chat, native}, quick(0), helloCompletions, "/v1/completions", ""},
		{"both, echo", []catalog.DeploymentSpec{chat, native}, quick(0), echo, "/v1/completions", ""},
		{"chats", []catalog.DeploymentSpec{chat}, quick(0), helloCompletions, "/v1/chat/completions", ""},
		{"chats, echo", []catalog.DeploymentSpec{chat}, quick(0), echo, "", "echo"},
		{"chats, several prompts", []catalog.DeploymentSpec{chat}, quick(0), `{"model":"fast","prompt":["a","b"]}`, "", "prompt"},
		{"a fallback with completions", []catalog.DeploymentSpec{chat, other}, router, helloCompletions, "/v1/chat/completions", ""},
	} {
		for range 4 { // the strategy chooses at random
			k := newKit(t, catalog.Spec{Deployments: test.deployments, Router: test.router})
			e := k.open(t)
			out := e.request(to(e, "/v1/completions"), test.body)
			switch {
			case test.path != "" && (out.refused != nil || out.headers[":path"] != test.path):
				t.Errorf("%s: sent to %s, want %s: %+v", test.name, out.headers[":path"], test.path, out.refused)
			case test.path == "" && (out.refused == nil || out.refused.status != 400 || !strings.Contains(out.refused.body, `"param":"`+test.param+`","code":"unsupported_parameter"`)):
				t.Errorf("%s: %+v", test.name, out.refused)
			}
			e.close()
		}
	}
}

// Instructions count once if the provider reports no usage.
func TestCountsInstructionsOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("all work and no play makes a dull boy ", 100)
	want := counter.Count("fast", long)
	for path, body := range map[string]string{
		"/v1/messages":         strings.Replace(helloMessages, "{", `{"system":"`+long+`",`, 1),
		"/v1/responses":        strings.Replace(helloResponses, "{", `{"instructions":"`+long+`",`, 1),
		"/v1/chat/completions": strings.Replace(hello, `[`, `[{"role":"system","content":"`+long+`"},`, 1),
	} {
		compatible := place("compatible", "fast", "fast", 0)
		compatible.Model = "openai_compatible/fast"
		k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{compatible}, Router: quick(0)})
		e := k.open(t)
		if out := e.request(to(e, path), body); out.refused != nil {
			t.Fatalf("%s: %+v", path, out.refused)
		}
		e.answer(jsonAnswer(`{"id":"c","model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`))
		if ev := k.event(e.uuid); ev.Source != usage.Estimated || ev.Tokens.Input < want || ev.Tokens.Input > want+40 {
			t.Errorf("%s: %d tokens of input (%v), want about %d", path, ev.Tokens.Input, ev.Source, want)
		}
	}
}
