package extproc

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// hello is the smallest request.
const hello = `{"model":"fast","messages":[{"role":"user","content":"Hello"}]}`

// with is hello with more members.
func with(members string) string {
	return strings.TrimSuffix(hello, "}") + "," + members + "}"
}

// callerError is an error's body in OpenAI's form.
type callerError struct {
	Message string         `json:"message"`
	Type    string         `json:"type"`
	Param   string         `json:"param"`
	Code    string         `json:"code"`
	Details map[string]any `json:"details"`
}

// callerErrorOf reads an error's body.
func callerErrorOf(tb testing.TB, body string) callerError {
	tb.Helper()
	var out struct {
		Error callerError `json:"error"`
	}
	if err := json.Unmarshal([]byte(body), &out, json.RejectUnknownMembers(true)); err != nil {
		tb.Fatalf("%q is not an error of OpenAI's form: %v", body, err)
	}
	if out.Error.Message == "" || out.Error.Type == "" || out.Error.Code == "" {
		tb.Errorf("the error %q does not say what is wrong", body)
	}
	return out.Error
}

// rejectedWith checks what every rejection has, and its status and code.
func rejectedWith(tb testing.TB, e *envoy, a *answer, statusAndCode ...any) callerError {
	tb.Helper()
	if a == nil {
		tb.Fatal("the request was not rejected")
	}
	m := callerErrorOf(tb, a.body)
	if a.status != statusAndCode[0] || m.Code != statusAndCode[1] {
		tb.Errorf("rejected with %d %s, want %v: %s", a.status, m.Code, statusAndCode, a.body)
	}
	request := string(id.RequestFromUUID(e.uuid))
	if a.headers["x-request-id"] != request || a.headers["x-gateway-request-id"] != request || a.headers["content-type"] != "application/json" {
		tb.Errorf("the rejection's headers are %v, want the request's id %s", a.headers, request)
	}
	for _, secret := range []string{appKey, "key-of-", ".go:", "goroutine"} {
		if strings.Contains(a.body, secret) {
			tb.Errorf("the error %q reveals %q", a.body, secret)
		}
	}
	return m
}

func TestRejectsCallersWithoutAKey(t *testing.T) {
	k := newKit(t, one())
	for _, test := range []struct {
		name    string
		headers []string
		status  int
		code    string
	}{
		{"no key", nil, 401, "missing_api_key"},
		{"empty", []string{"authorization", ""}, 401, "missing_api_key"},
		{"bearer alone", []string{"authorization", "Bearer"}, 401, "missing_api_key"},
		{"basic", []string{"authorization", "Basic dTpw"}, 401, "invalid_api_key"},
		{"unknown", []string{"authorization", "Bearer sk-nobody"}, 401, "invalid_api_key"},
		{"injection", []string{"authorization", "Bearer ' OR 1=1--"}, 401, "invalid_api_key"},
		{"long", []string{"authorization", "Bearer " + strings.Repeat("k", 1<<20)}, 401, "invalid_api_key"},
		{"expired", []string{"authorization", "Bearer " + expiredKey}, 401, "expired_api_key"},
		{"blocked", []string{"x-api-key", blockedKey}, 401, "key_blocked"},
		{"two headers", []string{"authorization", "Bearer " + appKey, "authorization", "Bearer " + fewKey}, 400, "ambiguous_credentials"},
		{"joined", []string{"authorization", "Bearer " + appKey + ", Bearer " + fewKey}, 400, "ambiguous_credentials"},
		{"two credentials", []string{"authorization", "Bearer " + appKey, "x-api-key", fewKey}, 400, "ambiguous_credentials"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := k.open(t)
			// Nothing else of the request is right either: the key comes first.
			out := e.request(append([]string{"x-request-id", e.uuid, "content-type", "text/plain"}, test.headers...), "{")
			rejectedWith(t, e, out.refused, test.status, test.code)
			if got := out.refused.headers["www-authenticate"]; (got == "Bearer") != (test.status == 401) {
				t.Errorf("www-authenticate is %q with status %d", got, test.status)
			}
			e.close()
		})
	}
	notAsked(t, k)
}

// notAsked checks that no request reached a provider.
func notAsked(t *testing.T, k *kit) {
	t.Helper()
	if events := k.events(""); len(events) != 0 {
		t.Errorf("rejections were journaled: %+v", events)
	}
	k.settled()
	if log := k.logs.String(); strings.Contains(log, appKey) || strings.Contains(log, "Hello") {
		t.Errorf("the log reveals a key or a prompt: %s", log)
	}
}

func TestAcceptsAKeyInAnyHeader(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	for _, header := range []string{"x-api-key", "api-key", "x-goog-api-key", "x-gateway-api-key"} {
		e := k.open(t)
		out := e.request(plainHeaders(e.uuid, header, appKey), hello)
		if out.refused != nil {
			t.Fatalf("%s: rejected with %s", header, out.refused.body)
		}
		for name, value := range out.headers {
			if strings.Contains(value, appKey) {
				t.Errorf("the caller's key in %s reaches the provider as %s", header, name)
			}
		}
		e.quit()
	}
}

