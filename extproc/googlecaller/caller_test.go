package googlecaller_test

import (
	"encoding/base64"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/googlecaller"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// asks returns the requests of the golden files of callers of Google's language.
func asks(tb testing.TB) [][]byte {
	tb.Helper()
	files, err := filepath.Glob("../provider/testdata/contents/*/*.txtar")
	if err != nil || len(files) < 40 {
		tb.Fatalf("there are %d golden files: %v", len(files), err)
	}
	var out [][]byte
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == "ask.json" {
				out = append(out, f.Data)
			}
		}
	}
	return out
}

// snake gives the names in JSON snake case, but for those of the caller's own.
func snake(body []byte) []byte {
	return regexp.MustCompile(`"[a-z]+[A-Z][A-Za-z]*" *:`).ReplaceAllFunc(body, func(name []byte) []byte {
		return regexp.MustCompile(`[A-Z]`).ReplaceAllFunc(name, func(c []byte) []byte { return []byte("_" + strings.ToLower(string(c))) })
	})
}

// A request means the same in both spellings of its names.
func TestBothSpellingsAreTheSame(t *testing.T) {
	t.Parallel()
	changed := 0
	for _, body := range asks(t) {
		if strings.Contains(string(body), "enableEnhancedCivicAnswers") { // only Google knows its other name
			continue
		}
		other := snake(body)
		if string(other) != string(body) {
			changed++
		}
		want, wantErr := googlecaller.Dialect{}.DecodeRequest(body)
		got, err := googlecaller.Dialect{}.DecodeRequest(other)
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %v, and in snake case %v", body, wantErr, err)
		} else if diff := cmp.Diff(want, got, cmp.Transformer("compact", compacted)); diff != "" {
			t.Errorf("%s (-camel +snake): %s", body, diff)
		}
	}
	if changed < 20 {
		t.Errorf("only %d requests have two spellings", changed)
	}
}

// compacted is JSON without white space, and with one spelling.
func compacted(v jsontext.Value) string {
	v = v.Clone()
	_ = v.Canonicalize() // it is valid
	return string(snake(v))
}

// An id of a call that is longer than others goes to the signature, and comes back from it; Google gets none of it.
func TestLongIDsAreSignatures(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[A-Za-z0-9_\-]{1,200}`).Draw(t, "id")
		reply := &wire.Response{Choices: []wire.Choice{{ToolCalls: []wire.ToolCall{{ID: id, Name: "f", Arguments: `{"a":1}`}}, Finish: wire.FinishToolCalls}}}
		whole := googlecaller.Dialect{}.EncodeResponse(nil, reply, dialect.Meta{Model: "m"})
		content := splice.Lookup(firstElement(splice.Lookup(whole, "candidates")), "content")
		signature := string(splice.Lookup(firstElement(splice.Lookup(content, "parts")), "thoughtSignature"))
		if long := len(id) > 64; long != (signature != "") {
			t.Fatalf("%d characters: %s", len(id), whole)
		}
		if short := splice.Lookup(firstElement(splice.Lookup(content, "parts")), "functionCall", "id"); len(short) > 66 {
			t.Fatalf("the id is %s", short)
		}
		call := string(content)
		if rapid.Bool().Draw(t, "alphabet") { // libraries write either
			call = strings.ReplaceAll(call, signature, strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(signature))
		}
		history := []byte(`{"contents":[` + call + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`)
		ask, err := googlecaller.Dialect{}.DecodeRequest(history)
		if err != nil {
			t.Fatalf("%v: %s", err, history)
		}
		parts := ask.Messages[0].Parts
		if got := parts[len(parts)-1].Call.ID; got != id || ask.Messages[1].Parts[0].Result.CallID != id {
			t.Fatalf("the id %s came back as %s", id, got)
		}
		sent := splice.Apply(nil, history, googlecaller.WithoutSealed(nil, history, "m"))
		if mark := base64.StdEncoding.EncodeToString([]byte("modelgateway")); !jsontext.Value(sent).IsValid() || strings.Contains(string(sent), mark) {
			t.Fatalf("Google gets %s", sent)
		}
	})
}

// firstElement returns the first element of an array.
func firstElement(array []byte) []byte {
	for at := range splice.Elements(array) {
		return at.Of(array)
	}
	return nil
}

// A text of the caller that looks like a sealed id is no signature, and stays.
func TestTextsStay(t *testing.T) {
	t.Parallel()
	mark := base64.StdEncoding.EncodeToString([]byte("modelgateway:" + strings.Repeat("a", 80)))
	body := []byte(`{"contents":[{"parts":[{"text":"` + mark + `"},{"text":"a","thought_signature" : "` + mark + `"}]}]}`)
	sent := splice.Apply(nil, body, googlecaller.WithoutSealed(nil, body, "m"))
	if !strings.Contains(string(sent), `"text":"`+mark) || strings.Count(string(sent), mark) != 1 {
		t.Errorf("%s", sent)
	}
}

// FuzzDecodeRequest checks that a request is either rejected with a reason, or valid in all that drivers pass on as it is.
func FuzzDecodeRequest(f *testing.F) {
	for _, body := range asks(f) {
		f.Add(body)
	}
	f.Add([]byte(`{"generateContentRequest":{"contents":[{"parts":[{"text":"a"}]}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, decode := range []func([]byte) (*wire.Request, error){googlecaller.Dialect{}.DecodeRequest, googlecaller.DecodeCount} {
			ask, err := decode(body)
			if err != nil {
				var e *fault.Error
				if !errors.As(err, &e) || e.Kind != fault.Malformed || e.Detail == "" {
					t.Fatalf("%s: %v", body, err)
				}
				if out := jsontext.Value(googlecaller.Dialect{}.EncodeError(e, "req_1")); !out.IsValid() {
					t.Fatalf("%s: the error is not JSON: %s", body, out)
				}
				continue
			}
			if !jsontext.Value(body).IsValid() || len(ask.Messages) == 0 {
				t.Fatalf("%s: accepted as %+v", body, ask)
			}
			for _, v := range passedOn(ask) {
				if v != nil && !v.IsValid() {
					t.Fatalf("%s: passes on %s", body, v)
				}
			}
		}
	})
}

// passedOn returns the JSON that drivers pass on as it is.
func passedOn(ask *wire.Request) []jsontext.Value {
	raw := []jsontext.Value{ask.Format.Schema, ask.Audio}
	for _, x := range ask.Extra {
		raw = append(raw, x.Value)
	}
	for _, x := range ask.Tools {
		raw = append(raw, x.Schema, x.Raw)
	}
	for _, m := range ask.Messages {
		for _, p := range m.Parts {
			if p.Native != nil {
				raw = append(raw, p.Native.Raw)
			}
			if p.Call != nil {
				raw = append(raw, jsontext.Value(p.Call.Arguments))
			}
		}
	}
	return raw
}
