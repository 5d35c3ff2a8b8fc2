package contents_test

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
	"github.com/modelgateway/modelgateway/extproc/contents"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

const turn = `"contents":[{"role":"user","parts":[{"text":"a"}]}]`

// scanned returns what a scan finds in a body.
func scanned(scan func([]byte, *splice.Request) error, body string) (*splice.Request, error) {
	r := &splice.Request{PathModel: "m", Streams: true}
	return r, scan([]byte(body), r)
}

func TestScan(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]splice.Request{
		`{` + turn + `}`: {MessageCount: 1, N: 1},
		`{` + turn + `,"generationConfig":{"maxOutputTokens":9,"candidateCount":2}}`:     {MessageCount: 1, MaxTokens: 9, N: 2},
		`{` + turn + `,"generation_config":{"max_output_tokens":9,"candidate_count":2}}`: {MessageCount: 1, MaxTokens: 9, N: 2},
		`{` + turn + `,"generationConfig":null,"cachedContent":"","model":"other"}`:      {MessageCount: 1, N: 1},
		`{"contents":[{},{}]}`: {MessageCount: 2, N: 1},
		`{` + turn + `,"tools":[{"googleSearch":{}},{"fileSearch":null}]}`:                                                            {MessageCount: 1, N: 1},
		`{"contents":[{"parts":[{"fileData":{"fileUri":"https://a.example/b.pdf"}},{"fileData":{"fileUri":"https://youtu.be/x"}}]}]}`: {MessageCount: 1, N: 1},
	} {
		r, err := scanned(contents.Scan, body)
		if err != nil || r.MessageCount != want.MessageCount || r.MaxTokens != want.MaxTokens || r.N != want.N {
			t.Errorf("%s: %d contents, %d tokens, %d choices, %v", body, r.MessageCount, r.MaxTokens, r.N, err)
		}
		if r.Model != "m" || !r.Stream || !r.OwnModel {
			t.Errorf("%s: the model is %q, streamed is %v", body, r.Model, r.Stream)
		}
	}
}

// Each error names its field.
func TestScanRejects(t *testing.T) {
	t.Parallel()
	stored := `"https://generativelanguage.googleapis.com/v1beta/files/abc"`
	for body, param := range map[string]string{
		`{}`: "contents", `{"contents":[]}`: "contents", `{"contents":{}}`: "contents", `{"contents":"a"}`: "contents",
		`{` + turn + `,"con\u0074ents":[]}`:                                                                  "contents",
		`{` + turn + `,"Contents":[]}`:                                                                       "contents",
		`{` + turn + `,"generationConfig":{},"generation_config":{}}`:                                        "generationConfig",
		`{` + turn + `,"generationConfig":[]}`:                                                               "generationConfig",
		`{` + turn + `,"generationConfig":{"maxOutputTokens":"9"}}`:                                          "generationConfig.maxOutputTokens",
		`{` + turn + `,"generationConfig":{"maxOutputTokens":0}}`:                                            "generationConfig.maxOutputTokens",
		`{` + turn + `,"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9}}`:                      "generationConfig.maxOutputTokens",
		`{` + turn + `,"generationConfig":{"MaxOutputTokens":1}}`:                                            "generationConfig.maxOutputTokens",
		`{` + turn + `,"generationConfig":{"candidateCount":129}}`:                                           "generationConfig.candidateCount",
		`{` + turn + `,"cachedContent":"cachedContents/a"}`:                                                  "cachedContent",
		`{` + turn + `,"cached_content":"cachedContents/a"}`:                                                 "cachedContent",
		`{"contents":[{"parts":[{"text":"a"},{"fileData":{"fileUri":` + stored + `}}]}]}`:                    "contents[0].parts[1].fileData.fileUri",
		`{"contents":[{"parts":[{"file_data":{"file_uri":` + stored + `}}]}]}`:                               "contents[0].parts[0].fileData.fileUri",
		`{"contents":[{"parts":[{"file\u0044ata":{"fileUri":"gs://bucket/a"}}]}]}`:                           "contents[0].parts[0].fileData.fileUri",
		`{"contents":[{"parts":[{"fileData":{"fileUri":"files/abc"}}]}]}`:                                    "contents[0].parts[0].fileData.fileUri",
		`{"contents":[{},{"parts":[{"functionResponse":{"parts":[{"fileData":{"fileUri":"GS://a/b"}}]}}]}]}`: "contents[1].parts[0].functionResponse.parts[0].fileData.fileUri",
		`{"systemInstruction":{"parts":[{"fileData":{"fileUri":"gs://a/b"}}]},` + turn + `}`:                 "systemInstruction.parts[0].fileData.fileUri",
		`{` + turn + `,"tools":[{},{"fileSearch":{"fileSearchStoreNames":["a"]}}]}`:                          "tools[1].fileSearch",
		`{` + turn + `,"tools":[{"retrieval":{"vertexRagStore":{}}}]}`:                                       "tools[0].retrieval",
	} {
		_, err := scanned(contents.Scan, body)
		if e := (*fault.Error)(nil); !errors.As(err, &e) || e.Kind != fault.Malformed || e.Param != param || e.Detail == "" {
			t.Errorf("%s: %v, want an error of %s", body, err, param)
		}
	}
}

