package responses_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// judged is something that the gateway wrote, with the SDK's type that it must have.
type judged struct {
	Name string         `json:"name"`
	Kind string         `json:"kind"`
	Body jsontext.Value `json:"body"`
}

// Whatever callers get is valid by the types of OpenAI's SDK: the responses and events of all
// golden files, and those of responses drawn at random.
func TestCallersGetWhatOpenAIsSDKExpects(t *testing.T) {
	var cases []judged
	for _, file := range goldens(t) {
		if strings.Contains(file, "/messages-") {
			continue // not OpenAI's language
		}
		if raw := section(t, file, answerHTTP); raw != nil {
			cases = append(cases, answersOf(t, file, raw)...)
		}
	}
	cases = append(cases, drawn(t)...)
	var in bytes.Buffer
	for _, c := range cases {
		in.Write(append(marshal(c), '\n'))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python(t), "testdata/judge.py")
	cmd.Stdin = &in
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("judged %d\n", len(cases)); err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}

// python is the Python that has the SDKs. There is no test without one.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("MODELGATEWAY_PYTHON")
	if path == "" {
		path = "../../.tmp/bin/python-sdks"
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no Python with the SDKs; run: make sdks (%v)", err)
	}
	return path
}

// answersOf returns the parts of an answer of a golden file.
func answersOf(t *testing.T, file string, raw []byte) []judged {
	t.Helper()
	whole, step := "response", "event"
	switch folder := filepath.Base(filepath.Dir(file)); {
	case folder == completionsFolder:
		whole, step = "text", "text chunk"
	case strings.HasPrefix(folder, "chat-"):
		whole, step = "completion", "chunk"
	}
	status, header, body := parse(t, raw)
	switch {
	case status != 200:
		var e struct {
			Error jsontext.Value `json:"error"`
		}
		decode(t, body, &e)
		return []judged{{file, "error", e.Error}}
	case header("content-type") != "text/event-stream":
		return []judged{{file, whole, body}}
	}
	return steps(file, step, body)
}

// steps returns the events of a stream. The error event of a chat has the form of an error's body.
func steps(name, kind string, body []byte) []judged {
	var out []judged
	for i, block := range strings.Split(strings.TrimSpace(string(body)), "\n\n") {
		_, data, _ := strings.Cut("\n"+block, "\ndata: ")
		if data == "[DONE]" || strings.HasPrefix(data, `{"error":`) {
			continue
		}
		out = append(out, judged{fmt.Sprintf("%s#%d", name, i), kind, jsontext.Value(data)})
	}
	return out
}

// drawn returns responses at random: whole, streamed and failed.
func drawn(t *testing.T) []judged {
	t.Helper()
	a, err := responses.Dialect{}.DecodeRequest([]byte(`{"model":"alias","input":"x","instructions":"i","metadata":{"a":"b"},"parallel_tool_calls":false,
		"reasoning":{"effort":"low","summary":"auto"},"temperature":1,"top_p":1,"top_logprobs":3,"max_output_tokens":9,"user":"u","truncation":"auto",
		"tools":[{"type":"function","name":"f"},{"type":"custom","name":"c","format":{"type":"text"}},{"type":"web_search","search_context_size":"low"}],
		"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]},"max_tool_calls":3,"safety_identifier":"s",
		"prompt_cache_key":"k","text":{"verbosity":"high","format":{"type":"json_schema","name":"n","schema":{"type":"object"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	type example struct {
		chunks []wire.Chunk
		whole  wire.Choice
	}
	examples := rapid.Custom(func(t *rapid.T) example {
		chunks, whole := drawChunks(t)
		return example{chunks, whole}
	})
	var out []judged
	for i := range 40 {
		e := examples.Example(i)
		m := dialect.Meta{ID: "resp_x", Model: "alias", Created: 7}
		if i%2 == 0 {
			m.Echo = a.Echo
		}
		tokens := wire.Usage{Source: usage.Provider, Tokens: usage.Tokens{Input: 5, Output: 4}}
		whole := responses.Dialect{}.EncodeResponse(nil, &wire.Response{Choices: []wire.Choice{e.whole}, Usage: tokens, ServiceTier: "default"}, m)
		out = append(out, judged{fmt.Sprintf("drawn %d", i), "response", whole})
		enc := responses.Dialect{}.Stream(m)
		var raw []byte
		for j := range e.chunks {
			raw = enc.Chunk(raw, &e.chunks[j])
		}
		if i%4 == 0 {
			raw = enc.Fail(raw, fault.Field("input", "invalid_value", "no"))
		} else {
			raw = enc.End(raw, &tokens)
		}
		out = append(out, steps(fmt.Sprintf("drawn stream %d", i), "event", raw)...)
	}
	return out
}
