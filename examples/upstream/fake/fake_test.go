package fake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider is a fake provider on a port of its own.
type provider struct {
	*fake.Server
	url string
}

func start(t *testing.T, opts fake.Options) provider {
	t.Helper()
	p := fake.New(opts)
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	t.Cleanup(p.Close) // runs first: hanging handlers would keep srv from closing
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return provider{p, srv.URL}
}

func (p provider) post(ctx context.Context, path, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return client.Do(req)
}

// ask returns the status, the header and the body, and how reading it ended.
func (p provider) ask(t *testing.T, path, body string, header ...string) (*http.Response, string, error) {
	t.Helper()
	resp, err := p.post(t.Context(), path, body, header...)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

const (
	chat     = "/v1/chat/completions"
	messages = "/v1/messages"
)

// chatBody is a request for model with more members, each ending in a comma.
func chatBody(model, more string) string {
	return `{` + more + `"model":"` + model + `","messages":[{"role":"user","content":"hello there"}]}`
}

func messageBody(model, more string) string {
	return `{"max_tokens":100,` + more + `"model":"` + model + `","messages":[{"role":"user","content":"hello there"}]}`
}

// data returns the payloads of a stream's events.
func data(stream string) []string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(stream, "\r\n", "\n")) {
		if payload, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok {
			out = append(out, payload)
		}
	}
	return out
}

func TestWholeAndStreamedChatSayTheSame(t *testing.T) {
	p := start(t, fake.Options{})
	type doc struct {
		Choices []struct {
			Message struct{ Content string } `json:"message"`
			Delta   struct{ Content string } `json:"delta"`
			Finish  *string                  `json:"finish_reason"`
		} `json:"choices"`
		Usage *struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
			Total      int `json:"total_tokens"`
		} `json:"usage"`
	}
	_, body, err := p.ask(t, chat, chatBody("fake-gpt", ""))
	if err != nil {
		t.Fatal(err)
	}
	var whole doc
	if err := json.Unmarshal([]byte(body), &whole); err != nil {
		t.Fatal(err)
	}
	if got := whole.Choices[0].Message.Content; got != "The fake provider heard: hello there" {
		t.Errorf("content %q", got)
	}
	if u := whole.Usage; u == nil || u.Prompt == 0 || u.Completion != 6 || u.Total != u.Prompt+u.Completion {
		t.Errorf("usage %+v", u)
	}
	for _, includeUsage := range []bool{false, true} {
		more := `"stream":true,`
		if includeUsage {
			more += `"stream_options":{"include_usage":true},`
		}
		resp, body, err := p.ask(t, chat, chatBody("fake-gpt", more))
		if err != nil || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			t.Fatal(err, resp)
		}
		var text, finish string
		var last doc
		events := data(body)
		for _, e := range events[:len(events)-1] {
			last = doc{}
			if err := json.Unmarshal([]byte(e), &last); err != nil {
				t.Fatal(err)
			}
			for _, c := range last.Choices {
				text += c.Delta.Content
				if c.Finish != nil {
					finish = *c.Finish
				}
			}
		}
		if text != whole.Choices[0].Message.Content || finish != "stop" || events[len(events)-1] != "[DONE]" {
			t.Errorf("streamed %q, finish %q, end %q", text, finish, events[len(events)-1])
		}
		if includeUsage && (last.Usage == nil || len(last.Choices) != 0 || cmp.Diff(last.Usage, whole.Usage) != "") {
			t.Errorf("usage of the stream %+v, of the whole answer %+v", last.Usage, whole.Usage)
		}
		if !includeUsage && strings.Contains(body, "usage") {
			t.Error("usage that nobody asked for")
		}
	}
}

func TestSameRequestSameBytesAfterReset(t *testing.T) {
	p := start(t, fake.Options{})
	for _, path := range []string{chat, messages} {
		var got [2]string
		for i := range got {
			p.Reset()
			_, body, err := p.ask(t, path, messageBody("fake", `"stream":true,`))
			if err != nil {
				t.Fatal(err)
			}
			got[i] = body
		}
		if got[0] != got[1] || got[0] == "" {
			t.Errorf("%s: %s", path, cmp.Diff(got[0], got[1]))
		}
	}
}

