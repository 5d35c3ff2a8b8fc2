package anthropic_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/judgetest"
)

// TestAnswersFitTheSDK has Anthropic's SDK judge all that callers of its language get: the golden
// files, random responses, and an error of each kind.
func TestAnswersFitTheSDK(t *testing.T) {
	var cases []judged
	files, err := filepath.Glob("../provider/testdata/messages/*/*.txtar")
	if err != nil || len(files) < 32 {
		t.Fatalf("there are %d golden files: %v", len(files), err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == "answer.http" {
				_, body, _ := strings.Cut(string(f.Data), "\n\n")
				cases = append(cases, casesOf(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), body)...)
			}
		}
	}
	for seed := range 100 {
		cases = append(cases, randomCases(seed)...)
	}
	for k := fault.Internal; k <= fault.StorageUnavailable; k++ {
		cases = append(cases, judged{"error " + k.String(), "error", string(anthropic.Dialect{}.EncodeError(&fault.Error{Kind: k}, "req_1"))})
	}
	for i, problems := range judgetest.Problems(t, cases) {
		// The API's documentation has this type, for status 413, and the SDK's types lack it.
		if strings.Contains(cases[i].Value, `"request_too_large"`) {
			if len(problems) == 0 {
				t.Errorf("the SDK knows request_too_large: %s need not be excepted", cases[i].Name)
			}
			continue
		}
		if len(problems) > 0 {
			t.Errorf("%s: %v: %s", cases[i].Name, problems, cases[i].Value)
		}
	}
}

// The judge rejects what is almost right.
func TestTheJudgeIsStrict(t *testing.T) {
	good := `{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`
	cases := []judged{
		{"right", "message", good},
		{"an unknown member", "message", strings.Replace(good, `"type":"message"`, `"type":"message","cost":1`, 1)},
		{"an unknown member in a block", "message", strings.Replace(good, `"text":"a"`, `"text":"a","x":1`, 1)},
		{"an unknown member in the usage", "message", strings.Replace(good, `"input_tokens":1`, `"input_tokens":1,"total_tokens":2`, 1)},
		{"a number as a text", "message", strings.Replace(good, `"input_tokens":1`, `"input_tokens":"1"`, 1)},
		{"no usage", "message", strings.Replace(good, `"usage"`, `"used"`, 1)},
		{"a stop reason of OpenAI", "message", strings.Replace(good, "end_turn", "stop", 1)},
		{"a block of OpenAI", "message", strings.Replace(good, `"type":"text"`, `"type":"output_text"`, 1)},
		{"an event of OpenAI", "event", `{"object":"chat.completion.chunk"}`},
		{"a delta without an index", "event", `{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`},
		{"an error of OpenAI", "error", `{"error":{"message":"m","type":"invalid_request_error","param":null,"code":null}}`},
	}
	for i, problems := range judgetest.Problems(t, cases) {
		if rejected := len(problems) > 0; rejected != (i > 0) {
			t.Errorf("%s: %v", cases[i].Name, problems)
		}
	}
}

// judged is a case for the judge.
type judged struct{ Name, Kind, Value string }

// casesOf returns the cases of a response's body.
func casesOf(name, body string) []judged {
	body = strings.TrimSpace(body)
	if !strings.HasPrefix(body, "event: ") {
		kind := "message"
		if strings.Contains(body, `"type": "error"`) {
			kind = "error"
		}
		return []judged{{name, kind, body}}
	}
	var out []judged
	for i, e := range strings.Split(body, "\n\n") {
		head, data, _ := strings.Cut(e, "\ndata: ")
		kind := "event"
		if head == "event: error" {
			kind = "error"
		}
		out = append(out, judged{fmt.Sprintf("%s, event %d", name, i), kind, data})
	}
	return out
}

// randomCases returns a random response, whole and streamed. A citation without its members is
// no citation, so the responses have those of the web only.
func randomCases(seed int) []judged {
	var out []judged
	rapid.Custom(func(t *rapid.T) int {
		r := drawResponse(t)
		if a := r.Choices[0].Annotations; a != nil {
			r.Choices[0].Annotations = a[:1]
		}
		m := dialect.Meta{ID: "msg_1", Model: "alias"}
		enc := anthropic.Dialect{}.Stream(m)
		var stream []byte
		for _, c := range drawChunks(t, &r.Choices[0]) {
			stream = enc.Chunk(stream, &c)
		}
		stream = enc.End(stream, &r.Usage)
		out = append(casesOf(fmt.Sprint("random stream ", seed), string(stream)),
			judged{fmt.Sprint("random response ", seed), "message", string(anthropic.Dialect{}.EncodeResponse(nil, r, m))})
		return 0
	}).Example(seed)
	return out
}
