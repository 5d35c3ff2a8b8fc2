package coherecaller_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/cohere"
	"github.com/modelgateway/modelgateway/extproc/coherecaller"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// sections returns the parts of golden files with a name.
func sections(tb testing.TB, name string, patterns ...string) [][]byte {
	tb.Helper()
	var out [][]byte
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			tb.Fatalf("%s has no files: %v", pattern, err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			for _, f := range archive.Files {
				if f.Name == name {
					out = append(out, f.Data)
				}
			}
		}
	}
	return out
}

// Bad requests get an error that names the field at fault.
func TestBadRequestsNameTheField(t *testing.T) {
	t.Parallel()
	const hello = `"model":"m","messages":[{"role":"user","content":"a"}]`
	call := func(call, result string) string {
		return `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[` + call + `]},` + result + `]}`
	}
	for body, want := range map[string]string{
		`{`:  "",
		`[]`: "",
		`{"model":"m","messages":[{"role":"user","content":"a"}],"model":"n"}`: "model",
		`{"messages":[{"role":"user","content":"a"}]}`:                         "model",
		`{"model":"m"}`: "messages",
		`{"model":"m","messages":[{"content":"a"}]}`:                                                                     "messages[0].role",
		`{"model":"m","messages":[{"role":"user"}]}`:                                                                     "messages[0].content",
		`{"model":"m","messages":[{"role":"user","content":7}]}`:                                                         "messages[0].content",
		`{"model":"m","messages":[{"role":"user","content":[{"text":"a"}]}]}`:                                            "messages[0].content[0].type",
		`{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]}]}`:                                         "messages[0].content[0].text",
		`{"model":"m","messages":[{"role":"user","content":[{"type":"audio"}]}]}`:                                        "messages[0].content[0].type",
		`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]}`:                     "messages[0].content[0].image_url.url",
		`{"model":"m","messages":[{"role":"user","content":"a","tool_calls":[{"id":"1","function":{"name":"f"}}]}]}`:     "messages[0].tool_calls",
		call(`{"id":"1","function":{}}`, `{"role":"user","content":"b"}`):                                                "messages[1].tool_calls[0].function.name",
		call(`{"function":{"name":"f"}}`, `{"role":"user","content":"b"}`):                                               "messages[1].tool_calls[0].id",
		call(`{"id":"1","type":"custom","function":{"name":"f"}}`, `{"role":"user","content":"b"}`):                      "messages[1].tool_calls[0].type",
		call(`{"id":"1","function":{"name":"f"}}`, `{"role":"tool","content":"b"}`):                                      "messages[2].tool_call_id",
		call(`{"id":"1","function":{"name":"f"}}`, `{"role":"tool","tool_call_id":"2","content":"b"}`):                   "messages[2].tool_call_id",
		call(`{"id":"1","function":{"name":"f"}}`, `{"role":"tool","tool_call_id":"1","content":[{"type":"document"}]}`): "messages[2].content[0].document",
		`{` + hello + `,"documents":[7]}`:                                                                                "documents[0]",
		`{` + hello + `,"documents":[{"data":"x"}]}`:                                                                     "documents[0].data",
		`{` + hello + `,"tools":[{"function":{}}]}`:                                                                      "tools[0].function.name",
		`{` + hello + `,"tools":[{"type":"x","function":{"name":"f"}}]}`:                                                 "tools[0].type",
		`{` + hello + `,"tools":[{"function":{"name":"f","parameters":[]}}]}`:                                            "tools[0].function.parameters",
		`{` + hello + `,"tools":[{"function":{"name":"f"}},{"function":{"name":"f"}}]}`:                                  "tools[1].function.name",
		`{` + hello + `,"tool_choice":"REQUIRED"}`:                                                                       "tools",
		`{` + hello + `,"tool_choice":"auto"}`:                                                                           "tool_choice",
		`{` + hello + `,"response_format":{}}`:                                                                           "response_format.type",
		`{` + hello + `,"response_format":{"type":"json_schema"}}`:                                                       "response_format.type",
		`{` + hello + `,"response_format":{"type":"json_object","json_schema":7}}`:                                       "response_format.json_schema",
		`{` + hello + `,"thinking":{}}`:                                                                                  "thinking.type",
		`{` + hello + `,"thinking":{"type":"auto"}}`:                                                                     "thinking.type",
		`{` + hello + `,"thinking":{"type":"enabled","token_budget":0}}`:                                                 "thinking.token_budget",
		`{` + hello + `,"safety_mode":"MILD"}`:                                                                           "safety_mode",
		`{` + hello + `,"k":501}`:                                                                                        "k",
		`{` + hello + `,"p":1.5}`:                                                                                        "p",
		`{` + hello + `,"top_k":1}`:                                                                                      "top_k",
		`{` + hello + `,"service_tier":"flex"}`:                                                                          "service_tier",
		`{` + hello + `,"seed":-1}`:                                                                                      "seed",
		`{` + hello + `,"temperature":3}`:                                                                                "temperature",
		`{` + hello + `,"presence_penalty":2}`:                                                                           "presence_penalty",
		`{` + hello + `,"max_tokens":0}`:                                                                                 "max_tokens",
		`{` + hello + `,"Max_Tokens":1}`:                                                                                 "max_tokens",
	} {
		_, err := coherecaller.Dialect{}.DecodeRequest([]byte(body))
		var e *fault.Error
		if !errors.As(err, &e) || e.Param != want || e.Detail == "" || e.Kind != fault.Malformed {
			t.Errorf("%s: %+v, want the field %q", body, err, want)
		}
	}
}

