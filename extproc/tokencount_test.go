package extproc

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

const (
	countMessages  = "/v1/messages/count_tokens"
	countResponses = "/v1/responses/input_tokens"
)

// counting is a catalog with a model of each kind of provider.
func counting() catalog.Spec {
	compatible := place("compatible", "plain", "plain", 0)
	compatible.Model = "openai_compatible/plain"
	google := place("google", "google", "", 0)
	google.Model, google.APIBase = "gemini/gemini-3-flash", "https://google.example"
	vertex := place("vertex", "vertex", "", 0)
	vertex.Model, vertex.APIBase = "vertex_ai/gemini-2.5-flash", "https://vertex.example"
	return catalog.Spec{
		Deployments: []catalog.DeploymentSpec{claude("c", "smart", 0), place("o", "fast", "fast", 0), compatible, google, vertex},
		Router:      quick(0),
	}
}

// A provider that counts tokens is asked, at no cost.
func TestProvidersCountTokens(t *testing.T) {
	t.Parallel()
	const (
		google = "/v1beta/models/gemini-3-flash:countTokens"
		vertex = "/v1/publishers/google/models/gemini-2.5-flash:countTokens"
	)
	for _, test := range []struct{ path, sentTo, body, reply, unusable, want string }{
		{
			countMessages, "/v1/messages/count_tokens", `{"model":"smart","messages":[{"role":"user","content":"Hello"}]}`,
			`{"input_tokens":2095}`, `{"tokens":1}`, `{"input_tokens":2095}`,
		},
		{
			countResponses, "/v1/responses/input_tokens", `{"model":"fast","input":"Hello"}`,
			`{"object":"response.input_tokens","input_tokens":11}`, `{"input_tokens":"11"}`, `{"object":"response.input_tokens","input_tokens":11}`,
		},
		{
			countMessages, google, `{"model":"google","messages":[{"role":"user","content":"Hello"}]}`,
			`{"totalTokens":31}`, `{"totalTokens":"x"}`, `{"input_tokens":31}`,
		},
		{
			"/v1beta/models/vertex:countTokens", vertex, `{"contents":[{"parts":[{"text":"Hello"}]}]}`,
			`{"totalTokens":31,"totalBillableCharacters":5}`, `{"totalTokens":"x"}`, `{"totalTokens":31,"totalBillableCharacters":5}`,
		},
		{
			"/v1beta/models/vertex:countTokens", vertex, `{"generateContentRequest":{"model":"models/vertex","contents":[{"parts":[{"text":"Hello"}]}],"system_instruction":{"parts":[{"text":"Be brief."}]}}}`,
			`{"totalTokens":34}`, `{}`, `{"totalTokens":34}`,
		},
		{
			countResponses, google, `{"model":"google","input":"Hello"}`, `{"totalTokens":31}`, `{"total":31}`, `{"object":"response.input_tokens","input_tokens":31}`,
		},
	} {
		k := newKit(t, counting())
		e := k.open(t)
		out := e.request(to(e, test.path), test.body)
		if out.refused != nil || out.headers[":path"] != test.sentTo {
			t.Fatalf("sent to %s: %+v", out.headers[":path"], out.refused)
		}
		if test.sentTo == vertex && (strings.Contains(out.body, "generateContentRequest") || !strings.Contains(out.body, `"contents":[{`)) {
			t.Errorf("%s: Vertex AI gets %s", test.path, out.body)
		}
		a := e.answer(jsonAnswer(test.reply))
		if a.status != 200 || a.body != test.want || a.headers["x-gateway-token-count"] != "provider" || a.headers["x-gateway-response-cost"] != "0" {
			t.Errorf("%s: the caller gets %+v", test.path, a)
		}
		if ev := k.event(e.uuid); ev.Tokens != (usage.Tokens{}) || ev.Source != usage.None || ev.Cost != 0 || ev.Outcome != journal.Success {
			t.Errorf("%s: recorded %+v", test.path, ev)
		}
		e = k.open(t)
		e.request(to(e, test.path), test.body)
		if a := e.answer(jsonAnswer(test.unusable)); a.status != 502 {
			t.Errorf("%s: a response without a count is %d %s", test.path, a.status, a.body)
		}
		k.settled()
	}
}

// counted returns the gateway's own count.
func counted(t *testing.T, k *kit, path, body string) int {
	t.Helper()
	e := k.open(t)
	defer e.close()
	out := e.request(to(e, path), body)
	a := out.refused
	if a == nil || a.status != 200 || a.headers["x-gateway-token-count"] != "estimated" || a.headers["content-type"] != "application/json" {
		t.Fatalf("%s: %+v", body, out)
	}
	if a.headers["x-gateway-response-cost"] != "0" || a.headers["x-gateway-request-id"] == "" {
		t.Errorf("headers %v", a.headers)
	}
	var in struct {
		Object string `json:"object"`
		Tokens int    `json:"input_tokens"`
	}
	if err := json.Unmarshal([]byte(a.body), &in); err != nil || (in.Object == "response.input_tokens") != (path == countResponses) {
		t.Errorf("%s: %v", a.body, err)
	}
	if events := k.recorded(e.uuid); len(events) > 0 {
		t.Errorf("recorded %+v", events)
	}
	return in.Tokens
}

