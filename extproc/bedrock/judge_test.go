package bedrock_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	aws "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/go-json-experiment/json"
	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/judgetest"
)

// judged is a case for AWS's SDK; testdata/judge.py says which kinds there are.
type judged struct{ Name, Kind, Value string }

// TestTheSDKUnderstands has AWS's SDK judge every request of the golden files and many random ones, and what the
// golden files take for responses and streams of Bedrock.
func TestTheSDKUnderstands(t *testing.T) {
	t.Parallel()
	var cases []judged
	for _, folder := range []string{"", "messages/", "completions/"} {
		files, err := filepath.Glob("../provider/testdata/" + folder + "bedrock/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatalf("no golden files: %v", err)
		}
		for _, file := range files {
			cases = append(cases, goldenCases(t, file)...)
		}
	}
	for seed := range 300 {
		cases = append(cases, randomCase(t, seed)...)
	}
	cases = append(cases, rankingCase(t), countCase(t))
	kinds := map[string]int{}
	for i, problems := range judgetest.Problems(t, cases) {
		kinds[cases[i].Kind]++
		if len(problems) > 0 {
			t.Errorf("%s: %v: %s", cases[i].Name, problems, cases[i].Value)
		}
	}
	for kind, least := range map[string]int{"Converse request": 250, "Converse response": 40, "ConverseStream stream": 20, "InvokeModelWithResponseStream stream": 4, "CountTokens request": 1} {
		if kinds[kind] < least {
			t.Errorf("the judge saw %d cases of %s, want %d", kinds[kind], kind, least)
		}
	}
}

// wrongOnPurpose reports whether a golden file's response is none of Bedrock's.
func wrongOnPurpose(name string) bool {
	return slices.ContainsFunc([]string{"answer_", "usage_", "stream_garbage", "stream_unknown_events"}, func(p string) bool { return strings.HasPrefix(name, p) })
}

// goldenCases returns the cases of a golden file.
func goldenCases(t *testing.T, file string) []judged {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name, operation := filepath.Base(file), "Converse"
	var out []judged
	for _, f := range archive.Files {
		head, body, _ := strings.Cut(string(f.Data), "\n\n")
		switch {
		case f.Name == "upstream.http" && strings.Contains(head, "/converse"):
			out = append(out, judged{file + " request", "Converse request", body})
		case f.Name == "upstream.http" && strings.Contains(head, "/invoke"):
			operation = "InvokeModel" // the body is the model's own
		case f.Name != "reply.http" || wrongOnPurpose(name) || !strings.HasPrefix(head, "200\n"):
		case strings.Contains(head, aws2Media):
			kind := map[string]string{"Converse": "ConverseStream stream", "InvokeModel": "InvokeModelWithResponseStream stream"}[operation]
			out = append(out, judged{file + " stream", kind, base64.StdEncoding.EncodeToString(framesOf(t, operation, body))})
		case strings.Contains(body, `"stopReason"`):
			out = append(out, judged{file + " response", "Converse response", body})
		}
	}
	return out
}

// aws2Media is the content type of AWS's streams.
const aws2Media = "application/vnd.amazon.eventstream"

