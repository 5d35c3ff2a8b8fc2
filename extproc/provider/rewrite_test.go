package provider_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai/openaitest"
	callers "github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// rewrittenFolder has the golden files of requests that are rewritten, with a folder for each provider. The name of
// a file begins with that of its endpoint. A form's fields are the members of ask.json; its file is the test's own.
const rewrittenFolder = "testdata/rewritten"

// boundary is that of the forms.
const boundary = "golden"

// rewrittenEndpoint is an endpoint whose requests some providers have in another form than OpenAI's.
type rewrittenEndpoint struct {
	name     string
	endpoint driver.Endpoint
	form     bool
	scan     func(body []byte, facts *splice.Request) error
	reply    func(body []byte, facts *splice.ReplyFacts) error // nil if the response is sound
	prompt   func(body []byte) (*wire.Request, error)          // of a count of tokens
}

func rewrittenEndpoints() []rewrittenEndpoint {
	counts := callers.NewTable()
	return []rewrittenEndpoint{
		{"embeddings", driver.Embeddings, false, splice.ScanInputs(splice.Input), splice.List, nil},
		{"images", driver.Images, false, splice.ScanInputs(splice.Prompt), splice.List, nil},
		{"edits", driver.ImageEdits, true, splice.ScanForm("image"), splice.List, nil},
		{"rerank", driver.Rerank, false, splice.ScanInputs(splice.Query, splice.Documents), splice.List, nil},
		{"speech", driver.Speech, false, splice.ScanInputs(splice.Input), nil, nil},
		{"transcription", driver.Transcriptions, true, splice.ScanForm("file"), splice.Transcript, nil},
		{"translation", driver.Translations, true, splice.ScanForm("file"), splice.Transcript, nil},
		{"count", driver.CountTokens, false, splice.Scan, counts.At("/v1" + string(driver.CountTokens)).Reply, anthropic.DecodePrompt},
		{"inputs", driver.InputTokens, false, splice.ScanModel, counts.At("/v1" + string(driver.InputTokens)).Reply, responses.Dialect{}.DecodeRequest},
	}
}

// TestEveryRewriterHasGoldens rejects a driver that rewrites requests of an endpoint without golden files of it.
func TestEveryRewriterHasGoldens(t *testing.T) {
	for _, p := range provider.Providers() {
		if _, ok := p.Driver.(driver.Rewriter); !ok || p.Like != "" {
			continue
		}
		for _, e := range rewrittenEndpoints() {
			if language, ok := p.Driver.Serves(driver.Target{}, e.endpoint); !ok || language == wire.OpenAI {
				continue
			}
			for _, end := range []string{"", "_error_429"} {
				if _, err := os.Stat(filepath.Join(rewrittenFolder, p.Name, e.name+end+".txtar")); err != nil {
					t.Errorf("driver %s: %v", p.Name, err)
				}
			}
		}
	}
}

// TestRewrittenGolden runs every driver over every file of its folder.
func TestRewrittenGolden(t *testing.T) {
	files, err := filepath.Glob(rewrittenFolder + "/*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		folder, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".txtar")
		p, ok := byName(folder)
		stem, _, _ := strings.Cut(name, "_")
		at := slices.IndexFunc(rewrittenEndpoints(), func(e rewrittenEndpoint) bool { return e.name == stem })
		if !ok || at < 0 || !strings.HasSuffix(file, ".txtar") {
			stale(t, file)
			continue
		}
		t.Run(folder+"/"+name, func(t *testing.T) { rewrittenGolden(t, p, &rewrittenEndpoints()[at], file) })
	}
}

func rewrittenGolden(t *testing.T, p provider.Provider, e *rewrittenEndpoint, file string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string][]byte{}
	for _, f := range archive.Files {
		have[f.Name] = f.Data
	}
	want := rewrite(t, p, e, have)
	if *update {
		write(t, file, archive.Comment, want)
		return
	}
	for name, data := range want {
		if diff := cmp.Diff(string(data), string(have[name])); diff != "" {
			t.Errorf("%s (-got +file):\n%s", name, diff)
		}
	}
	for name := range have {
		if want[name] == nil {
			t.Errorf("section %s is stale: run the test with -update", name)
		}
	}
}

