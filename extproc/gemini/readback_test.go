package gemini_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/googlecaller"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// What the driver writes for a chat is read with all of its texts, and what is written of that is read and written in the same way.
func TestReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		target := driver.Target{Model: "gemini-3-flash-preview", DropParams: true, Features: gemini.Features("gemini-3-flash-preview")}
		in := drawRequest(t)
		in.Extra = nil
		if len(in.Messages) == 0 {
			return
		}
		write := func(r *wire.Request) []byte {
			body, err := gemini.Codec{}.Encode(r, target)
			if err != nil {
				t.Fatalf("%v", err)
			}
			return body
		}
		read := func(body []byte) *wire.Request {
			out, err := googlecaller.Dialect{}.DecodeRequest(body)
			if err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			return out
		}
		first := write(in)
		second := write(read(first)) // adjacent contents of a role are one now
		third := write(read(second))
		if a, b := said(first), said(second); a != b {
			t.Fatalf("%s became\n%s", first, second)
		}
		if diff := cmp.Diff(value(t, second), value(t, third)); diff != "" {
			t.Fatalf("(-written +again) %s\n%s", diff, second)
		}
	})
}

// said returns all texts of a request's contents.
func said(body []byte) string {
	var out strings.Builder
	for x := range texts.Contents().Request(body) {
		if !x.JSON && x.Kind != texts.Other {
			out.Write(splice.Plain(x.Of(body)))
		}
	}
	return out.String()
}

// value reads JSON. Whether thoughts are shown, and how much a model thinks by itself, may be said in several ways.
func value(t *rapid.T, body []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if config, ok := out["generationConfig"].(map[string]any); ok {
		delete(config, "thinkingConfig")
	}
	return out
}
