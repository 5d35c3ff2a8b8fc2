package converse_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/converse"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// A scan finds the messages, the limit and whether there are tools; model and stream are those of the path.
func TestScan(t *testing.T) {
	t.Parallel()
	r := splice.Request{PathModel: "m", Streams: true}
	body := []byte(`{"system":[{"text":"a"}],"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"text":"b"}]}],"max_tokens":7,"stream":false,` +
		`"inferenceConfig":{"maxTokens":50},"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}]}}`)
	if err := converse.Scan(body, &r); err != nil || r.Model != "m" || !r.Stream || !r.OwnModel || !r.IncludeUsage || r.MessageCount != 2 || r.MaxTokens != 50 || !r.Tools {
		t.Errorf("%+v, %v", r, err)
	}
	r = splice.Request{PathModel: "m"}
	if err := converse.ScanCount([]byte(`{"input":{"converse":{"messages":[{"role":"user","content":[{"text":"a"}]}]}}}`), &r); err != nil || r.MessageCount != 1 || r.Stream {
		t.Errorf("%+v, %v", r, err)
	}
}

// What two readers could read differently, and what names objects of the provider's account, is rejected with its field.
func TestScanRejects(t *testing.T) {
	t.Parallel()
	const picture = `{"image":{"format":"png","source":{"s3Location":{"uri":"s3://b/a.png"}}}}`
	for _, c := range [][2]string{
		{`{"messages":"x"}`, "messages"},
		{`{"system":[]}`, "messages"},
		{`{"messages":[{}],"messages":[{}]}`, "messages"},
		{`{"messages":[{}],"inferenceConfig":{"maxTokens":0}}`, "inferenceConfig.maxTokens"},
		{`{"messages":[{}],"inferenceConfig":{"maxTokens":"9"}}`, "inferenceConfig.maxTokens"},
		{`{"messages":[{}],"inferenceConfig":{"maxTokens":1,"maxTokens":9}}`, "inferenceConfig.maxTokens"},
		{`{"messages":[{}],"inferenceconfig":{}}`, "inferenceConfig"},
		{`{"messages":[{}],"toolConfig":{"tools":[],"tools":[]}}`, "toolConfig.tools"},
		{`{"messages":[{"content":[{"text":"a"},` + picture + `]}]}`, "messages[0].content[1].image.source.s3Location"},
		{`{"messages":[{},{"content":[{"toolResult":{"content":[` + picture + `]}}]}]}`, "messages[1].content[0].toolResult.content[0].image.source.s3Location"},
		{`{"messages":[{"content":[{"video":{"source":{"s3Location":{}}}}]}]}`, "messages[0].content[0].video.source.s3Location"},
	} {
		var r splice.Request
		r.PathModel = "m"
		rejected(t, converse.Scan([]byte(c[0]), &r), c[0], c[1])
	}
	for _, c := range [][2]string{
		{`{}`, "input"},
		{`{"input":[]}`, "input"},
		{`{"input":{}}`, "input"},
		{`{"input":{"converse":{}}}`, "input.converse.messages"},
		{`{"input":{"converse":null}}`, "input"},
		{`{"input":{},"input":{}}`, "input"},
		{`{"input":{"converse":{"messages":[{"content":[` + picture + `]}]}}}`, "input.converse.messages[0].content[0].image.source.s3Location"},
	} {
		var r splice.Request
		r.PathModel = "m"
		rejected(t, converse.ScanCount([]byte(c[0]), &r), c[0], c[1])
	}
}

// rejected requires an error about a field.
func rejected(t *testing.T, err error, body, field string) {
	t.Helper()
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind != fault.Malformed || e.Param != field {
		t.Errorf("%s: %v, want the field %s", body, err, field)
	}
}

