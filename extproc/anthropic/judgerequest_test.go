package anthropic_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/extproc/judgetest"
)

// sentToClaude are the paths of requests in Anthropic's language: its own, Vertex AI's and Bedrock's.
var sentToClaude = regexp.MustCompile(`^POST \S*(/v1/messages|publishers/anthropic/models/\S+:(stream)?[rR]awPredict|/model/\S*anthropic\S*/invoke(-with-response-stream)?)(/count_tokens)?(\?\S*)?$`)

// TestRequestsFitTheSDK has Anthropic's SDK judge every request of the golden files that goes to Claude, at Anthropic and at the
// clouds: strictly, with no member that its types lack.
func TestRequestsFitTheSDK(t *testing.T) {
	var cases []judged
	err := fs.WalkDir(os.DirFS("../provider/testdata"), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".txtar" {
			return err
		}
		archive, err := txtar.ParseFile(filepath.Join("../provider/testdata", path))
		if err != nil {
			return err
		}
		for _, f := range archive.Files {
			if f.Name == "upstream.http" {
				cases = append(cases, requestsOf(path, string(f.Data))...)
			}
		}
		return nil
	})
	if err != nil || len(cases) < 120 {
		t.Fatalf("there are %d requests: %v", len(cases), err)
	}
	unused := passedOn()
	for i, problems := range judgetest.Problems(t, cases) {
		name := cases[i].Name
		if want, excepted := passedOn()[name]; excepted && strings.Contains(strings.Join(problems, "\n"), want) {
			delete(unused, name)
		} else if len(problems) > 0 {
			t.Errorf("%s: %v: %s", name, problems, cases[i].Value)
		}
	}
	for name := range unused {
		t.Errorf("the SDK finds nothing wrong with %s: it need not be excepted", name)
	}
}

// passedOn lists the requests with members of their callers that the SDK's types lack, with one of them. They pass as they are.
func passedOn() map[string]string {
	return map[string]string{"messages/anthropic/members.txtar": "future: Extra inputs"}
}

// The judge rejects requests that are almost right.
func TestTheJudgeOfRequestsIsStrict(t *testing.T) {
	good := `{"model":"m","max_tokens":9,"stream":true,"temperature":0.5,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":1}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r"}]}]}],` +
		`"tools":[{"name":"f","input_schema":{"type":"object","additionalProperties":false}}],"tool_choice":{"type":"auto"},"thinking":{"type":"enabled","budget_tokens":1024}}`
	cloud := strings.Replace(good, `"model":"m"`, `"anthropic_version":"bedrock-2023-05-31"`, 1)
	cases := []judged{{"right", "request", good}, {"of a cloud", "request", cloud}, {"with beta features", "beta request", good}}
	right := len(cases)
	for what, edit := range map[string][2]string{
		"an unknown member":             {`"max_tokens":9`, `"max_tokens":9,"max_completion_tokens":9`},
		"an unknown member in a block":  {`"text":"a"`, `"text":"a","cache":true`},
		"an unknown member in a result": {`"tool_use_id":"t"`, `"tool_use_id":"t","name":"f"`},
		"an unknown member of a tool":   {`"name":"f","input_schema"`, `"name":"f","parameters":{},"input_schema"`},
		"an unknown member of thinking": {`"budget_tokens":1024`, `"budget_tokens":1024,"effort":"low"`},
		"no budget of thinking":         {`,"budget_tokens":1024`, ``},
		"an unknown time of a cache":    {`"1h"`, `"2h"`},
		"a role of OpenAI":              {`"role":"assistant"`, `"role":"developer"`},
		"arguments as a text":           {`"input":{"a":1}`, `"input":"{}"`},
		"a call without an id":          {`"id":"t",`, ``},
		"a limit as a text":             {`"max_tokens":9`, `"max_tokens":"9"`},
		"no limit":                      {`"max_tokens":9,`, ``},
		"a temperature of OpenAI":       {`"temperature":0.5`, `"temperature":1.5`},
		"a choice of OpenAI":            {`"tool_choice":{"type":"auto"}`, `"tool_choice":"auto"`},
		"a schema of another type":      {`"input_schema":{"type":"object","additionalProperties":false}`, `"input_schema":[]`},
	} {
		if !strings.Contains(good, edit[0]) {
			t.Fatalf("%s: nothing to replace", what)
		}
		cases = append(cases, judged{what, "request", strings.Replace(good, edit[0], edit[1], 1)}, judged{what + ", beta", "beta request", strings.Replace(good, edit[0], edit[1], 1)})
	}
	for i, problems := range judgetest.Problems(t, cases) {
		if rejected := len(problems) > 0; rejected != (i >= right) {
			t.Errorf("%s: %v", cases[i].Name, problems)
		}
	}
}

// requestsOf returns the case of a request as a golden file has it; none if it is of another language.
func requestsOf(name, sent string) []judged {
	head, body, _ := strings.Cut(sent, "\n\n")
	line, _, _ := strings.Cut(head, "\n")
	if !sentToClaude.MatchString(line) {
		return nil
	}
	kind := "request"
	if strings.Contains(line, "count") {
		kind = "count"
	}
	if strings.Contains(head, "\nanthropic-beta: ") || strings.Contains(body, `"anthropic_beta"`) {
		kind = "beta " + kind
	}
	return []judged{{name, kind, body}}
}
