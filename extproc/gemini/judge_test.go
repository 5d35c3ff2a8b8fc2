package gemini_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/judgetest"
)

// The kinds of what is judged.
const (
	request  = "request"
	response = "response"
	failure  = "error"
)

// judged is a case for the judge.
type judged struct{ Name, Kind, Value string }

// verdict is what the judge says of a case.
type verdict struct {
	Name     string   `json:"name"`
	Problems []string `json:"problems"`
	Printed  string   `json:"printed"` // a response as the SDK prints it
}

// TestRequestsFitTheSDK has Google's SDK judge every request that the driver makes, of the golden files and of
// random chats, and every response and error that it is tested with. What the SDK prints of a
// response means the same.
func TestRequestsFitTheSDK(t *testing.T) {
	cases := goldens(t)
	for seed := range 300 {
		cases = append(cases, judged{fmt.Sprint("random request ", seed), request, randomRequest(seed)})
	}
	cases = append(cases, fakes(t)...)
	read := 0
	for i, v := range judge(t, cases) {
		c := cases[i]
		if len(v.Problems) > 0 {
			t.Errorf("%s: %v: %s", c.Name, v.Problems, c.Value)
			continue
		}
		if c.Kind != response {
			continue
		}
		original, err := gemini.Codec{}.Decode([]byte(c.Value))
		if err != nil {
			continue // an event alone need not be a response
		}
		printed, err := gemini.Codec{}.Decode([]byte(v.Printed))
		if err != nil {
			t.Errorf("%s: %v: %s", c.Name, err, v.Printed)
		} else if diff := cmp.Diff(original, printed); diff != "" {
			t.Errorf("%s: (-the provider's +as the SDK prints it) %s", c.Name, diff)
		}
		read++
	}
	if read < 60 {
		t.Errorf("only %d responses were read twice", read)
	}
}

// The judge rejects what is almost right.
func TestTheJudgeIsStrict(t *testing.T) {
	good := `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{}}]}],` +
		`"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"topP":0.5,"thinkingConfig":{"thinkingLevel":"LOW"}}}`
	reply := `{"candidates":[{"content":{"parts":[{"text":"a"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}`
	cases := []judged{
		{"right", request, good},
		{"a right response", response, reply},
		{"an unknown member", request, strings.Replace(good, `"contents"`, `"model":"m","contents"`, 1)},
		{"an unknown member of a part", request, strings.Replace(good, `"text":"a"`, `"text":"a","type":"text"`, 1)},
		{"an unknown member of the generation", request, strings.Replace(good, `"topP"`, `"topQ"`, 1)},
		{"a member in the wrong place", request, strings.Replace(good, `"topP":0.5`, `"safetySettings":[]`, 1)},
		{"a number as a text", request, strings.Replace(good, `0.5`, `"0.5"`, 1)},
		{"an unknown mode", request, strings.Replace(good, `ANY`, `REQUIRED`, 1)},
		{"an unknown level", request, strings.Replace(good, `LOW`, `LOWEST`, 1)},
		{"a level in other letters", request, strings.Replace(good, `LOW`, `low`, 1)},
		{"Vertex's member", request, strings.Replace(good, `"topP":0.5`, `"audioTimestamp":true`, 1)},
		{"an unknown member of a candidate's content", response, strings.Replace(reply, `"role":"model"`, `"role":"model","x":1`, 1)},
		{"an unknown reason", response, strings.Replace(reply, `STOP`, `HALT`, 1)},
		{"an unknown member of a picture", request, strings.Replace(good, `"topP":0.5`, `"imageConfig":{"ratio":"1:1"}`, 1)},
		{"Vertex's member of a picture", request, strings.Replace(good, `"topP":0.5`, `"imageConfig":{"imageOutputOptions":{"mimeType":"image/png"}}`, 1)},
		{"an unknown parameter of Imagen", "imagen", `{"instances":[{"prompt":"a"}],"parameters":{"n":1}}`},
		{"a count without a model", "count", `{"generateContentRequest":{"contents":[{"role":"user","parts":[{"text":"a"}]}]}}`},
		{"an error without a status", failure, `{"error":{"code":400,"message":"m"}}`},
	}
	for i, v := range judge(t, cases) {
		if rejected := len(v.Problems) > 0; rejected != (i > 1) {
			t.Errorf("%s: %v", cases[i].Name, v.Problems)
		}
	}
}