func TestRejectsMedia(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	for _, test := range []struct {
		media, encoding string
		code            string // empty: taken
	}{
		{"application/json", "", ""},
		{"Application/JSON; Charset=\"UTF-8\"", "identity", ""},
		{"application/vnd.x+json", "", ""},
		{"", "", "unsupported_media_type"},
		{"text/plain", "", "unsupported_media_type"},
		{"application/jsonp", "", "unsupported_media_type"},
		{"multipart/form-data; boundary=x", "", "unsupported_media_type"},
		{"application/json; charset=utf-16", "", "unsupported_media_type"},
		{"application/json", "gzip", "unsupported_content_encoding"},
		{"application/json", "br", "unsupported_content_encoding"},
	} {
		e := k.open(t)
		out := e.request([]string{
			":path", "/v1/chat/completions", "x-request-id", e.uuid, "authorization", "Bearer " + appKey,
			"content-type", test.media, "content-encoding", test.encoding,
		}, hello)
		if test.code != "" {
			rejectedWith(t, e, out.refused, 415, test.code)
			e.close()
			continue
		}
		if out.refused != nil {
			t.Errorf("%q is rejected: %s", test.media, out.refused.body)
		}
		e.quit()
	}
}

func TestRejectsBodies(t *testing.T) {
	k := newKit(t, one())
	for _, test := range []struct {
		name, body  string
		status      int
		code, param string
	}{
		{"none at all", "", 400, "invalid_json", ""},
		{"blank", "  ", 400, "invalid_json", ""},
		{"array", "[]", 400, "invalid_json", ""},
		{"text", `"x"`, 400, "invalid_json", ""},
		{"null", "null", 400, "invalid_json", ""},
		{"cut", hello[:len(hello)-1], 400, "invalid_json", ""},
		{"bad UTF-8", with("\"x\":\"\xff\""), 400, "invalid_json", ""},
		{"byte order mark", "\xef\xbb\xbf" + hello, 400, "invalid_json", ""},
		{"no model", `{"messages":[{"role":"user","content":"x"}]}`, 400, "missing_required_parameter", "model"},
		{"model is null", `{"model":null,"messages":[{"role":"user","content":"x"}]}`, 400, "invalid_type", "model"},
		{"no messages", `{"model":"fast"}`, 400, "missing_required_parameter", "messages"},
		{"model twice", with(`"model":"fast"`), 400, "", "model"},
		{"model in another case", with(`"Model":"fast"`), 400, "", "Model"},
		{"unknown model", strings.Replace(hello, "fast", "slow", 1), 404, "model_not_found", "model"},
		{"path as model", strings.Replace(hello, "fast", "../x", 1), 404, "model_not_found", "model"},
		{"stream is text", with(`"stream":"yes"`), 400, "", "stream"},
		{"n is zero", with(`"n":0`), 400, "", "n"},
		{"tokens are negative", with(`"max_tokens":-1`), 400, "", "max_tokens"},
		{"another address", with(`"api_base":"http://evil"`), 400, "unsupported_parameter", "api_base"},
		{"another key", with(`"api_key":"x"`), 400, "unsupported_parameter", "api_key"},
		{"more headers", with(`"extra_headers":{}`), 400, "unsupported_parameter", "extra_headers"},
		{"prompt", with(`"prompt_id":"p"`), 404, "prompt_not_found", "prompt_id"},
		{"guardrail", with(`"guardrail_id":"g"`), 400, "guardrail_not_found", "guardrail_id"},
		{"guardrails", with(`"guardrails":["g"]`), 400, "guardrail_not_found", "guardrails"},
		{"memory", with(`"memory_id":"m"`), 404, "memory_not_found", "memory_id"},
		{"storing memory", with(`"store_memory":true`), 404, "memory_not_found", "store_memory"},
		{"saving plan", with(`"token_saving_plan_id":"t"`), 404, "token_saving_plan_not_found", "token_saving_plan_id"},
		{"fallbacks", with(`"fallbacks":["x"]`), 400, "unsupported_parameter", "fallbacks"},
		{"cache", with(`"cache":{}`), 400, "unsupported_parameter", "cache"},
		{"prompt's variables", with(`"prompt_variables":{}`), 400, "missing_required_parameter", "prompt_id"},
		{"retries", with(`"num_retries":11`), 400, "invalid_value", "num_retries"},
		{"retries are negative", with(`"max_retries":-1`), 400, "invalid_value", "max_retries"},
		{"timeout", with(`"timeout":0`), 400, "invalid_value", "timeout"},
		{"timeout is huge", with(`"request_timeout":86401`), 400, "invalid_value", "request_timeout"},
		{"timeout is text", with(`"timeout":"5"`), 400, "invalid_value", "timeout"},
		{"stream's timeout", with(`"stream":true,"stream_timeout":-1`), 400, "invalid_value", "stream_timeout"},
		{"drop_params", with(`"drop_params":1`), 400, "invalid_type", "drop_params"},
		{"tags", with(`"tags":"a"`), 400, "invalid_type", "tags"},
		{"too many tags", with(`"tags":[` + strings.Repeat(`"t",`, 64) + `"t"]`), 400, "invalid_type", "tags"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := k.open(t)
			out := e.ask(test.body)
			if out.refused == nil {
				t.Fatal("the request is taken")
			}
			m := callerErrorOf(t, out.refused.body)
			code := test.code
			if code == "" {
				code = m.Code
			}
			rejectedWith(t, e, out.refused, test.status, code)
			if m.Param != test.param {
				t.Errorf("param is %q, want %q: %s", m.Param, test.param, out.refused.body)
			}
			e.close()
		})
	}
	notAsked(t, k)
}