// What Cohere's own models would get of a request is what the canonical form of it becomes for them, as far as both have a place for it.
func TestRequestsKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"model":"m","messages":[{"role":"user","content":"a"}],"k":0}`:                                                `"stream":false}`,
		`{"model":"m","messages":[{"role":"user","content":"a"}],"k":40,"p":0.5,"seed":7}`:                              `"p":0.5,"k":40,"seed":7`,
		`{"model":"m","messages":[{"role":"user","content":"a"}],"thinking":{"type":"disabled"}}`:                       `"thinking":{"type":"disabled"}`,
		`{"model":"m","messages":[{"role":"user","content":"a"}],"thinking":{"type":"enabled"}}`:                        `"thinking":{"type":"enabled","token_budget":2048}`,
		`{"model":"m","messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_object","schema":{}}}`: `"response_format":{"type":"json_object","json_schema":{}}`,
		`{"model":"m","messages":[{"role":"user","content":"a"}],"response_format":{"type":"text"}}`:                    `"content":[{"type":"text","text":"a"}]}],"stream"`,
		`{"model":"m","messages":[{"role":"system","content":"s"}],"documents":["d"]}`:                                  `{"role":"user","content":[{"type":"text","text":"<document>\nd\n</document>"}]}`,
		`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_plan":"p","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"c"}],"tool_calls":[{"id":"1","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"1","content":[{"type":"document","document":{"data":{"a":1}}}]}]}`: `{"role":"assistant","tool_plan":"pc","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":[{"type":"document","document":{"data":{"a":1}}}],"tool_call_id":"1"}`,
	} {
		ask, err := coherecaller.Dialect{}.DecodeRequest([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		out, err := cohere.Driver{}.Encode(ask, driver.Target{Model: "m"})
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s became %s (%v), which lacks %s", body, out, err, want)
		}
	}
}

// Bytes that pass are read as the codec reads them: failures within are errors, whatever is left out.
func TestReply(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]splice.ReplyFacts{
		`{"id":"1","finish_reason":"COMPLETE","message":{"content":[{"type":"text","text":"a"}]},"usage":{"billed_units":{"input_tokens":3,"output_tokens":2.0},"tokens":{"input_tokens":9,"output_tokens":2},"cached_tokens":1}}`: {
			HasUsage: true, HasContent: true, FinishReason: "stop", Choices: 1, Tokens: usage.Tokens{Input: 3, CacheRead: 1, Output: 2},
		},
		`{"finish_reason":"TOOL_CALL","message":{"tool_plan":"","tool_calls":[{"id":"1"}]}}`: {HasContent: true, FinishReason: "tool_calls", Choices: 1},
		`{"finish_reason":"MAX_TOKENS","message":{},"usage":{"tokens":{"input_tokens":-1}}}`: {BadUsage: true, FinishReason: "length", Choices: 1},
		`{"finish_reason":"ERROR_TOXIC","message":{},"usage":null}`:                          {FinishReason: "content_filter", Choices: 1},
	} {
		var f splice.ReplyFacts
		err := coherecaller.Reply([]byte(body), &f)
		if err != nil || f.HasUsage != want.HasUsage || f.BadUsage != want.BadUsage || f.Tokens != want.Tokens || f.FinishReason != want.FinishReason ||
			f.Choices != want.Choices || f.HasContent != want.HasContent || f.HasError() {
			t.Errorf("%s: %+v, %v", body, f, err)
		}
	}
	for _, body := range []string{`{"message":"no"}`, `{"finish_reason":"ERROR","message":{}}`, `{"finish_reason":"TIMEOUT","message":{}}`} {
		var f splice.ReplyFacts
		if err := coherecaller.Reply([]byte(body), &f); err != nil || !f.HasError() {
			t.Errorf("%s is no error: %v", body, err)
		}
	}
	for data, want := range map[string]bool{
		`{"message":"no"}`: true, `{"type":"message-end","delta":{"finish_reason":"ERROR"}}`: true, `{"type":"message-end","delta":{"error":"no","finish_reason":"COMPLETE"}}`: true,
		`{"type":"message-end","delta":{"finish_reason":"COMPLETE"}}`: false, `{"type":"content-delta","message":"a"}`: false,
	} {
		var f splice.ChunkFacts
		if err := coherecaller.Event([]byte(data), &f); err != nil || f.HasError() != want || f.Done && want {
			t.Errorf("%s: %+v, %v", data, f, err)
		}
	}
}

