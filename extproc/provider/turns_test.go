package provider_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/cohere"
	"github.com/modelgateway/modelgateway/extproc/coherecaller"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/judgetest"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// TestTurnsStreamedAreWhole: a caller of Cohere's language gets the same response of a provider of another one whole and
// streamed, as Cohere's own language is read.
func TestTurnsStreamedAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		t.Helper()
		p, _ := byName(rapid.SampledFrom([]string{"anthropic", "openai"}).Draw(t, "provider"))
		body, all := anthropicAnswer(t)
		if p.Name == "openai" {
			body, all = openAIAnswer(t)
		}
		reply, err := codec(p).Decode(body)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		m := dialect.Meta{ID: "1", Model: "alias", IncludeUsage: true}
		answer := coherecaller.Dialect{}.EncodeResponse(nil, reply, m)
		if reply.Choices[0].Finish == wire.FinishFilter { // to Cohere's clients that is an error
			if finish := string(jsontext.Value(answer)); !strings.Contains(finish, `"finish_reason":"ERROR"`) {
				t.Fatal(finish)
			}
			return
		}
		whole, err := cohere.Driver{}.Decode(answer)
		if err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		streamed, _, _ := translate(t, coherecaller.Dialect{}, codec(p), all, m)
		got, in := wire.Choice{}, cohere.Driver{}.Stream()
		open := ""
		for _, e := range events(streamed.all()) {
			if !jsontext.Value(e.data).IsValid() {
				t.Fatalf("%s", e.data)
			}
			open = nested(t, open, e.data)
			chunks, err := in.Event(nil, "", []byte(e.data))
			if err != nil {
				t.Fatalf("%v: %s", err, e.data)
			}
			for i := range chunks {
				join(&got, &chunks[i])
			}
		}
		if len(got.ToolCalls) > 0 { // Cohere's clients read sources of a plan elsewhere
			got.Annotations = nil
		}
		if diff := cmp.Diff(plainChoice(whole.Choices[0]), plainChoice(got)); diff != "" {
			t.Fatalf("(-whole +streamed) %s\n%s\n%s", diff, answer, streamed.all())
		}
		if diff := cmp.Diff(whole.Usage, in.Usage()); diff != "" {
			t.Fatalf("usage (-whole +streamed) %s", diff)
		}
		if !in.Complete() || open != "" {
			t.Fatalf("the stream is not complete: %s", streamed.all())
		}
	})
}

// nested checks that an event of Cohere's belongs to what is open, and returns what is open after it.
func nested(t *rapid.T, open, data string) string {
	t.Helper()
	var e struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		t.Fatal(err)
	}
	at := max(strings.LastIndexByte(e.Type, '-'), 0)
	what, step := e.Type[:at], strings.TrimPrefix(e.Type[at:], "-")
	name := fmt.Sprint(what, " ", e.Index)
	switch {
	case what == "citation" || what == "message":
		if what == "message" && open != "" {
			t.Fatalf("%s is open at %s", open, data)
		}
		return open
	case step == "start" && open == "":
		return name
	case step == "delta" && open == name:
		return open
	case step == "end" && open == name:
		return ""
	}
	t.Fatalf("%s is open at %s", open, data)
	return ""
}

// TestMembersOfCoheresStayHere: no driver sends a member of a caller of Cohere's language under its own name, whatever that name
// means to its provider.
func TestMembersOfCoheresStayHere(t *testing.T) {
	names := []string{
		"container", "context_management", "mcp_servers", "speed", "safe_prompt", "prompt_mode", "prompt_cache_key", "prediction", "store", "verbosity", "moderation",
		"logit_bias", "guardrailConfig", "metadata", "user", "previous_response_id", "conversation", "prompt", "background", "extra_body", "canary", "raw_prompting",
	}
	sent := 0
	for _, p := range chatting() {
		if language, _ := p.Driver.Serves(driver.Target{Model: "m"}, driver.Turns); language == wire.Cohere {
			continue // the bytes pass
		}
		for _, name := range names {
			body := `{"model":"m","messages":[{"role":"user","content":"a"}],"` + name + `":{"canary":"in a member"}}`
			ask, err := coherecaller.Dialect{}.DecodeRequest([]byte(body))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if _, err := codec(p).Encode(ask, driver.Target{Model: "m"}); err == nil {
				t.Errorf("%s takes %s", p.Name, name)
			}
			out, err := codec(p).Encode(ask, driver.Target{Model: "m", DropParams: true})
			if err != nil {
				t.Errorf("%s: %s: %v", p.Name, name, err)
			}
			if sent++; strings.Contains(string(out), "canary") {
				t.Errorf("%s: %s: %s", p.Name, name, out)
			}
		}
	}
	if sent < 100 {
		t.Errorf("only %d requests were sent", sent)
	}
}

// TestCoheresClientsUnderstand has the types of Cohere's SDK judge the requests in the golden files of callers of its language, and all
// that these callers get: with no member that the types lack, and of no kind that they do not know.
func TestCoheresClientsUnderstand(t *testing.T) {
	files, err := filepath.Glob(turnsFolder + "/*/*.txtar")
	if err != nil || len(files) < 100 {
		t.Fatalf("there are %d golden files: %v", len(files), err)
	}
	var cases []judged
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(file, turnsFolder+"/")
		for _, f := range archive.Files {
			switch f.Name {
			case askJSON:
				if !strings.Contains(name, "/invalid_") && !strings.Contains(string(f.Data), "raw_prompting") {
					cases = append(cases, judged{name + " ask", "cohere call", string(f.Data)})
				}
			case answerHTTP:
				status, header, body := parse(t, f.Data)
				switch {
				case status != http.StatusOK:
					cases = append(cases, judged{name + " error", "cohere error", string(body)})
				case strings.HasPrefix(header("content-type"), "text/event-stream"):
					for i, e := range events(body) {
						cases = append(cases, judged{fmt.Sprintf("%s event %d", name, i), "cohere event", e.data})
					}
				default:
					cases = append(cases, judged{name + " answer", "cohere response", string(body)})
				}
			}
		}
	}
	for i, problems := range judgetest.Problems(t, cases) {
		if len(problems) > 0 && !strings.Contains(problems[0], "ChatMessageStartEventDeltaMessage") {
			t.Errorf("%s: %v: %s", cases[i].Name, problems, cases[i].Value)
		}
	}
}