// TestContents looks for what each request must bring, and must not.
func TestContents(t *testing.T) {
	const weather = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}`
	const chatTools = `"tools":[{"type":"function","function":{"name":"weather","parameters":` + weather + `}}],`
	const messageTools = `"tools":[{"name":"weather","input_schema":` + weather + `}],`
	for _, tc := range []struct {
		name, path, body string
		want             []string
		not              string
	}{
		{"tool call", chat, chatBody("m", chatTools), []string{`"content":null`, `"name":"weather"`, `"arguments":"{\"city\":\"fake\",\"days\":1}"`, `"finish_reason":"tool_calls"`}, "heard"},
		{"tool call streamed", chat, chatBody("m", chatTools+`"stream":true,`), []string{`"index":0,"id":"call_fake`, `"arguments":""`, `"finish_reason":"tool_calls"`}, "heard"},
		{"two tool calls", chat, chatBody("m+tools-2", chatTools), []string{`call_fake-1_0_0`, `call_fake-1_0_1`}, ""},
		{"tools forbidden", chat, chatBody("m", chatTools+`"tool_choice":"none",`), []string{"heard"}, "tool_calls"},
		{
			"after the tool's answer", chat,
			`{"model":"m",` + chatTools + `"messages":[{"role":"user","content":"?"},{"role":"assistant","tool_calls":[{"id":"c1"}]},{"role":"tool","tool_call_id":"c1","content":"rain"}]}`,
			[]string{"The tool answered: rain"},
			`"tool_calls":[`,
		},
		{"n", chat, chatBody("m", `"n":2,`), []string{`"index":0`, `"index":1`, "Choice 1."}, ""},
		{"json object", chat, chatBody("m", `"response_format":{"type":"json_object"},`), []string{`"content":"{\"answer\":`}, ""},
		{"json schema", chat, chatBody("m", `"response_format":{"type":"json_schema","json_schema":{"schema":`+weather+`}},`), []string{`"content":"{\"city\":\"fake\",\"days\":1}"`}, ""},
		{"max_tokens", chat, chatBody("m", `"max_tokens":2,`), []string{`"The fake "`, `"finish_reason":"length"`, `"completion_tokens":2`}, ""},
		{"stop", chat, chatBody("m", `"stop":["provider"],`), []string{`"The fake"`, `"finish_reason":"stop"`}, "heard"},
		{"parts", chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"one"},{"type":"image_url"}]}]}`, []string{"heard: one", `"prompt_tokens":92`}, ""},
		{"thinking", chat, chatBody("m+think", ""), []string{`"reasoning_content":"The caller`, `"reasoning_tokens":8`}, ""},
		{"words", chat, chatBody("words-50", ""), []string{`"completion_tokens":50`}, ""},
		{"cached", chat, chatBody("cached-4", ""), []string{`"cached_tokens":4`}, ""},
		{"no usage", chat, chatBody("m:nousage", `"stream":true,"stream_options":{"include_usage":true},`), []string{"[DONE]"}, `"usage":{`},
		{"negative usage", chat, chatBody("badusage", ""), []string{`"prompt_tokens":-7`}, ""},
		{"usage as text", chat, chatBody("badusage-string", ""), []string{`"prompt_tokens":"12"`}, ""},
		{"huge usage", chat, chatBody("badusage-huge", ""), []string{`"prompt_tokens":9223372036854775807`}, ""},
		{"usage null", chat, chatBody("badusage-null", ""), []string{`"usage":null`}, ""},
		{"filtered answer", chat, chatBody("filter-200", ""), []string{`"finish_reason":"content_filter"`}, ""},
		{"message", messages, messageBody("m", ""), []string{`"type":"message"`, `"text":"The fake provider heard: hello there"`, `"stop_reason":"end_turn"`, `"output_tokens":6`}, ""},
		{"message streamed", messages, messageBody("m", `"stream":true,`), []string{"event: message_start\n", "event: ping\n", `"text_delta"`, `"stop_reason":"end_turn"`, "event: message_stop\n"}, "[DONE]"},
		{"message tool", messages, messageBody("m", messageTools), []string{`"type":"tool_use"`, `"input":{"city":"fake","days":1}`, `"stop_reason":"tool_use"`}, ""},
		{"message tool streamed", messages, messageBody("m", messageTools+`"stream":true,`), []string{`"input":{}`, `"input_json_delta"`, `"partial_json":""`}, ""},
		{
			"message after the tool", messages,
			`{"max_tokens":9,"model":"m",` + messageTools + `"messages":[{"role":"user","content":"?"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"weather","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"rain"}]}]}`,
			[]string{"The tool answered: rain"},
			"tool_use",
		},
		{"message thinking", messages, messageBody("m", `"thinking":{"type":"enabled","budget_tokens":1024},`), []string{`"type":"thinking"`, `"signature":"`}, ""},
		{"message cached", messages, messageBody("cached-2", ""), []string{`"cache_read_input_tokens":2`}, ""},
		{"message stop sequence", messages, messageBody("m", `"stop_sequences":["heard"],`), []string{`"stop_reason":"stop_sequence","stop_sequence":"heard"`}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := start(t, fake.Options{})
			resp, body, err := p.ask(t, tc.path, tc.body)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%v %v %s", err, resp, body)
			}
			for _, want := range tc.want {
				if !strings.Contains(body, want) {
					t.Errorf("no %s in %s", want, body)
				}
			}
			if tc.not != "" && strings.Contains(body, tc.not) {
				t.Errorf("%s in %s", tc.not, body)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for _, tc := range []struct {
		name, path, body string
		status           int
		want             string
		header           [2]string
	}{
		{"status", chat, chatBody("openai/fail-503", ""), 503, `"type":"server_error"`, [2]string{}},
		{"bare status", chat, chatBody("401", ""), 401, `"code":"invalid_api_key"`, [2]string{}},
		{"rate limit", chat, chatBody("fail-429", ""), 429, `"code":"rate_limit_exceeded"`, [2]string{"Retry-After", ""}},
		{"rate limit with a time", chat, chatBody("limit-2", ""), 429, `"code":"rate_limit_exceeded"`, [2]string{"Retry-After", "2"}},
		{"content filter", chat, chatBody("filter", ""), 400, `"code":"content_filter"`, [2]string{}},
		{"context window", chat, chatBody("context", ""), 400, `"code":"context_length_exceeded"`, [2]string{}},
		{"redirect", chat, chatBody("redirect", ""), 302, "", [2]string{"Location", "/elsewhere/v1/chat/completions"}},
		{"html", chat, chatBody("html", ""), 502, "<html>", [2]string{"Content-Type", "text/html; charset=utf-8"}},
		{"html as if well", chat, chatBody("html-200", ""), 200, "<html>", [2]string{}},
		{"empty failure", chat, chatBody("fail-500+empty", ""), 500, "", [2]string{}},
		{"overloaded", messages, messageBody("fail-529", ""), 529, `"type":"overloaded_error"`, [2]string{}},
		{"anthropic rate limit", messages, messageBody("limit-1", ""), 429, `"type":"rate_limit_error"`, [2]string{"Retry-After", "1"}},
		{"no JSON", chat, "{", 400, "parse", [2]string{}},
		{"no model", chat, `{"messages":[]}`, 400, `"param":"model"`, [2]string{}},
		{"no messages", chat, `{"model":"m"}`, 400, `"param":"messages"`, [2]string{}},
		{"tool without a call", chat, `{"model":"m","messages":[{"role":"tool","tool_call_id":"x","content":""}]}`, 400, `"param":"messages.[0].role"`, [2]string{}},
		{"no max_tokens", messages, `{"model":"m","messages":[{"role":"user","content":"a"}]}`, 400, "max_tokens: Field required", [2]string{}},
		{"system among messages", messages, `{"max_tokens":1,"model":"m","messages":[{"role":"system","content":"a"}]}`, 400, "messages.0.role", [2]string{}},
		{"result without a use", messages, `{"max_tokens":1,"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}]}`, 400, "tool_use_id", [2]string{}},
		{"no such endpoint", "/v1/files", `{}`, 404, "Unknown request URL", [2]string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := start(t, fake.Options{})
			resp, body, err := p.ask(t, tc.path, tc.body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tc.status || !strings.Contains(body, tc.want) {
				t.Errorf("status %d, body %s", resp.StatusCode, body)
			}
			if name := tc.header[0]; name != "" && resp.Header.Get(name) != tc.header[1] {
				t.Errorf("%s is %q", name, resp.Header.Get(name))
			}
			if got := p.Requests()[0].Status; got != tc.status {
				t.Errorf("recorded status %d", got)
			}
		})
	}
}