func TestRejectsOptionsInHeaders(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	for _, test := range [][2]string{
		{"x-gateway-timeout", "soon"},
		{"x-gateway-timeout", "0"},
		{"x-gateway-timeout", "NaN"},
		{"x-gateway-timeout", "-1"},
		{"x-gateway-timeout", "86401"},
		{"x-gateway-num-retries", "many"},
		{"x-gateway-num-retries", "-1"},
		{"x-gateway-num-retries", "11"},
		{"x-gateway-tags", strings.Repeat("t,", 64) + "t"},
	} {
		e := k.open(t)
		out := e.ask(hello, test[0], test[1])
		if m := rejectedWith(t, e, out.refused, 400, "invalid_value"); m.Param != test[0] {
			t.Errorf("%v: the param is %q", test, m.Param)
		}
		e.close()
	}
	// The bound is of both together.
	e := k.open(t)
	out := e.ask(with(`"tags":["t"]`), "x-gateway-tags", strings.Repeat("t,", 63)+"t")
	if m := rejectedWith(t, e, out.refused, 400, "invalid_type"); m.Param != "tags" {
		t.Errorf("the param is %q", m.Param)
	}
	e.close()
	notAsked(t, k)
}

func TestRejectsModelsThatTheKeyMayNotUse(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{place("a", "fast", "f", 0), place("b", "smart", "s", 0)}})
	var texts []string
	for _, model := range []string{"smart", "there-is-none"} {
		e := k.open(t)
		out := e.request(plainHeaders(e.uuid, "x-api-key", fewKey), strings.Replace(hello, "fast", model, 1))
		texts = append(texts, rejectedWith(t, e, out.refused, 403, "model_access_denied").Message)
		e.close()
	}
	if texts[0] != texts[1] {
		t.Errorf("the key learns which models there are: %q", texts)
	}
	notAsked(t, k)
}

func TestRejectsModelsThatEnvoyDoesNotKnowYet(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	k.unacked = []string{string(k.catalog.Endpoints()[0].ID)}
	e := k.open(t)
	out := e.ask(hello)
	rejectedWith(t, e, out.refused, 503, "not_ready")
	if out.refused.headers["retry-after"] != "1" {
		t.Errorf("retry-after is %q", out.refused.headers["retry-after"])
	}
	e.close()
	notAsked(t, k)
}

// sick is a journal that rejects every write.
type sick struct{ *journal.Journal }

func (sick) Healthy() error { return &fault.Error{Kind: fault.StorageUnavailable} }

func TestRejectsWhatItCannotRecord(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), func(k *kit, d *pipeline.Deps) { d.Journal = sick{k.journal} })
	e := k.open(t)
	rejectedWith(t, e, e.ask(hello).refused, 503, "storage_unavailable")
	e.close()
	notAsked(t, k)
}

func TestCutsLongLabels(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	e := k.open(t)
	long := strings.Repeat("ü", 200)
	out := e.ask(with(`"user":"`+long+`","tags":["a","`+long+`"]`), "x-gateway-tags", "b , c")
	if out.refused != nil {
		t.Fatal(out.refused.body)
	}
	if !strings.Contains(out.body, long) {
		t.Error("the provider does not see the whole user")
	}
	e.answer(jsonAnswer(goodReply))
	ev := k.event(e.uuid)
	want := strings.Repeat("ü", 128)
	if ev.EndUser != want || len(ev.Tags) != 4 || ev.Tags[0] != "b" || ev.Tags[1] != "c" || ev.Tags[2] != "a" || ev.Tags[3] != want {
		t.Errorf("user %q and tags %q are recorded", ev.EndUser, ev.Tags)
	}
}

// goodReply is a whole answer: 9 tokens in, 3 out, for 39 millionths of a dollar.
const goodReply = `{"id":"c","object":"chat.completion","model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"Hi there."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`