// A response and its events have the usage, the reason for the end and the text. Bedrock's input excludes what the cache read and wrote.
func TestFacts(t *testing.T) {
	t.Parallel()
	want := usage.Tokens{Input: 1310, CacheRead: 1000, CacheWrite: 100, CacheWrite1h: 200, Output: 4}
	const report = `"usage":{"inputTokens":10,"outputTokens":4,"totalTokens":1314,"cacheReadInputTokens":1000,"cacheWriteInputTokens":300,"cacheDetails":[{"ttl":"1h","inputTokens":200},{"ttl":"5m","inputTokens":100}]}`
	f := splice.ReplyFacts{Collect: true}
	body := []byte(`{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"a","signature":"s"}}},{"text":"b"},{"citationsContent":{"content":[{"text":"c"}],"citations":[{"title":"no"}]}},` +
		`{"toolUse":{"toolUseId":"t","name":"f","input":{"x":1}}}]}},"stopReason":"tool_use",` + report + `,"metrics":{"latencyMs":1},"serviceTier":{"type":"flex"}}`)
	if err := converse.Reply(body, &f); err != nil || f.Tokens != want || !f.HasUsage || f.FinishReason != "tool_calls" || string(f.Text) != `abcf{"x":1}` || string(f.ServiceTier.Of(body)) != `"flex"` || f.HasError() {
		t.Errorf("%+v, %v", f, err)
	}
	var c splice.ChunkFacts
	for data, check := range map[string]func() bool{
		`{"contentBlockIndex":0,"delta":{"text":"a"},"p":"x"}`:                                                                 func() bool { return string(c.Text) == "a" && c.HasContent && !c.Done },
		`{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"a"}}}`:                                                    func() bool { return string(c.Text) == "a" && c.HasContent },
		`{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}`:                                             func() bool { return string(c.Text) == "f" && c.HasContent },
		`{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{"}}}`:                                                            func() bool { return string(c.Text) == "{" },
		`{"stopReason":"max_tokens"}`:                                                                                          func() bool { return c.FinishReason == "length" && !c.Done },
		`{` + report + `,"metrics":{"latencyMs":1}}`:                                                                           func() bool { return c.Done && c.HasUsage && c.Tokens == want },
		`{"usage":{"inputTokens":-1,"outputTokens":4},"metrics":{"latencyMs":1}}`:                                              func() bool { return c.Done && c.BadUsage && !c.HasUsage },
		`{"usage":{"inputTokens":1,"outputTokens":4,"cacheWriteInputTokens":1,"cacheDetails":[{"ttl":"1h","inputTokens":2}]}}`: func() bool { return c.BadUsage },
		`{"role":"assistant"}`: func() bool { return !c.HasContent && !c.Done && c.FinishReason == "" },
	} {
		c = splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: true}}
		if err := converse.Event([]byte(data), &c); err != nil || !check() {
			t.Errorf("%s: %+v, %v", data, c, err)
		}
	}
	f = splice.ReplyFacts{}
	if err := converse.Reply([]byte(`{"__type":"ThrottlingException","message":"Slow down"}`), &f); err != nil || !f.HasError() {
		t.Errorf("%+v, %v", f, err)
	}
}

// Reasoning of Anthropic's reaches a Claude at Bedrock without its mark; no other model gets it, and none gets another provider's.
func TestEdits(t *testing.T) {
	t.Parallel()
	const body = `{"messages":[{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"t","signature":"mgw1:anthropic:c2ln"}}},` +
		`{"reasoningContent":{"redactedContent":"bWd3MTpnZW1pbmk6YTpi"}},{"reasoningContent":{"reasoningText":{"text":"own","signature":"b3du"}}},{"text":"a"}]}]}`
	for model, want := range map[string]string{
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": `{"messages":[{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"t","signature":"c2ln"}}},{"reasoningContent":{"reasoningText":{"text":"own","signature":"b3du"}}},{"text":"a"}]}]}`,
		"amazon.nova-pro-v1:0":                         `{"messages":[{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"own","signature":"b3du"}}},{"text":"a"}]}]}`,
	} {
		if out := string(splice.Apply(nil, []byte(body), converse.Edits(nil, []byte(body), model))); out != want {
			t.Errorf("%s: %s", model, out)
		}
		count := `{"input":{"converse":` + body + `}}`
		if out := string(splice.Apply(nil, []byte(count), converse.CountEdits(nil, []byte(count), model))); out != `{"input":{"converse":`+want+`}}` {
			t.Errorf("%s: %s", model, out)
		}
	}
}

// FuzzDecode: no body makes the decoder panic, its errors are the caller's and name no text, and what the scan accepts and the decoder reads
// has as many messages for both.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("../provider/testdata/converse/*/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no golden files")
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, one := range archive.Files {
			if one.Name == "ask.json" {
				f.Add(one.Data)
				f.Add([]byte(`{"input":{"converse":` + string(one.Data) + `}}`))
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := splice.Request{PathModel: "m"}
		scanned := converse.Scan(body, &r)
		ask, err := converse.Dialect{}.DecodeRequest(body)
		if e, ok := errors.AsType[*fault.Error](err); err != nil && (!ok || e.Kind == fault.Internal || strings.Contains(e.Detail, "\n")) {
			t.Fatalf("%v", err)
		}
		if scanned == nil && err == nil {
			system := 0
			if len(ask.Messages) > r.MessageCount {
				system = 1
			}
			if len(ask.Messages) != r.MessageCount+system {
				t.Fatalf("%d messages were scanned, and %d decoded", r.MessageCount, len(ask.Messages))
			}
			edits := converse.Edits(nil, body, "anthropic.claude")
			out := splice.Apply(nil, body, edits)
			if err := splice.Valid(out); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		c := splice.Request{PathModel: "m"}
		if converse.ScanCount(body, &c) == nil {
			_, _ = converse.DecodeCount(body)
		}
	})
}