// TestStreamsThatBreak gives how many events arrive, and whether the stream ends
// in good order.
func TestStreamsThatBreak(t *testing.T) {
	for _, tc := range []struct {
		model   string
		events  int
		orderly bool
		last    string
	}{
		{"words-5", 8, true, "[DONE]"},
		{"words-5+cut-3", 3, false, `"finish_reason":null`},
		{"words-5+cut-0", 0, false, ""},
		{"words-5+error-first", 1, true, `"error":{`},
		{"words-20+error-10th", 10, true, `"error":{`},
		{"words-5+nodone", 7, true, `"finish_reason":"stop"`},
		{"words-5+crlf", 8, true, "[DONE]"},
		{"words-5+comments", 8, true, "[DONE]"},
		{"words-5+dribble", 8, true, "[DONE]"},
		{"words-5+garbage", 8, true, "[DONE]"},
		{"empty", 0, true, ""},
	} {
		t.Run(tc.model, func(t *testing.T) {
			p := start(t, fake.Options{})
			_, body, err := p.ask(t, chat, chatBody(tc.model, `"stream":true,`))
			events := data(body)
			if len(events) != tc.events || (err == nil) != tc.orderly {
				t.Fatalf("%d events, %v: %s", len(events), err, body)
			}
			if len(events) > 0 && !strings.Contains(events[len(events)-1], tc.last) {
				t.Errorf("last event %s", events[len(events)-1])
			}
			switch {
			case strings.HasSuffix(tc.model, "garbage"):
				if json.Valid([]byte(events[1])) {
					t.Errorf("valid: %s", events[1])
				}
			case strings.HasSuffix(tc.model, "crlf"):
				if strings.Count(body, "\r\n") != strings.Count(body, "\n") {
					t.Error("lines that end with LF alone")
				}
			}
		})
	}
}

