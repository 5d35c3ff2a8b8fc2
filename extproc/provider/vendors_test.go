package provider_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/judgetest"
	"github.com/modelgateway/modelgateway/extproc/openai"
)

// judged is a case for the judge: what a vendor is sent, or what one sends.
type judged struct{ Name, Kind, Value string }

// excused lists what the types of the SDKs lack and the vendors' interfaces have.
func excused() map[string]string {
	return map[string]string{
		"UsageInfo has no such member":                         "Mistral's OpenAPI document has num_cached_tokens and prompt_tokens_details",
		"ChatMessageStartEventDeltaMessage has no such member": "Cohere's documentation shows an empty message at the beginning of a stream",
	}
}

// TestVendorsUnderstand has the types of the SDKs of Mistral and Cohere judge all that these are sent, in the golden files and of
// random requests, and what the golden files take for a response of theirs.
func TestVendorsUnderstand(t *testing.T) {
	var cases []judged
	for _, vendor := range []string{"mistral", "cohere"} {
		files, err := filepath.Glob("testdata/" + vendor + "/*.txtar")
		if err != nil || len(files) < 50 {
			t.Fatalf("%s has %d golden files: %v", vendor, len(files), err)
		}
		for _, file := range files {
			cases = append(cases, goldenCases(t, vendor, file)...)
		}
		for seed := range 150 {
			cases = append(cases, randomCase(t, vendor, seed)...)
		}
	}
	seen := map[string]bool{}
	for i, problems := range judgetest.Problems(t, cases) {
		problems = slices.DeleteFunc(problems, func(problem string) bool {
			for known := range excused() {
				if strings.Contains(problem, known) {
					seen[known] = true
					return true
				}
			}
			return false
		})
		if len(problems) > 0 {
			t.Errorf("%s: %v: %s", cases[i].Name, problems, cases[i].Value)
		}
	}
	for known, reason := range excused() {
		if !seen[known] {
			t.Errorf("the SDKs know what %q excuses (%s)", known, reason)
		}
	}
}

// The judge rejects what is almost right.
func TestTheVendorsJudgeIsStrict(t *testing.T) {
	const (
		mistral = `{"model":"m","messages":[{"role":"user","content":"a"}]}`
		cohere  = `{"model":"m","stream":false,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`
	)
	with := func(body, member string) string { return strings.TrimSuffix(body, "}") + "," + member + "}" }
	cases := []judged{
		{"right", "mistral request", mistral},
		{"right", "cohere request", cohere},
		{"OpenAI's seed", "mistral request", with(mistral, `"seed":1`)},
		{"OpenAI's options", "mistral stream", with(mistral, `"stream_options":{}`)},
		{"an unknown chunk", "mistral request", strings.Replace(mistral, `"a"`, `[{"type":"video","video":"x"}]`, 1)},
		{"no role", "mistral request", strings.Replace(mistral, `"role":"user",`, ``, 1)},
		{"OpenAI's top_p", "cohere request", with(cohere, `"top_p":1`)},
		{"OpenAI's choice", "cohere request", with(cohere, `"tool_choice":"required"`)},
		{"a temperature as a text", "cohere request", with(cohere, `"temperature":"hot"`)},
		{"an unknown part", "cohere request", strings.Replace(cohere, `"type":"text"`, `"type":"input_text"`, 1)},
		{"a developer", "cohere request", strings.Replace(cohere, `"role":"user"`, `"role":"developer"`, 1)},
	}
	for i, problems := range judgetest.Problems(t, cases) {
		if rejected := len(problems) > 0; rejected != (i > 1) {
			t.Errorf("%s: %v", cases[i].Name, problems)
		}
	}
}

// goldenCases returns the cases of a golden file. A response that is wrong on purpose is none.
func goldenCases(t *testing.T, vendor, file string) []judged {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(file)
	var out []judged
	for _, f := range archive.Files {
		switch f.Name {
		case upstreamHTTP:
			_, body, _ := strings.Cut(string(f.Data), "\n\n")
			out = append(out, requestCase(vendor, name, body))
		case replyHTTP:
			status, header, body := parse(t, f.Data)
			wrong := slices.ContainsFunc([]string{"answer_", "stream_", "usage_"}, func(p string) bool { return strings.HasPrefix(name, p) })
			switch {
			case status != http.StatusOK || wrong:
			case strings.HasPrefix(header("content-type"), "text/event-stream"):
				for i, e := range events(body) {
					if e.data != "[DONE]" {
						out = append(out, judged{fmt.Sprintf("%s/%s event %d", vendor, name, i), vendor + " event", e.data})
					}
				}
			default:
				out = append(out, judged{vendor + "/" + name + " response", vendor + " response", string(body)})
			}
		}
	}
	return out
}

// requestCase returns the case of a request.
func requestCase(vendor, name, body string) judged {
	var streamed struct {
		Stream bool `json:"stream"`
	}
	kind := vendor + " request"
	if json.Unmarshal([]byte(body), &streamed) == nil && streamed.Stream {
		kind = vendor + " stream"
	}
	return judged{vendor + "/" + name + " request", kind, body}
}

// randomCase returns the case of a random request; none if it cannot be sent.
func randomCase(t *testing.T, vendor string, seed int) []judged {
	t.Helper()
	p, _ := byName(vendor)
	return rapid.Custom(func(rt *rapid.T) []judged {
		ask, err := openai.Dialect{}.DecodeRequest(marshal(drawAsk(rt)))
		if err != nil {
			return nil
		}
		body, err := codec(p).Encode(ask, driver.Target{Model: "m", DropParams: true})
		if err != nil {
			return nil
		}
		return []judged{requestCase(vendor, fmt.Sprint("random ", seed), string(body))}
	}).Example(seed)
}