// A chunk of more text is written in place.
func TestTextIsWrittenInPlace(t *testing.T) {
	e := coherecaller.Dialect{}.Stream(dialect.Meta{ID: "1", Model: "m"})
	dst := e.Chunk(make([]byte, 0, 1<<20), &wire.Chunk{Text: "a"})
	c := &wire.Chunk{Text: "more of the text"}
	if n := testing.AllocsPerRun(100, func() { dst = e.Chunk(dst[:0], c) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzDecode: a request is rejected with a reason that names no text of it, or has a canonical form that Cohere's codec writes.
func FuzzDecode(f *testing.F) {
	for _, body := range sections(f, "ask.json", "../provider/testdata/turns/*/*.txtar") {
		f.Add(body)
	}
	for _, body := range sections(f, "request.json", "../texts/testdata/turns/*.txtar") {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		ask, err := coherecaller.Dialect{}.DecodeRequest(body)
		if err != nil {
			if e := (*fault.Error)(nil); !errors.As(err, &e) || e.Detail == "" {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		if !jsontext.Value(body).IsValid(jsontext.AllowInvalidUTF8(true)) || ask.Model == "" || len(ask.Messages) == 0 {
			t.Fatalf("%q is accepted as %+v", body, ask)
		}
		out, err := cohere.Driver{}.Encode(ask, driver.Target{Model: "m", DropParams: true})
		if err == nil && !jsontext.Value(out).IsValid() {
			t.Fatalf("%q became %q", body, out)
		}
	})
}

// FuzzReaders: a reader accepts JSON objects alone, and finds no usage that cannot be.
func FuzzReaders(f *testing.F) {
	for _, section := range append(sections(f, "reply.http", "../provider/testdata/cohere/*.txtar"), sections(f, "answer.http", "../provider/testdata/turns/*/*.txtar")...) {
		_, body, _ := bytes.Cut(section, []byte("\n\n"))
		f.Add(body)
		for line := range bytes.Lines(body) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				f.Add(bytes.TrimSpace(data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, read := range map[string]func([]byte, *splice.ChunkFacts) error{
			"Reply": func(data []byte, f *splice.ChunkFacts) error { return coherecaller.Reply(data, &f.ReplyFacts) }, "Event": coherecaller.Event,
		} {
			c := splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: true}}
			if read(body, &c) != nil || splice.IsDone(body) {
				continue
			}
			if v := jsontext.Value(body); !v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) || v.Kind() != '{' {
				t.Fatalf("%s: accepts %q", name, body)
			}
			if c.HasUsage && (c.BadUsage || !c.Tokens.Sane()) {
				t.Fatalf("%s: %+v of %q", name, c, body)
			}
		}
	})
}

// Whatever steps come in whatever order, the stream is one that Cohere's codec reads to its end, and nothing of it is lost.
func TestStreamsOfAnySteps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := coherecaller.Dialect{}.Stream(dialect.Meta{ID: "1", Model: "m"})
		var stream []byte
		want, args := map[string]string{}, map[int]string{}
		for i := range rapid.IntRange(0, 12).Draw(t, "steps") {
			c := wire.Chunk{}
			switch text := rapid.StringN(1, 5, -1).Draw(t, "text"); rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				c.Text = text
				want["text"] += text
			case 1:
				c.Thinking = text
				want["thinking"] += text
			case 2:
				c.Tool = &wire.ToolDelta{Index: i, ID: "call", Name: "f", Arguments: `{"a":`}
				args[i] = `{"a":`
			default:
				for index, have := range args {
					if strings.HasSuffix(have, ":") && rapid.Bool().Draw(t, "ends") {
						c.Tool = &wire.ToolDelta{Index: index, Arguments: "1}"}
						args[index] = have + "1}"
						break
					}
				}
			}
			stream = e.Chunk(stream, &c)
		}
		stream = e.End(e.Chunk(stream, &wire.Chunk{Finish: wire.FinishStop}), &wire.Usage{})
		got, calls := map[string]string{}, map[int]string{}
		in := cohere.Driver{}.Stream()
		var split splice.Splitter
		split.Push(stream)
		var one splice.Event
		for split.Next(&one) {
			chunks, err := in.Event(nil, "", one.Data)
			if err != nil {
				t.Fatalf("%v: %s", err, stream)
			}
			for _, c := range chunks {
				got["text"] += c.Text
				got["thinking"] += c.Thinking
				if c.Tool != nil {
					calls[c.Tool.Index] += c.Tool.Arguments
				}
			}
		}
		count := map[string]int{}
		for _, text := range args {
			count[text]++
		}
		for _, text := range calls {
			count[text]--
		}
		for text, n := range count {
			if n != 0 {
				t.Fatalf("arguments %q: %d of %v in %v", text, n, args, calls)
			}
		}
		if got["text"] != want["text"] || got["thinking"] != want["thinking"] || !in.Complete() {
			t.Fatalf("%v became %v: %s", want, got, stream)
		}
	})
}
