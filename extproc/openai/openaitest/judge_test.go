package openaitest

import (
	"bytes"
	"mime/multipart"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/modelgateway/modelgateway/dataplane"
)

var judge = sync.OnceValue(New)

// Valid bodies.
const (
	chat = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"logprobs":null,"finish_reason":"stop",` +
		`"message":{"role":"assistant","content":"a","refusal":null}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,"cost":0.1}}`
	chunk    = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`
	response = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","error":null,"incomplete_details":null,"instructions":null,` +
		`"tools":[],"parallel_tool_calls":true,"metadata":{},"tool_choice":"auto","temperature":1,"top_p":1,"output":[{"type":"message","id":"msg_1",` +
		`"role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[]}]}]}`
	delta      = `{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"a","logprobs":[],"sequence_number":4}`
	failure    = `{"error":{"message":"m","type":"invalid_request_error","param":null,"code":null}}`
	embedding  = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}`
	picture    = `{"type":"image_generation.partial_image","b64_json":"AA==","created_at":1,"size":"1024x1024","quality":"low","background":"opaque","output_format":"png","partial_image_index":0}`
	transcript = `{"type":"transcript.text.delta","delta":"a"}`
	modelList  = `{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"o"}]}`
)

// A body that is almost right is complained about, in words that name the place.
func TestComplainsAboutResponses(t *testing.T) {
	for _, c := range []struct {
		name, path, media, body string
		status                  int
		want                    string // a part of the problem; empty if there is none
	}{
		{"a chat", "/v1/chat/completions", mediaJSON, chat, 200, ""},
		{"a chat of Azure's clients", "/openai/deployments/m/chat/completions?api-version=1", mediaJSON, strings.Replace(chat, `"stop"`, `"stopped"`, 1), 200, "/choices/0/finish_reason"},
		{"without a refusal", "/chat/completions", mediaJSON, strings.Replace(chat, `,"refusal":null`, ``, 1), 200, "/choices/0/message: refusal is missing"},
		{"a text for a number", "/chat/completions", mediaJSON, strings.Replace(chat, `"total_tokens":2`, `"total_tokens":"2"`, 1), 200, "/usage/total_tokens"},
		{"a member that nobody knows", "/chat/completions", mediaJSON, strings.Replace(chat, `"refusal"`, `"x_mood":1,"refusal"`, 1), 200, "/choices/0/message/x_mood"},
		{"half of it", "/chat/completions", mediaJSON, chat[:50], 200, "EOF"},
		{"a stream", "/chat/completions", mediaEvents, "data: " + chunk + "\n\ndata: [DONE]\n\n", 200, ""},
		{"a stream with an error", "/chat/completions", mediaEvents, "data: " + failure + "\n\n", 200, ""},
		{"a whole response in a stream", "/chat/completions", mediaEvents, "data: " + chat + "\n\n", 200, "event 0: "},
		{"an event after the end", "/chat/completions", mediaEvents, "data: [DONE]\n\ndata: " + chunk + "\n\n", 200, "follows [DONE]"},
		{"an event with a name", "/chat/completions", mediaEvents, "event: chunk\ndata: " + chunk + "\n\n", 200, "the name chunk"},
		{"a response", "/v1/responses", mediaJSON, response, 200, ""},
		{"without a member that may be null", "/v1/responses", mediaJSON, strings.Replace(response, `"error":null,`, ``, 1), 200, "error is missing"},
		{"a part of chats", "/v1/responses", mediaJSON, strings.Replace(response, `"output_text"`, `"text"`, 1), 200, "/output/0/content/0/type"},
		{"an item that nobody knows", "/v1/responses", mediaJSON, strings.Replace(response, `"type":"message"`, `"type":"massage"`, 1), 200, "/output/0"},
		{"an event", "/responses", mediaEvents, "event: response.output_text.delta\ndata: " + delta + "\n\n", 200, ""},
		{"without a number", "/responses", mediaEvents, "event: response.output_text.delta\ndata: " + strings.Replace(delta, `,"sequence_number":4`, "", 1) + "\n\n", 200, "sequence_number is missing"},
		{"another name than type", "/responses", mediaEvents, "event: response.done\ndata: " + delta + "\n\n", 200, "has the type"},
		{"a type that nobody knows", "/responses", mediaEvents, `data: {"type":"response.done"}` + "\n\n", 200, `"response.done"`},
		{"the end of chats", "/responses", mediaEvents, "data: [DONE]\n\n", 200, "no [DONE]"},
		{"an error of chats", "/responses", mediaEvents, "data: " + failure + "\n\n", 200, "no event of the type"},
		{"an error", "/responses", mediaJSON, failure, 400, ""},
		{"an error without a param", "/responses", mediaJSON, strings.Replace(failure, `"param":null,`, "", 1), 429, "param is missing"},
		{"an error of Anthropic", "/responses", mediaJSON, `{"type":"error","error":{"type":"api_error","message":"m"}}`, 500, "param is missing"},
		{"embeddings", "/v1/embeddings", mediaJSON, embedding, 200, ""},
		{"embeddings without usage", "/v1/embeddings", mediaJSON, strings.Replace(embedding, `"usage"`, `"used"`, 1), 200, "usage is missing"},
		{"a piece of a picture", "/v1/images/generations", mediaEvents, "event: image_generation.partial_image\ndata: " + picture + "\n\n", 200, ""},
		{"a piece of an edit for a picture", "/v1/images/edits", mediaEvents, "data: " + picture + "\n\n", 200, "no event of the type"},
		{"a piece of a text", "/v1/audio/transcriptions", mediaEvents, "data: " + transcript + "\n\n", 200, ""},
		{"a number as a text", "/v1/audio/transcriptions", mediaEvents, "data: " + strings.Replace(transcript, `"a"`, "1", 1) + "\n\n", 200, "/delta"},
		{"subtitles", "/v1/audio/transcriptions", "text/vtt", "WEBVTT", 200, ""},
		{"sound", "/v1/audio/speech", "audio/mpeg", "\xff\xfb", 200, ""},
		{"models", "/v1/models", mediaJSON, modelList, 200, ""},
		{"models without an owner", "/v1/models", mediaJSON, strings.Replace(modelList, "owned_by", "owner", 1), 200, "owned_by is missing"},
		{"a count", "/v1/responses/input_tokens", mediaJSON, `{"object":"response.input_tokens","input_tokens":1}`, 200, ""},
		{"a count of Anthropic", "/v1/responses/input_tokens", mediaJSON, `{"input_tokens":1}`, 200, "object is missing"},
		{"another API", "/v1/messages", mediaJSON, `{}`, 200, "has no /messages"},
	} {
		expect(t, c.name, judge().Response(c.path, Reply{Status: c.status, Media: c.media, Body: []byte(c.body)}), c.want)
	}
}

func TestComplainsAboutRequests(t *testing.T) {
	sent := `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`
	for _, c := range []struct{ name, path, body, want string }{
		{"a chat", "/v1/chat/completions", sent, ""},
		{"a part of responses", "/v1/chat/completions", strings.Replace(sent, `"text",`, `"input_text",`, 1), "/messages/0/content/0/type"},
		{"a role that nobody knows", "/v1/chat/completions", strings.Replace(sent, `"user"`, `"robot"`, 1), "/messages/0/role"},
		{"129 choices", "/v1/chat/completions", strings.Replace(sent, `{"model"`, `{"n":129,"model"`, 1), "/n: maximum"},
		{"a member of the gateway", "/v1/chat/completions", strings.Replace(sent, `{"model"`, `{"tags":["a"],"model"`, 1), "/tags"},
		{"a response", "/v1/responses", `{"model":"m","input":"a"}`, ""},
		{"a call without an id", "/v1/responses", `{"model":"m","input":[{"type":"function_call","name":"f","arguments":"{}"}]}`, "call_id is missing"},
		{"a tool of chats", "/v1/responses", `{"model":"m","input":"a","tools":[{"type":"function","function":{"name":"f"}}]}`, "/tools/0"},
		{"a picture", "/v1/images/generations", `{"model":"m","prompt":"a","n":2}`, ""},
		{"no prompt", "/v1/images/generations", `{"model":"m"}`, "prompt is missing"},
		{"another API", "/v1/messages", `{"model":"m"}`, "no schema"},
	} {
		expect(t, c.name, judge().Request(c.path, mediaJSON, []byte(c.body)), c.want)
	}
	for _, c := range []struct{ name, path, field, value, want string }{
		{"a recording", "/v1/audio/transcriptions", "temperature", "0.5", ""},
		{"a list", "/v1/audio/transcriptions", "timestamp_granularities[]", "word", ""},
		{"a word in a list that nobody knows", "/v1/audio/transcriptions", "timestamp_granularities[]", "letter", "/timestamp_granularities/0"},
		{"a text for a number", "/v1/audio/transcriptions", "temperature", "warm", "/temperature"},
		{"a field that nobody knows", "/v1/audio/transcriptions", "x_mood", "1", "x_mood"},
		{"a field of another operation", "/v1/audio/translations", "language", "en", "language"},
	} {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		file, err := w.CreateFormFile("file", "a.wav")
		for _, step := range []error{err, write(file), w.WriteField("model", "m"), w.WriteField(c.field, c.value), w.Close()} {
			if step != nil {
				t.Fatal(step)
			}
		}
		expect(t, c.name, judge().Request(c.path, w.FormDataContentType(), body.Bytes()), c.want)
		expect(t, c.name+", cut off", judge().Request(c.path, w.FormDataContentType(), body.Bytes()[:body.Len()/2]), "not a form")
	}
}

func write(w interface{ Write([]byte) (int, error) }) error {
	_, err := w.Write([]byte("RIFF"))
	return err
}

// expect checks that there is a problem as wanted, or none.
func expect(t *testing.T, name string, problems []string, want string) {
	t.Helper()
	if len(problems) == 0 && want == "" {
		return
	}
	if want == "" || !strings.Contains(strings.Join(problems, "\n"), want) {
		t.Errorf("%s: the problems are %q, want %q", name, problems, want)
	}
}

// A test fails for what the gateway has done, and not for what others have.
func TestChecks(t *testing.T) {
	wrong := []byte(`{"model":"m","messages":[{"role":"robot","content":"a"}],"tags":["a"]}`)
	made := func() []string {
		return []string{"/tags: x", judge().Request("/chat/completions", mediaJSON, wrong)[0]}
	}
	var r recorder
	judge().CheckRequest(&r, "/chat/completions", mediaJSON, []byte(`{"model":"m","messages":[{"role":"user","content":"a"}]}`), nil)
	judge().CheckRequest(&r, "/chat/completions", mediaJSON, wrong, made)
	if r.failed != 0 {
		t.Errorf("%d requests of others are complained about", r.failed)
	}
	judge().CheckRequest(&r, "/chat/completions", mediaJSON, wrong, nil)
	judge().CheckRequest(&r, "/chat/completions", mediaJSON, wrong, func() []string { return nil })
	cut := Reply{200, mediaEvents, []byte("data: {}\n\n")}
	judge().CheckResponse(&r, "/chat/completions", cut, nil)
	if r.failed != 3 {
		t.Errorf("%d of 3 wrong bodies are complained about", r.failed)
	}
	later := Reply{200, mediaEvents, append([]byte("data: "+chunk+"\n\n"), cut.Body...)}
	judge().CheckResponse(&r, "/chat/completions", later, func() []string { return judge().Response("/chat/completions", cut) })
	if r.failed != 3 {
		t.Error("an event of others is complained about after another event")
	}
}

// recorder is a test that counts its failures.
type recorder struct{ failed int }

func (*recorder) Helper() {}

func (r *recorder) Errorf(string, ...any) { r.failed++ }

// Each correction is needed: without it, the document judges its example wrongly.
func TestCorrectionsAreNeeded(t *testing.T) {
	valid := func(j *Judge, c correction) bool {
		return len(j.body(pointer("components", "schemas", c.schema), []byte(c.body))) == 0
	}
	for i, c := range corrections() {
		if c.reason == "" || valid(judge(), c) != c.valid {
			t.Errorf("%s: the example is judged wrongly", c.at)
		}
		without, err := newJudge(slices.Delete(corrections(), i, i+1))
		if err != nil {
			t.Fatal(err)
		}
		if valid(without, c) == c.valid {
			t.Errorf("%s: the document is right now: remove the correction", c.at)
		}
	}
	if _, err := newJudge([]correction{{at: "/components/schemas/There/is/none", to: "{}"}}); err == nil {
		t.Error("a correction of nothing is accepted")
	}
}

// Each addition is one: the document lacks it.
func TestAdditionsAreLacking(t *testing.T) {
	for _, a := range additions() {
		s, problem := judge().schema("#/components/schemas/" + a.schema)
		if problem != "" {
			t.Errorf("%s: %s", a.schema, problem)
			continue
		}
		if slices.ContainsFunc(flat(nil, []*jsonschema.Schema{s}, object{}), func(s *jsonschema.Schema) bool { return s.Properties[a.member] != nil }) {
			t.Errorf("%s has %s now: remove the addition", a.schema, a.member)
		}
	}
}

// The document has each operation of OpenAI's that the gateway serves, and all schemas compile.
func TestKnowsTheOperations(t *testing.T) {
	for _, o := range dataplane.Operations() {
		others := slices.Contains([]string{"anthropic", "gemini", "converse", "cohere"}, o.Language) || o.CallType == dataplane.Rerank
		if judge().Knows("/v1"+o.Path) == others {
			t.Errorf("%s: known is %v", o.Path, !others)
		}
		if others {
			continue
		}
		problems := judge().Request(o.Path, o.Request.Media+"; boundary=x", []byte("{}"))
		for _, media := range []string{o.Response, o.Stream} {
			problems = append(problems, judge().Response(o.Path, Reply{200, media, []byte("data: {}\n\n")})...)
		}
		if strings.Contains(strings.Join(problems, "\n"), "no schema") {
			t.Errorf("%s: %v", o.Path, problems)
		}
	}
}
