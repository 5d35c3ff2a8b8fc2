package provider_test

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// rewrittenSeeds adds a section of the golden files of rewritten requests; of a response its body.
func rewrittenSeeds(f *testing.F, section string) {
	f.Helper()
	files, err := filepath.Glob(rewrittenFolder + "/*/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range archive.Files {
			if s.Name == section {
				f.Add(s.Data)
			}
		}
	}
}

// eachRewriter calls one for each endpoint of each provider that rewrites it.
func eachRewriter(one func(r driver.Rewriter, e *rewrittenEndpoint)) {
	for _, p := range rewriters() {
		for _, e := range rewrittenEndpoints() {
			if language, ok := p.Serves(driver.Target{}, e.endpoint); ok && language != wire.OpenAI {
				one(p.(driver.Rewriter), &e)
			}
		}
	}
}

// FuzzRewrite checks that every request that the gateway admits is rewritten or rejected as the caller's mistake, and that a place has no
// character that could end a path.
func FuzzRewrite(f *testing.F) {
	rewrittenSeeds(f, askJSON)
	f.Fuzz(func(t *testing.T, body []byte) {
		eachRewriter(func(r driver.Rewriter, e *rewrittenEndpoint) {
			facts := &splice.Request{Boundary: boundary}
			sent := body
			if e.form {
				if splice.ScanModel(body, facts) != nil {
					return
				}
				sent = formOf(t, e, body)
			}
			if *facts = (splice.Request{Boundary: boundary}); e.scan(sent, facts) != nil {
				return
			}
			for i, model := range []string{"aura-2", "aura-2", "imagen-4"} {
				to, err := r.Rewrite(originalOf(e, facts), driver.Target{Model: model, DropParams: i > 0})
				if one := (*fault.Error)(nil); err != nil && (!errors.As(err, &one) || one.Kind == fault.Internal) {
					t.Errorf("%T %s: %v is not the caller's error", r, body, err)
				}
				for _, c := range to.Place {
					if c <= ' ' || c >= 0x7f || c == '#' || c == '"' || c == '\\' {
						t.Errorf("%T %s: the place is %q", r, body, to.Place)
					}
				}
			}
		})
	})
}

// FuzzRestored checks that every response is restored or a failure, and that the gateway can read what is restored.
func FuzzRestored(f *testing.F) {
	rewrittenSeeds(f, replyHTTP)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for i := range raw {
			if i > 0 && raw[i-1] == '\n' && raw[i] == '\n' {
				raw = raw[i+1:]
				break
			}
		}
		eachRewriter(func(r driver.Rewriter, e *rewrittenEndpoint) {
			if _, restores := r.(driver.Speaker); e.reply == nil && !restores {
				return
			}
			ask := map[string]string{
				"speech": `{"model":"m","input":"a","voice":"b"}`, "count": `{"model":"m","messages":[{"role":"user","content":"a"}]}`, "inputs": `{"model":"m","input":"a"}`, "edits": `{"model":"m","prompt":"a"}`, "images": `{"model":"m","prompt":"a"}`, "embeddings": `{"model":"m","input":"a"}`, "rerank": `{"model":"m","query":"a","documents":["b"]}`, "transcription": `{"model":"m","response_format":"verbose_json"}`, "translation": `{"model":"m","prompt":"a"}`,
			}[e.name]
			o, _ := original(t, e, []byte(ask))
			for _, model := range []string{"m", "voyage-context-3", "imagen-4"} {
				restored, err := r.Restore(o, raw, model)
				if failure := (*wire.Failure)(nil); err != nil && !errors.As(err, &failure) {
					t.Errorf("%T: %v is no failure", r, err)
				}
				if err != nil || restored.Media != "" {
					continue
				}
				if err := e.reply(restored.Body, &splice.ReplyFacts{}); err != nil {
					t.Errorf("%T: %q became %q, which the gateway cannot read: %v", r, raw, restored.Body, err)
				}
			}
		})
	})
}