// framesOf writes the events of a golden file as AWS's own encoder does for an operation.
func framesOf(t *testing.T, operation, events string) []byte {
	t.Helper()
	var b bytes.Buffer
	for block := range strings.SplitSeq(strings.TrimSpace(events), "\n\n") {
		name, data, _ := strings.Cut(strings.TrimPrefix(block, "event: "), "\ndata: ")
		kind := "event"
		if strings.HasSuffix(name, "Exception") {
			kind = "exception"
		} else if operation == "InvokeModel" {
			name, data = "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(data))+`"}`
		}
		m := aws.Message{Payload: []byte(data)}
		m.Headers.Set(":message-type", aws.StringValue(kind))
		m.Headers.Set(":"+kind+"-type", aws.StringValue(name))
		m.Headers.Set(":content-type", aws.StringValue("application/json"))
		if err := aws.NewEncoder().Encode(&b, m); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// rankingCase returns the case of a ranking.
func rankingCase(t *testing.T) judged {
	t.Helper()
	out, err := bedrock.Driver{}.Rewrite(original(t, driver.Rerank, `{"model":"a","query":"q","documents":["x",{"title":"z"}],"top_n":2,"max_tokens_per_doc":9}`), target("amazon.rerank-v1:0"))
	if err != nil {
		t.Fatal(err)
	}
	return judged{"a ranking", "Rerank request", string(out.Body)}
}

// countCase returns the case of a count of a chat's tokens.
func countCase(t *testing.T) judged {
	t.Helper()
	out, err := bedrock.Driver{}.Rewrite(original(t, driver.CountTokens, `{"model":"a","messages":[{"role":"user","content":"x"}]}`), target("anthropic.claude-sonnet-4-20250514-v1:0"))
	if err != nil {
		t.Fatal(err)
	}
	return judged{"a count", "CountTokens request", string(out.Body)}
}

// The judge rejects what is almost right.
func TestTheJudgeIsStrict(t *testing.T) {
	t.Parallel()
	const (
		good = `{"messages":[{"role":"user","content":[{"text":"a"},{"image":{"format":"png","source":{"bytes":"AAAA"}}}]}],"inferenceConfig":{"maxTokens":5,"temperature":0.5},` +
			`"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}],"toolChoice":{"any":{}}}}`
		reply = `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"metrics":{"latencyMs":1}}`
	)
	swap := func(text, from, to string) string { return strings.Replace(text, from, to, 1) }
	stream := func(name, data string) string {
		return base64.StdEncoding.EncodeToString(framesOf(t, "Converse", "event: "+name+"\ndata: "+data))
	}
	right := signatureCase("right", signed(t, target(sonnet), good), target(sonnet), sonnet)
	cases := []judged{
		{"right", "Converse request", good},
		{"a right response", "Converse response", reply},
		{"a right stream", "ConverseStream stream", stream("messageStop", `{"stopReason":"end_turn"}`)},
		right,
		{"an unknown member", "Converse request", swap(good, `"messages"`, `"model":"m","messages"`)},
		{"an unknown role", "Converse request", swap(good, `"role":"user"`, `"role":"tool"`)},
		{"two members of a union", "Converse request", swap(good, `{"text":"a"}`, `{"text":"a","cachePoint":{"type":"default"}}`)},
		{"an unknown block", "Converse request", swap(good, `{"text":"a"}`, `{"type":"text"}`)},
		{"a name that is too long", "Converse request", swap(good, `"name":"f"`, `"name":"`+strings.Repeat("f", 65)+`"`)},
		{"a name with a dot", "Converse request", swap(good, `"name":"f"`, `"name":"f.g"`)},
		{"a picture that is not base64", "Converse request", swap(good, `AAAA`, `https://x.test`)},
		{"a picture of an unknown format", "Converse request", swap(good, `png`, `bmp`)},
		{"a temperature above 1", "Converse request", swap(good, `0.5`, `1.5`)},
		{"a limit of 0", "Converse request", swap(good, `"maxTokens":5`, `"maxTokens":0`)},
		{"no tools", "Converse request", swap(good, `{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}`, ``)},
		{"a choice as a text", "Converse request", swap(good, `{"any":{}}`, `"any"`)},
		{"an unknown reason", "Converse response", swap(reply, `end_turn`, `stop`)},
		{"an unknown event", "ConverseStream stream", stream("messageEnd", `{}`)},
		{"an event without its member", "ConverseStream stream", stream("messageStop", `{}`)},
		{"half a frame", "ConverseStream stream", stream("messageStop", `{"stopReason":"end_turn"}`)[:40]},
		{"another body", "signature", swap(right.Value, `"body":"`, `"body":"eA==`)},
		{"another token", "signature", swap(right.Value, `"token":"s`, `"token":"t`)},
		{"a path that is escaped twice", "signature", swap(right.Value, `%3A`, `%253A`)},
		{"a path that is not escaped", "signature", swap(right.Value, `%3A`, `:`)},
		{"six minutes later", "signature", swap(right.Value, `"at":"20261124T120000Z"`, `"at":"20261124T120600Z"`)},
	}
	for i, problems := range judgetest.Problems(t, cases) {
		if rejected := len(problems) > 0; rejected != (i > 3) {
			t.Errorf("%s: %v", cases[i].Name, problems)
		}
	}
}

const sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

// signatureCase returns the case of a signed call.
func signatureCase(name string, c driver.Call, t driver.Target, model string) judged {
	headers := map[string]string{"host": host}
	for _, h := range c.Headers {
		headers[h.Name] = h.Value.Reveal()
	}
	path, query, _ := strings.Cut(c.Path, "?")
	value, err := json.Marshal(map[string]any{
		"method": "POST", "host": host, "path": path, "query": query, "headers": headers, "body": base64.StdEncoding.EncodeToString(c.Body), "region": "us-east-1",
		"key": t.Token.AccessKeyID, "secret": t.Token.SecretKey.Reveal(), "token": t.Token.SessionToken.Reveal(), "at": at().Format("20060102T150405Z"), "model": model,
	}, json.Deterministic(true))
	if err != nil {
		return judged{Name: name, Value: err.Error()}
	}
	return judged{name, "signature", string(value)}
}

// signer is a driver that signs.
type signer interface {
	driver.Driver
	driver.Signer
}

// TestTheSDKComputesTheSameSignature has AWS's SDK sign what was signed: with colons and slashes in the model, with and without a
// session token, whole and streamed.
func TestTheSDKComputesTheSameSignature(t *testing.T) {
	t.Parallel()
	var cases []judged
	sign := func(name string, d signer, service, where string, to driver.Target, op driver.Operation) {
		c, err := d.Address(to, op)
		if err != nil {
			t.Fatal(err)
		}
		c.Body = []byte(`{"messages":[{"role":"user","content":[{"text":"ü"}]}]}`)
		if err := d.Sign(&c, to, where, at()); err != nil {
			t.Fatal(err)
		}
		one := signatureCase(name, c, to, to.Model)
		one.Value = strings.NewReplacer(`"region":`, `"service":"`+service+`","region":`, host, where).Replace(one.Value)
		cases = append(cases, one)
	}
	for _, model := range []string{sonnet, profile, "amazon.nova-pro-v1:0", "global.anthropic.claude-opus-4-6-v1", "anthropic.claude-v2"} {
		for _, token := range []string{"", "session/token=="} {
			for _, stream := range []bool{false, true} {
				to := target(model)
				to.Token.SessionToken = vault.NewSecret(token)
				sign(fmt.Sprint(model, " ", token, " ", stream), bedrock.Driver{}, "bedrock", host, to, driver.Operation{Endpoint: driver.Chat, Stream: stream})
			}
		}
	}
	for _, model := range []string{"openai.gpt-oss-120b", "openai.gpt-5.6-sol", "anthropic.claude-haiku-4-5"} {
		sign("Mantle "+model, bedrock.Mantle{}, "bedrock-mantle", "bedrock-mantle.us-east-1.api.aws", target(model), driver.Operation{Endpoint: driver.Messages})
	}
	for _, e := range []driver.Endpoint{driver.Chat, driver.Responses} {
		sign("OpenAI's "+string(e), bedrock.Driver{}, "bedrock", host, target("openai.gpt-5.6-sol"), driver.Operation{Endpoint: e})
	}
	for i, problems := range judgetest.Problems(t, cases) {
		if len(problems) > 0 {
			t.Errorf("%s: %v", cases[i].Name, problems)
		}
	}
}