func TestAnswersThatBreak(t *testing.T) {
	p := start(t, fake.Options{})
	if _, body, err := p.ask(t, chat, chatBody("cut-1", "")); err == nil || body == "" || json.Valid([]byte(body)) {
		t.Errorf("cut: %v %q", err, body)
	}
	if _, _, err := p.ask(t, chat, chatBody("reset", "")); err == nil {
		t.Error("an answer over a broken connection")
	}
	if _, body, err := p.ask(t, chat, chatBody("garbage", "")); err != nil || json.Valid([]byte(body)) {
		t.Errorf("garbage: %v %q", err, body)
	}
	if _, body, err := p.ask(t, messages, messageBody("error-first", `"stream":true,`)); err != nil || !strings.HasPrefix(body, "event: error\n") {
		t.Errorf("error first: %v %q", err, body)
	}
}

func TestFlakyRecovers(t *testing.T) {
	p := start(t, fake.Options{})
	for _, want := range []int{500, 500, 200, 200} {
		resp, _, err := p.ask(t, chat, chatBody("flaky-2", ""))
		if err != nil || resp.StatusCode != want {
			t.Fatal(err, resp.StatusCode, want)
		}
	}
	p.Reset()
	if resp, _, err := p.ask(t, chat, chatBody("flaky-2+fail-503", "")); err != nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Fatal(err, resp)
	}
}

func TestSlowWaits(t *testing.T) {
	p := start(t, fake.Options{})
	begin := time.Now()
	if _, _, err := p.ask(t, chat, chatBody("slow-50ms", "")); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d < 50*time.Millisecond {
		t.Errorf("answered after %v", d)
	}
}

