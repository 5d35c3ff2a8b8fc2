package anthropic_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
)

// FuzzDecodeRequest checks that a request is either rejected with a reason or valid in all that
// drivers pass on as it is.
func FuzzDecodeRequest(f *testing.F) {
	files, err := filepath.Glob("../provider/testdata/messages/*/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, section := range archive.Files {
			if section.Name == "ask.json" {
				f.Add(section.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		ask, err := anthropic.Dialect{}.DecodeRequest(body)
		if err != nil {
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.Malformed || e.Detail == "" {
				t.Fatalf("%s: %v", body, err)
			}
			if out := jsontext.Value(anthropic.Dialect{}.EncodeError(e, "req_1")); !out.IsValid() {
				t.Fatalf("%s: the error is not JSON: %s", body, out)
			}
			return
		}
		if !jsontext.Value(body).IsValid() || ask.Model == "" || len(ask.Messages) == 0 || ask.MaxTokens == nil {
			t.Fatalf("%s: accepted as %+v", body, ask)
		}
		raw := []jsontext.Value{ask.Format.Schema}
		for _, x := range ask.Extra {
			raw = append(raw, x.Value)
		}
		for _, x := range ask.Tools {
			raw = append(raw, x.Schema, x.Raw, x.Cache, x.Extra)
		}
		for _, m := range ask.Messages {
			for _, p := range m.Parts {
				raw = append(raw, p.Cache, p.Citations)
				if p.Native != nil {
					raw = append(raw, p.Native.Raw)
				}
			}
		}
		for _, v := range raw {
			if v != nil && !v.IsValid() {
				t.Fatalf("%s: passes on %s", body, v)
			}
		}
	})
}
