package extproc

import (
	"maps"
	"strings"
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// taken sends a request that must be dispatched.
func taken(tb testing.TB, e *envoy, body string, more ...string) outgoing {
	tb.Helper()
	out := e.ask(body, more...)
	if out.refused != nil {
		tb.Fatal(out.refused.body)
	}
	return out
}

func TestPassesBodiesAsTheyAre(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	for _, body := range []string{
		hello,
		" {\n\t\"messages\" : [ {\"role\":\"user\",\"content\":\"\\u00e9 \\ud83d\\ude00\"} ] , \"model\" : \"fast\" , \"a_new_parameter\" : 1.0e+2 }\r\n",
		with(`"stream":true,"stream_options":{"include_usage":true}`),
		with(`"user":"u","metadata":{"tags":["x"]},"seed":1`),
	} {
		e := k.open(t)
		out := taken(t, e, body)
		if out.replaced || out.body != body {
			t.Errorf("the body %q is replaced by %q", body, out.body)
		}
		if _, set := out.headers["content-length"]; set {
			t.Error("a content-length is set, though the body is as it was")
		}
		e.quit()
	}
}

func TestChangesOnlyWhatMustChange(t *testing.T) {
	t.Parallel()
	spec := one()
	spec.Deployments = append(spec.Deployments, place("renamed", "alias", "gpt-real", 0))
	k := newKit(t, spec)
	alias := strings.Replace(hello, "fast", "alias", 1)
	for _, test := range []struct{ name, body, want string }{
		{"the model", alias, strings.Replace(hello, "fast", "gpt-real", 1)},
		{
			"usage of a stream", with(`"stream":true`),
			with(`"stream":true,"stream_options":{"include_usage":true}`),
		},
		{
			"usage beside other options", with(`"stream":true,"stream_options":{"include_obfuscation":false}`),
			with(`"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true}`),
		},
		{
			"usage that was refused", with(`"stream":true,"stream_options":{"include_usage":false}`),
			with(`"stream":true,"stream_options":{"include_usage":true}`),
		},
		{"extensions", with(`"num_retries":1,"seed":7,"tags":["a"],"timeout":9,"drop_params":false,"guardrail_id":null`), with(`"seed":7`)},
	} {
		e := k.open(t)
		out := taken(t, e, test.body)
		var got, want any
		if err := json.Unmarshal([]byte(out.body), &got); err != nil {
			t.Fatalf("%s: %q: %v", test.name, out.body, err)
		}
		if err := json.Unmarshal([]byte(test.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || !out.replaced {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if n := len(out.body); out.headers["content-length"] != itoa(n) {
			t.Errorf("%s: content-length is %q, want %d", test.name, out.headers["content-length"], n)
		}
		e.quit()
	}
}

// strange are headers of a caller that no provider gets.
func strange() []string {
	return []string{
		"cookie", "session=1", "x-forwarded-for", "10.0.0.1", "x-real-ip", "10.0.0.1", "forwarded", "for=10.0.0.1",
		"traceparent", "00-1", "x-gateway-api-key", appKey, "x-gateway-tags", "t", "x-gateway-customer-id", "c", "x-gateway-anything", "1",
		"x-envoy-external-address", "10.0.0.1", "mcp-init-host", "evil", "x-forwarded-host", "evil", "referer", "https://intranet",
		"x-api-key", appKey, "api-key", appKey, "x-goog-api-key", appKey,
		"openai-organization", "org-of-the-caller", "openai-project", "p", "anthropic-version", "1999-01-01", "anthropic-beta", "b", // of the last, Anthropic gets beta
	}
}

func TestRemovesTheCallersHeaders(t *testing.T) {
	t.Parallel()
	spec := one()
	spec.Deployments[0].ExtraHeaders = map[string]vault.Secret{"X-Team": vault.NewSecret("blue")}
	spec.Deployments = append(spec.Deployments, claude("claude", "smart", 0))
	k := newKit(t, spec)
	common := headers{
		":method": "POST", "content-type": "application/json", "accept-encoding": "identity",
		"user-agent": "OpenAI/Python", "accept": "application/json",
		"x-envoy-upstream-rq-per-try-timeout-ms": "600000", "x-envoy-upstream-rq-timeout-ms": "600000",
	}
	for _, test := range []struct {
		model string
		want  headers
	}{
		{"fast", headers{":path": "/v1/chat/completions", ":authority": "solo.example", "authorization": "Bearer key-of-solo", "x-team": "blue"}},
		{"smart", headers{":path": "/v1/messages", ":authority": "claude.example", "x-api-key": "key-of-claude", "anthropic-version": "2023-06-01", "anthropic-beta": "b"}},
	} {
		e := k.open(t)
		out := taken(t, e, strings.Replace(hello, "fast", test.model, 1), append(strange(), "user-agent", "OpenAI/Python", "accept", "application/json", "accept-encoding", "br")...)
		maps.Copy(test.want, common)
		test.want["x-request-id"] = string(id.RequestFromUUID(e.uuid))
		if test.model == "smart" {
			test.want["content-length"] = itoa(len(out.body))
		}
		if diff := cmp.Diff(test.want, out.headers); diff != "" {
			t.Errorf("%s: headers (-want +got):\n%s", test.model, diff)
		}
		e.quit()
	}
}

func TestTranslatesForAnthropic(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{claude("claude", "fast", 0)}, Router: quick(0)})
	e := k.open(t)
	out := taken(t, e, with(`"max_tokens":50,"tags":["a"]`))
	var got struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		Messages  []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	if err := json.Unmarshal([]byte(out.body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Model != "claude-sonnet-4-5" || got.MaxTokens != 50 || len(got.Messages) != 1 || got.Messages[0].Role != "user" || strings.Contains(out.body, "tags") {
		t.Errorf("Anthropic gets %s", out.body)
	}
	a := e.answer(jsonAnswer(`{"id":"msg_1","type":"message","role":"assistant","model":"claude-up","content":[{"type":"text","text":"Hi "},{"type":"text","text":"there."}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5}}`))
	var reply struct {
		Object  string `json:"object"`
		Model   string `json:"model"`
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal([]byte(a.body), &reply); err != nil {
		t.Fatal(err)
	}
	if reply.Object != "chat.completion" || reply.Model != "fast" || len(reply.Choices) != 1 ||
		reply.Choices[0].Message.Content != "Hi there." || reply.Choices[0].Finish != "stop" || reply.Usage.Prompt != 10 || reply.Usage.Completion != 5 {
		t.Errorf("the caller gets %s", a.body)
	}
	if a.headers["x-gateway-response-cost"] != "0.00006" || a.headers["content-length"] != itoa(len(a.body)) {
		t.Errorf("headers are %v", a.headers)
	}
	if ev := k.event(e.uuid); ev.Tokens.Input != 10 || ev.Tokens.Output != 5 || ev.Provider != "anthropic" {
		t.Errorf("event %+v", ev)
	}
}

func TestRejectsUnsupportedRequests(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{claude("claude", "fast", 0)}, Router: quick(0)})
	e := k.open(t)
	if m := rejectedWith(t, e, e.ask(with(`"n":2`)).refused, 400, "unsupported_parameter"); m.Param != "n" {
		t.Errorf("param is %q", m.Param)
	}
	e.close()
	notAsked(t, k)
	e = k.open(t)
	if out := taken(t, e, with(`"logit_bias":{"1":2},"drop_params":true`)); strings.Contains(out.body, "logit_bias") {
		t.Errorf("Anthropic gets %s", out.body)
	}
	e.quit()
}

// A later attempt that is rewritten waits for its own intent as well.
func TestWaitsForTheIntentOfALaterAttempt(t *testing.T) {
	t.Parallel()
	k := newKit(t, trio(), func(_ *kit, d *pipeline.Deps) { d.Settings.SyncBeforeDispatch = true })
	e := k.open(t)
	taken(t, e, hello)
	k.gate.close()
	u := k.openAs(t, e.uuid, contract.RoleRewrite)
	u.send(&extprocv3.ProcessingRequest{
		Request:    &extprocv3.ProcessingRequest_RequestHeaders{RequestHeaders: &extprocv3.HttpHeaders{Headers: headerMap(plainHeaders(e.uuid))}},
		Attributes: attributes(t, map[string]any{contract.AttrRequestID: e.uuid, contract.AttrAttempt: 2, contract.AttrCluster: "c"}),
	})
	<-k.gate.reached
	u.silent() // nothing goes out before its intent is on the disk
	k.gate.open()
	if r := u.next(); r.GetRequestHeaders().GetResponse().GetStatus() != extprocv3.CommonResponse_CONTINUE_AND_REPLACE {
		t.Errorf("answered with %v", r)
	}
	u.wait()
	u.cancel()
	e.quit()
}

func TestWaitsForTheIntentIfConfigured(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), func(_ *kit, d *pipeline.Deps) { d.Settings.SyncBeforeDispatch = true })
	k.gate.close()
	e := k.open(t)
	if refused := e.requestHeaders(plainHeaders(e.uuid, "x-api-key", appKey)); refused != nil {
		t.Fatal(refused.body)
	}
	e.requestBody(hello)
	<-k.gate.reached
	e.silent() // the request must not go out before its intent is on the disk
	k.gate.open()
	if r := e.next(); len(planOf(r)) != 1 {
		t.Errorf("answered with %v", r)
	}
	e.quit()
}