// notGemini are the golden files whose responses are none of Google's, on purpose.
func notGemini(name string) bool {
	switch name {
	case "answer_empty.txtar", "answer_html.txtar", "error_html.txtar", "stream_garbage.txtar":
		return true
	}
	return false
}

// goldens returns the requests, responses and errors of the golden files.
func goldens(t *testing.T) []judged {
	t.Helper()
	var out []judged
	for _, folder := range []string{"", "messages/", "completions/", "rewritten/"} {
		files, err := filepath.Glob("../provider/testdata/" + folder + "gemini/*.txtar")
		if err != nil || len(files) < 8 {
			t.Fatalf("there are %d golden files: %v", len(files), err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := folder + filepath.Base(file)
			for _, f := range archive.Files {
				head, body, _ := strings.Cut(string(f.Data), "\n\n")
				switch {
				case f.Name == "upstream.http":
					out = append(out, judged{name, kindOf(head), body})
				case f.Name == "reply.http" && folder != "rewritten/" && !notGemini(filepath.Base(file)):
					out = append(out, responses(name, head, body)...)
				}
			}
		}
	}
	return append(out, answers(t)...)
}

// answers returns what callers of Google's language get, by the golden files.
func answers(t *testing.T) []judged {
	t.Helper()
	files, err := filepath.Glob("../provider/testdata/contents/*/*.txtar")
	if err != nil || len(files) < 40 {
		t.Fatalf("there are %d golden files: %v", len(files), err)
	}
	var out []judged
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if head, body, _ := strings.Cut(string(f.Data), "\n\n"); f.Name == "answer.http" {
				out = append(out, responses(strings.TrimPrefix(file, "../provider/testdata/"), head, body)...)
			}
		}
	}
	return out
}

// kindOf returns the kind of a request by its path.
func kindOf(head string) string {
	path, _, _ := strings.Cut(head, "\n")
	switch {
	case strings.HasSuffix(path, ":batchEmbedContents"):
		return "embedding"
	case strings.HasSuffix(path, ":countTokens"):
		return "count"
	case strings.HasSuffix(path, ":predict"):
		return "imagen"
	}
	return request
}

// responses returns the cases of a response.
func responses(name, head, body string) []judged {
	kindOf := func(body string) string {
		if strings.Contains(body, `"error"`) {
			return failure
		}
		return response
	}
	if !strings.Contains(head, "text/event-stream") {
		return []judged{{name, kindOf(body), body}}
	}
	var out []judged
	for i, e := range strings.Split(strings.TrimSpace(body), "\n\n") {
		out = append(out, judged{fmt.Sprintf("%s, event %d", name, i), kindOf(e), strings.TrimPrefix(e, "data: ")})
	}
	return out
}

// randomRequest returns the request of a random chat for a random model.
func randomRequest(seed int) string {
	return rapid.Custom(func(t *rapid.T) string {
		model := rapid.SampledFrom([]string{"gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-flash-preview", "gemini-3.8-flash", "gemma-3-27b-it"}).Draw(t, "model")
		body, err := gemini.Codec{}.Encode(drawRequest(t), driver.Target{Model: model, DropParams: true, Features: gemini.Features(model)})
		if err != nil {
			t.Fatalf("%v", err)
		}
		return string(body)
	}).Example(seed)
}

// fakes returns what the fake provider of the end-to-end tests answers.
func fakes(t *testing.T) []judged {
	t.Helper()
	provider := fake.New(fake.Options{})
	server := httptest.NewServer(provider)
	defer server.Close()
	defer provider.Close()
	const ask = `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]`
	var out []judged
	for _, model := range []string{"gemini-2.5-flash", "gemini-3-flash+tools-2+think", "m+cached-2", "m+length", "m+filter-200", "m+nousage", "m+fail-500", "m+503", "m+429", "m+limit-2", "m+401", "m+403", "m+404", "m+filter", "m+context"} {
		for _, body := range []string{ask + `}`, ask + `,"tools":[{"functionDeclarations":[{"name":"f"}]}]}`} {
			for _, method := range []string{"generateContent", "streamGenerateContent?alt=sse"} {
				r, err := http.Post(server.URL+"/v1beta/models/"+model+":"+method, "application/json", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(r.Body)
				_ = r.Body.Close()
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, responses("the fake "+model+" "+method, r.Header.Get("Content-Type"), string(text))...)
			}
		}
	}
	return out
}

// judge returns the verdict on each case.
func judge(t *testing.T, cases []judged) []verdict {
	t.Helper()
	return judgetest.Verdicts(t, cases, func(v verdict) string { return v.Name })
}