// rewrite runs a request there and its response back. The result has the inputs as well.
func rewrite(t *testing.T, p provider.Provider, e *rewrittenEndpoint, in map[string][]byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{askJSON: in[askJSON]}
	var cfg target
	if in[targetJSON] != nil {
		out[targetJSON] = in[targetJSON]
		if err := json.Unmarshal(in[targetJSON], &cfg, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
	}
	r, body := original(t, e, in[askJSON])
	to := cfg.target()
	rewriter, _ := p.Driver.(driver.Rewriter)
	sent, err := rewriter.Rewrite(r, to)
	if err != nil {
		out[answerHTTP] = refusal(chats(), fault.From(err))
		return out
	}
	call, err := p.Driver.Address(to, driver.Operation{Endpoint: e.endpoint, Place: sent.Place})
	if err != nil {
		t.Fatal(err)
	}
	out[upstreamHTTP] = shown(t, call, sent, e.form)
	times := bytes.Count(sent.Body, sound()) + bytes.Count(sent.Body, base64.StdEncoding.AppendEncode(nil, sound()))
	if e.form && bytes.Count(body, sound()) != 1 || times != bytes.Count(body, sound()) {
		t.Errorf("the file is not what it was: %q", sent.Body)
	}
	if in[replyHTTP] == nil {
		t.Fatalf("the request is sent, so %s is needed; sent:\n%s", replyHTTP, out[upstreamHTTP])
	}
	out[replyHTTP] = in[replyHTTP]
	status, header, reply := parse(t, in[replyHTTP])
	switch {
	case status != http.StatusOK:
		fail(chats(), out, p.Driver.Classify(status, header, reply))
	case strings.HasPrefix(header("content-type"), "text/event-stream"):
		spoken(t, p.Driver.(driver.Speaker).SpeechStream(r), reply, out)
	case e.reply != nil || speaksWithin(p):
		restored, err := rewriter.Restore(r, reply, to.Model)
		if err != nil {
			fail(chats(), out, failureOf(t, err))
			return out
		}
		answered(t, e, out, restored)
	}
	return out
}

// speaksWithin reports whether a provider sends speech within another response.
func speaksWithin(p provider.Provider) bool {
	_, ok := p.Driver.(driver.Speaker)
	return ok
}

// spoken writes what a stream with speech becomes, and what is billed for it.
func spoken(t *testing.T, s driver.SpeechStream, reply []byte, out map[string][]byte) {
	t.Helper()
	var answer []byte
	for _, e := range events(reply) {
		var err error
		if answer, err = s.Event(answer, []byte(e.data)); err != nil {
			fail(chats(), out, failureOf(t, err))
			return
		}
	}
	if s.Complete() {
		answer = s.End(answer)
	}
	out[answerHTTP] = append([]byte("200\ncontent-type: text/event-stream\n\n"), answer...)
	u := s.Usage()
	out[usageJSON] = pretty(marshal(usageView(&u)))
}

// answered writes what the caller gets, and what it is billed for.
func answered(t *testing.T, e *rewrittenEndpoint, out map[string][]byte, restored driver.Restored) {
	t.Helper()
	media, u := restored.Media, restored.Usage
	if media == "" {
		media = "application/json"
		var facts splice.ReplyFacts
		if err := e.reply(restored.Body, &facts); err != nil {
			t.Errorf("the gateway cannot read the restored response: %v: %s", err, restored.Body)
		}
		if facts.HasUsage && !u.Known() {
			u = wire.Usage{Tokens: facts.Tokens, Source: usage.Provider}
		}
		whole := restored.Body
		if e.endpoint == driver.Embeddings && !u.Known() { // the gateway adds what it has counted
			o := splice.ReadObject(whole)
			o.Set("usage", []byte(`{"prompt_tokens":1,"total_tokens":1}`))
			whole = o.Append(nil)
		}
		if path := "/v1" + string(e.endpoint); judge().Knows(path) {
			judge().CheckResponse(t, path, openaitest.Reply{Status: http.StatusOK, Media: media, Body: whole}, nil)
		}
		restored.Body = pretty(restored.Body)
	}
	if strings.HasPrefix(media, "audio/") {
		restored.Body = fmt.Appendf(nil, "%q\n", restored.Body)
	}
	out[answerHTTP] = append([]byte("200\ncontent-type: "+media+"\n\n"), restored.Body...)
	out[usageJSON] = pretty(marshal(usageView(&u)))
}

// sound is the file of a form.
func sound() []byte { return []byte("RIFF \xff\x00 sound") }

// original makes a request of ask.json.
func original(t *testing.T, e *rewrittenEndpoint, ask []byte) (*driver.Original, []byte) {
	t.Helper()
	facts := &splice.Request{Boundary: boundary}
	body := bytes.TrimSpace(ask)
	if e.form {
		body = formOf(t, e, ask)
	}
	if err := e.scan(body, facts); err != nil {
		t.Fatal(err)
	}
	return originalOf(e, facts), body
}

// originalOf returns a request that has been read.
func originalOf(e *rewrittenEndpoint, facts *splice.Request) *driver.Original {
	o := &driver.Original{Endpoint: e.endpoint, Facts: facts, Created: 1_700_000_000}
	if e.prompt != nil {
		o.Prompt = func() (*wire.Request, error) { return e.prompt(facts.Document()) }
	}
	return o
}

// formOf writes an object as a form with a file.
func formOf(t *testing.T, e *rewrittenEndpoint, ask []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary(boundary); err != nil {
		t.Fatal(err)
	}
	head := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="a.wav"`}, "Content-Type": {"audio/wav"}}
	if e.endpoint == driver.ImageEdits {
		head = textproto.MIMEHeader{"Content-Disposition": {`form-data; name="image[]"; filename="a.webp"`}}
	}
	part, err := w.CreatePart(head)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(sound()) // a buffer takes all
	for name, raw := range splice.ReadObject(ask).All() {
		if jsontext.Value(raw).Kind() == '[' {
			name += "[]"
		}
		for _, one := range driver.Elements(raw) {
			text := string(one)
			if one.Kind() == '"' {
				_ = json.Unmarshal(one, &text) // the file is JSON
			}
			if err := w.WriteField(name, text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shown shows a call as HTTP. The lines of a form end with line feeds alone, and its file is quoted.
func shown(t *testing.T, c driver.Call, sent driver.Rewritten, form bool) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s\n", c.Path)
	for _, h := range c.Headers {
		fmt.Fprintf(&b, "%s: %s\n", h.Name, h.Value.Reveal())
	}
	switch {
	case sent.Media != "" && sent.Media != "application/json":
		fmt.Fprintf(&b, "content-type: %s\n\n%q\n", sent.Media, sent.Body)
	case form && sent.Media == "":
		text := strings.ReplaceAll(string(sent.Body), string(sound()), fmt.Sprintf("%q", sound()))
		fmt.Fprintf(&b, "content-type: multipart/form-data; boundary=%s\n\n%s\n", boundary, strings.ReplaceAll(text, "\r\n", "\n"))
	default:
		if !jsontext.Value(sent.Body).IsValid() {
			t.Errorf("the body is not valid JSON: %s", sent.Body)
		}
		fmt.Fprintf(&b, "content-type: application/json\n\n%s", pretty(sent.Body))
	}
	return b.Bytes()
}