func TestScanCount(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{` + turn + `}`, `{"generateContentRequest":{"model":"models/m",` + turn + `}}`, `{"generate_content_request":{` + turn + `}}`} {
		if r, err := scanned(contents.ScanCount, body); err != nil || r.MessageCount != 1 {
			t.Errorf("%s: %d contents, %v", body, r.MessageCount, err)
		}
	}
	for body, param := range map[string]string{
		`{}`: "contents", `{"generateContentRequest":{}}`: "contents", `{"generateContentRequest":null}`: "contents",
		`{` + turn + `,"generateContentRequest":{` + turn + `}}`:                                    "generateContentRequest",
		`{"generateContentRequest":{` + turn + `,"cachedContent":"a"}}`:                             "generateContentRequest.cachedContent",
		`{"generateContentRequest":{` + turn + `},"generate_content_request":{}}`:                   "generateContentRequest",
		`{"generateContentRequest":{` + turn + `,"generationConfig":1}}`:                            "generateContentRequest.generationConfig",
		`{"generateContentRequest":{"contents":[{"parts":[{"fileData":{"fileUri":"gs://a/b"}}]}]}}`: "generateContentRequest.contents[0].parts[0].fileData.fileUri",
	} {
		_, err := scanned(contents.ScanCount, body)
		if e := (*fault.Error)(nil); !errors.As(err, &e) || e.Param != param {
			t.Errorf("%s: %v, want an error of %s", body, err, param)
		}
	}
}

// IsStored knows what is in an account.
func TestIsStored(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"": false, "https://a.example/b": false, "https://www.youtube.com/watch?v=1": false, "data:image/png;base64,AA==": false,
		"https://generativelanguage.googleapis.com/v1beta/files/a": true, "HTTPS://GenerativeLanguage.GoogleAPIs.com./v1/files/a": true,
		"https://eu.generativelanguage.googleapis.com/files/a": true, "gs://b/c": true, "GS://b/c": true, "files/a": true, "//": true, "https://a%zz/": true,
		"https://generativelanguage.googleapis.com.a.example/files/a": false,
	} {
		if got := contents.IsStored(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

func TestReply(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]splice.ReplyFacts{
		`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":4,"totalTokenCount":9}}`: {
			HasUsage: true, HasContent: true, FinishReason: "stop", Choices: 1, Tokens: usage.Tokens{Input: 3, Output: 6, Reasoning: 4},
		},
		`{"candidates":[{"finishReason":"SAFETY"},{"finishReason":"SAFETY"}],"usageMetadata":{"promptTokenCount":3}}`: {
			HasUsage: true, FinishReason: "content_filter", Choices: 2, Tokens: usage.Tokens{Input: 3},
		},
		`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":3,"toolUsePromptTokenCount":4,"cachedContentTokenCount":2}}`: {
			HasUsage: true, FinishReason: "content_filter", Tokens: usage.Tokens{Input: 7, CacheRead: 2},
		},
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},"finishReason":"STOP"}]}`:                             {HasContent: true, FinishReason: "tool_calls", Choices: 1},
		`{"candidates":[{"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":-1,"candidatesTokenCount":2}}`:                         {BadUsage: true, FinishReason: "length", Choices: 1},
		`{"candidates":[{}],"usageMetadata":{"promptTokenCount":"3"}}`:                                                                            {BadUsage: true, Choices: 1},
		`{"candidates":[{}],"usageMetadata":null}`:                                                                                                {Choices: 1},
		`{"usageMetadata":{"promptTokenCount":5,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":2},{"modality":"TEXT","tokenCount":3}]}}`: {HasUsage: true, Tokens: usage.Tokens{Input: 5, InputAudio: 2}},
	} {
		var f splice.ReplyFacts
		err := contents.Reply([]byte(body), &f)
		if err != nil || f.HasUsage != want.HasUsage || f.BadUsage != want.BadUsage || f.Tokens != want.Tokens || f.FinishReason != want.FinishReason ||
			f.Choices != want.Choices || f.HasContent != want.HasContent {
			t.Errorf("%s: %+v, %v", body, f, err)
		}
	}
}

// The events of a stream are the elements of an array, wherever the stream is cut.
func TestArrayIsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var stream, want []string
		for range rapid.IntRange(0, 5).Draw(t, "events") {
			one := `{"text":` + string(splice.Quote(nil, rapid.String().Draw(t, "text"))) + `}`
			stream, want = append(stream, rapid.SampledFrom([]string{"", ": a comment\n\n"}).Draw(t, "comment")+"data: "+one+"\n\n"), append(want, one)
		}
		var a contents.Array
		var out []byte
		last := 0
		for i := range stream {
			if rapid.Bool().Draw(t, "goes") {
				out = append(out, a.Add([]byte(strings.Join(stream[last:i], "")))...)
				last = i
			}
		}
		out = append(out, a.End([]byte(strings.Join(stream[last:], "")))...)
		if !jsontext.Value(out).IsValid() {
			t.Fatalf("%s", out)
		}
		n := 0
		for at := range splice.Elements(bytes.TrimSpace(out)) {
			if n == len(want) || string(at.Of(out)) != want[n] {
				t.Fatalf("element %d of %s", n, out)
			}
			n++
		}
		if n != len(want) {
			t.Fatalf("%d elements of %d: %s", n, len(want), out)
		}
	})
}