// pictureOf is a picture of the size as base64.
func pictureOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// Without a provider that counts, the gateway counts everything that the model reads.
func TestGatewayCountsTokens(t *testing.T) {
	t.Parallel()
	k := newKit(t, counting())
	const long = "The quick brown fox jumps over the lazy dog." // 10 tokens
	messages := func(model, member, content string) int {
		return counted(t, k, countMessages, `{"model":"`+model+`",`+member+`"messages":[{"role":"user","content":`+content+`}]}`)
	}
	responses := func(model, member, input string) int {
		return counted(t, k, countResponses, `{"model":"`+model+`",`+member+`"input":`+input+`}`)
	}
	plain, answer := messages("fast", "", `"Hello"`), responses("plain", "", `"Hello"`)
	if plain != 8 || answer != plain { // the word, four marks around the message, three before the answer
		t.Errorf("Hello is %d and %d tokens, want 8", plain, answer)
	}
	image := func(width, height int) string {
		return `[{"type":"text","text":"Hello"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pictureOf(t, width, height) + `"}}]`
	}
	tool := `{"name":"` + strings.ReplaceAll(long, " ", "_")[:20] + `","description":"` + long + `","input_schema":{"type":"object","properties":{"a":{"description":"` + long + `"}}}}`
	flat := strings.Replace(strings.Replace(tool, `{"name"`, `{"type":"function","name"`, 1), "input_schema", "parameters", 1)
	for _, test := range []struct {
		name        string
		got         int
		least, most int // more than Hello
	}{
		{"system", messages("fast", `"system":"`+long+`",`, `"Hello"`) - plain, 10, 16},
		{"instructions", responses("plain", `"instructions":"`+long+`",`, `"Hello"`) - plain, 10, 16},
		{"a tool", messages("fast", `"tools":[`+tool+`],`, `"Hello"`) - plain, 30, 60},
		{"a flat tool", responses("plain", `"tools":[`+flat+`],`, `"Hello"`) - plain, 30, 60},
		{"a schema", messages("fast", `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","title":"`+long+`"}}},`, `"Hello"`) - plain, 10, 30},
		{"a small picture", messages("fast", "", image(400, 300)) - plain, 85 + 170, 85 + 170 + 2},
		{"a large picture", messages("fast", "", image(2048, 4096)) - plain, 85 + 6*170, 85 + 6*170 + 2},
		{"a picture for Claude", responses("smart", "", `[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,`+pictureOf(t, 750, 100)+`"}]}]`), 108, 118},
		{"a picture elsewhere", messages("fast", "", `[{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}}]`), 1600, 1610},
		{"a result of a tool", responses("plain", "", `[{"type":"message","role":"user","content":"Hello"},{"type":"function_call","call_id":"a","name":"b","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"`+long+`"}]`) - plain, 14, 30},
		{"a document", messages("fast", "", `[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"`+long+`"}}]`) - plain, 8, 12},
		{"the gateway's own members", messages("fast", `"tags":["`+long+`"],`, `"Hello"`) - plain, 0, 0},
	} {
		if test.got < test.least || test.got > test.most {
			t.Errorf("%s: %d tokens, want %d to %d", test.name, test.got, test.least, test.most)
		}
	}
	if log := k.logs.String(); !strings.Contains(log, `"msg":"request answered by the gateway"`) || !strings.Contains(log, `"input_tokens":`+strconv.Itoa(plain)) {
		t.Errorf("logged %s", log)
	}
	k.settled()
}

// A request for a count needs a key, a model and a valid body, whether the provider counts or the gateway.
func TestCountsRejectInvalidRequests(t *testing.T) {
	t.Parallel()
	k := newKit(t, counting())
	for _, test := range []struct {
		path, key, body string
		status          int
		want            string
	}{
		{countMessages, "sk-nobody-0123456789abcdef", `{"model":"fast","messages":[{"role":"user","content":"a"}]}`, 401, `authentication_error`},
		{countMessages, fewKey, `{"model":"plain","messages":[{"role":"user","content":"a"}]}`, 403, `permission_error`},
		{countMessages, appKey, `{"model":"none","messages":[{"role":"user","content":"a"}]}`, 404, `not_found_error`},
		{countMessages, appKey, `{"model":"fast","messages":[]}`, 400, `messages`},
		{countMessages, appKey, `{"model":"fast","messages":[{"role":"user","content":[{"type":"text","text":1}]}]}`, 400, `messages[0].content`},
		{countResponses, "sk-nobody-0123456789abcdef", `{"model":"plain","input":"a"}`, 401, `invalid_api_key`},
		{countResponses, appKey, `{"model":"plain","input":7}`, 400, `"param":"input"`},
		{countResponses, appKey, `{"model":"plain","input":"a","previous_response_id":"resp_1"}`, 400, `"param":"previous_response_id"`},
		{countResponses, appKey, `{"input":"a"}`, 400, `"param":"model"`},
	} {
		e := k.open(t)
		list := plainHeaders(e.uuid, "authorization", "Bearer "+test.key)
		list[1] = test.path
		out := e.request(list, test.body)
		anthropic := out.refused != nil && strings.HasPrefix(out.refused.body, `{"type":"error","error":{"type":"`)
		if out.refused == nil || out.refused.status != test.status || !strings.Contains(out.refused.body, test.want) || anthropic != (test.path == countMessages) {
			t.Errorf("%s: %+v", test.body, out.refused)
		}
		e.close()
	}
	k.settled()
}

// A count by the gateway counts as a request, and for nothing else.
func TestCountsAreRequests(t *testing.T) {
	t.Parallel()
	k := newKit(t, counting(), steady, bounded(tenancy.Limits{RPM: new(uint32(2)), TPM: new(uint32(1)), MaxParallel: new(uint32(1))}), limiter)
	const body = `{"model":"fast","messages":[{"role":"user","content":"Hello"}]}`
	for range 2 {
		counted(t, k, countMessages, body)
	}
	e := k.open(t)
	if out := e.request(to(e, countMessages), body); out.refused == nil || out.refused.status != 429 {
		t.Errorf("the third of two requests: %+v", out.refused)
	}
	e.close()
	k.settled()
}