// TestHangingRequestsEnd leaves a request that hangs, and closes the server
// under another.
func TestHangingRequestsEnd(t *testing.T) {
	for _, model := range []string{"hang", "stall-2", "slow-1h", "words-9+pace-1h"} {
		p := start(t, fake.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			resp, err := p.post(ctx, chat, chatBody(model, `"stream":true,`))
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			ended <- err
		}()
		if err := p.Await(t.Context(), func(c fake.Counters) bool { return c.Open == 1 }); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", model, err)
		}
		if err := p.Await(t.Context(), func(c fake.Counters) bool { return c.Aborted == 1 && c.Open == 0 }); err != nil {
			t.Fatal(err)
		}
		if !p.Requests()[0].Aborted {
			t.Errorf("%s: not recorded as aborted", model)
		}
	}
	p := start(t, fake.Options{})
	ended := make(chan error, 1)
	go func() {
		_, _, err := p.ask(t, chat, chatBody("hang", ""))
		ended <- err
	}()
	if err := p.Await(t.Context(), func(c fake.Counters) bool { return c.Open == 1 }); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestCredentials(t *testing.T) {
	p := start(t, fake.Options{APIKey: "sk-right"})
	for _, tc := range []struct {
		name, value string
		status      int
	}{
		{"Authorization", "Bearer sk-right", 200},
		{"X-Api-Key", "sk-right", 200},
		{"Authorization", "Bearer sk-wrong", 401},
		{"X-Other", "sk-right", 401},
	} {
		resp, _, err := p.ask(t, chat, chatBody("m", ""), tc.name, tc.value)
		if err != nil || resp.StatusCode != tc.status {
			t.Errorf("%s %s: %v %v", tc.name, tc.value, err, resp)
		}
	}
}

func TestRecord(t *testing.T) {
	p := start(t, fake.Options{})
	body := chatBody("m", "")
	if _, _, err := p.ask(t, "/prefix"+chat+"?a=b", body, "X-Some", "value"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.ask(t, chat, chatBody("other", "")); err != nil {
		t.Fatal(err)
	}
	if err := p.Await(t.Context(), func(c fake.Counters) bool { return c.Open == 0 }); err != nil {
		t.Fatal(err)
	}
	get := func() (out struct {
		Requests []fake.Request
		Counters fake.Counters
	},
	) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/_fake/requests?model=m", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	got := get()
	if len(got.Requests) != 1 {
		t.Fatalf("%+v", got)
	}
	r := got.Requests[0]
	if r.Seq != 1 || r.Path != "/prefix"+chat || r.Query != "a=b" || r.Body != body || r.Headers.Get("X-Some") != "value" || !r.Ended || r.Aborted || r.Status != 200 {
		t.Errorf("%+v", r)
	}
	want := fake.Counters{Total: 2, ByModel: map[string]int{"m": 1, "other": 1}}
	if diff := cmp.Diff(want, got.Counters); diff != "" {
		t.Error(diff)
	}
	if resp, _, err := p.ask(t, "/_fake/reset", ""); err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatal(err, resp)
	}
	if got := get(); len(got.Requests) != 0 || got.Counters.Total != 0 {
		t.Errorf("after the reset: %+v", got)
	}
}

func TestRecordIsBounded(t *testing.T) {
	p := fake.New(fake.Options{})
	defer p.Close()
	for range 1005 {
		p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, chat, bytes.NewReader([]byte("{}"))))
	}
	got := p.Requests()
	if len(got) != 1000 || got[0].Seq != 6 || p.Counters().Total != 1005 {
		t.Errorf("%d requests, first %d, total %d", len(got), got[0].Seq, p.Counters().Total)
	}
	big := strings.Repeat("x", 3<<20)
	p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, chat, strings.NewReader(big)))
	last := p.Requests()[999]
	if len(last.Body) != 1<<20 || last.BodyBytes != len(big) {
		t.Errorf("kept %d bytes of %d", len(last.Body), last.BodyBytes)
	}
}

// TestReadmeHasTheTable keeps the README's table what the program does: every
// listed model stands in it.
func TestReadmeHasTheTable(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	p := fake.New(fake.Options{})
	defer p.Close()
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/models", nil))
	var list struct {
		Data []struct{ ID string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list.Data) < 20 {
		t.Fatal(err, w.Body)
	}
	for _, m := range list.Data {
		if !strings.Contains(string(readme), "`"+m.ID+"`") {
			t.Errorf("README.md does not show %s", m.ID)
		}
	}
}