// seeds are the bodies of the golden files.
func seeds(f *testing.F) {
	f.Helper()
	for _, pattern := range []string{"../provider/testdata/contents/*/*.txtar", "../provider/testdata/gemini/*.txtar", "../texts/testdata/contents/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no golden files: %v", err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for _, section := range archive.Files {
				body := section.Data
				if head, rest, ok := bytes.Cut(body, []byte("\n\n")); ok && bytes.HasPrefix(body, []byte("200")) {
					_, body = head, rest
				}
				f.Add(body)
			}
		}
	}
}

// FuzzScan: a scan accepts JSON objects alone, rejects others with a reason, and its edits leave JSON without a
// model.
func FuzzScan(f *testing.F) {
	seeds(f)
	twice := jsontext.AllowDuplicateNames(true) // deep in a body, where all of them are judged
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, scan := range []func([]byte, *splice.Request) error{contents.Scan, contents.ScanCount} {
			r := &splice.Request{PathModel: "m"}
			if err := scan(body, r); err != nil {
				if e := (*fault.Error)(nil); !errors.As(err, &e) || e.Detail == "" {
					t.Fatalf("%s: %v", body, err)
				}
				continue
			}
			if !jsontext.Value(body).IsValid(twice) || r.MessageCount == 0 || r.N < 1 || r.MaxTokens < 0 {
				t.Fatalf("%q: accepted as %+v", body, r)
			}
			out := splice.Apply(nil, body, r.Edits(nil, &splice.Plan{Model: "other", Remove: splice.Extensions}))
			if !jsontext.Value(out).IsValid(twice) || splice.Lookup(out, "model") != nil {
				t.Fatalf("%q became %q", body, out)
			}
		}
	})
}

// FuzzReaders: a reader accepts JSON objects alone, and finds no usage that cannot be.
func FuzzReaders(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, read := range map[string]func([]byte, *splice.ChunkFacts) error{
			"Reply": func(data []byte, f *splice.ChunkFacts) error { return contents.Reply(data, &f.ReplyFacts) }, "Event": contents.Event,
		} {
			c := splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: true}}
			if read(body, &c) != nil {
				continue
			}
			if v := jsontext.Value(body); !v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) || v.Kind() != '{' {
				t.Fatalf("%s: accepts %q", name, body)
			}
			if known := c.HasUsage || c.Partial; known && (c.BadUsage || !c.Tokens.Sane()) {
				t.Fatalf("%s: %+v of %q", name, c, body)
			}
		}
	})
}
