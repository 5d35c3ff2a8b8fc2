package responses_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/openai/openaitest"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files and prune what is stale")

// judge says whether requests and responses in OpenAI's languages are valid.
var judge = sync.OnceValue(openaitest.New)

// Sections of a golden file: inputs and outputs.
const (
	askJSON      = "ask.json"      // in: the caller's body
	replyHTTP    = "reply.http"    // in, unless the request is rejected: the provider's response
	upstreamJSON = "upstream.json" // out: what the provider is sent
	answerHTTP   = "answer.http"   // out: what the caller gets, if nothing else is tried
	usageJSON    = "usage.json"    // out: what the caller is billed for
)

// pair is the languages of a caller and of a provider.
type pair struct {
	caller   dialect.Dialect
	provider driver.Codec
	path     string // of the provider's requests at OpenAI's API; empty if its language is another vendor's
}

// pairs returns the pairs that this package is one half of, by the folder of their goldens.
func pairs() map[string]pair {
	return map[string]pair{
		"responses-openai":    {responses.Dialect{}, openai.Driver{NewLimit: true}.Codec(wire.OpenAI), string(driver.Chat)},
		"responses-anthropic": {responses.Dialect{}, anthropic.Driver{}.Codec(wire.Anthropic), ""},
		"chat-responses":      {openai.Dialect{}, responses.Codec{}, string(driver.Responses)},
		"messages-responses":  {anthropic.Dialect{}, responses.Codec{}, string(driver.Responses)},

		completionsFolder: {openai.Completions{}, responses.Codec{}, string(driver.Responses)},
	}
}

// completionsFolder has the goldens of callers whose requests and responses are one text.
const completionsFolder = "completions-responses"

// TestGoldensAreComplete rejects a pair that lacks a case, whole or streamed.
func TestGoldensAreComplete(t *testing.T) {
	for folder := range pairs() {
		cells := []string{"text", "reasoning", "refusal", "error", "tools", "pictures", "structured"}
		if folder == completionsFolder {
			cells = cells[:4]
		}
		for _, name := range cells {
			for _, form := range []string{"", "_stream"} {
				file := filepath.Join("testdata", folder, name+form+".txtar")
				ask := section(t, file, askJSON)
				if section(t, file, upstreamJSON) == nil {
					t.Errorf("%s: the request does not reach the provider", file)
				}
				var in struct {
					Stream bool `json:"stream"`
				}
				if err := json.Unmarshal(ask, &in); err != nil || in.Stream != (form != "") {
					t.Errorf("%s/%s%s: stream is %v (%v)", folder, name, form, in.Stream, err)
				}
			}
		}
	}
}

// TestGolden runs every pair over every file of its folder.
func TestGolden(t *testing.T) {
	for _, file := range goldens(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".txtar")
		t.Run(name, func(t *testing.T) { golden(t, pairs()[filepath.Dir(name)], file) })
	}
}

// goldens lists the golden files. A file or a folder that no test reads fails the test.
func goldens(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	return slices.DeleteFunc(files, func(file string) bool {
		folder := filepath.Base(filepath.Dir(file))
		if folder == "fuzz" {
			return true
		}
		if _, ok := pairs()[folder]; !ok || !strings.HasSuffix(file, ".txtar") {
			t.Errorf("%s is stale: remove it", file)
			return true
		}
		return false
	})
}

// section returns a section of a golden file.
func section(t *testing.T, file, name string) []byte {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// golden runs one file.
func golden(t *testing.T, p pair, file string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string][]byte{}
	for _, f := range archive.Files {
		have[f.Name] = f.Data
	}
	want := run(t, p, have)
	if path := openaitest.PathOf(string(p.caller.Name())); judge().Knows(path) {
		status, header, body := parse(t, want[answerHTTP])
		judge().CheckResponse(t, path, openaitest.Reply{Status: status, Media: header("content-type"), Body: body}, nil)
	}
	if *update {
		archive.Files = nil
		for _, name := range []string{askJSON, upstreamJSON, replyHTTP, answerHTTP, usageJSON} {
			if want[name] != nil {
				archive.Files = append(archive.Files, txtar.File{Name: name, Data: want[name]})
			}
		}
		if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
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

// run translates there and back. The result has the inputs as well.
func run(t *testing.T, p pair, in map[string][]byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{askJSON: in[askJSON]}
	a, err := p.caller.DecodeRequest(in[askJSON])
	if err != nil {
		out[answerHTTP] = refusal(p, fault.From(err))
		return out
	}
	body, err := p.provider.Encode(a, driver.Target{Model: "upstream-model"})
	if err != nil {
		out[answerHTTP] = refusal(p, fault.From(err))
		return out
	}
	if p.path != "" {
		judge().CheckRequest(t, p.path, "application/json", body, nil)
	}
	out[upstreamJSON] = pretty(body)
	if in[replyHTTP] == nil {
		t.Fatalf("the request is sent, so %s is needed; sent:\n%s", replyHTTP, out[upstreamJSON])
	}
	out[replyHTTP] = in[replyHTTP]
	status, header, body := parse(t, in[replyHTTP])
	m := dialect.Meta{ID: "chatcmpl-golden", Model: a.Model, Created: 1700000000, IncludeUsage: a.IncludeUsage, Echo: a.Echo}
	if status != http.StatusOK {
		out[answerHTTP] = refusal(p, driver.Classify(status, header, body).Fault())
		return out
	}
	if header("content-type") == "text/event-stream" {
		translated, tokens := translate(t, p, body, m)
		out[answerHTTP] = append([]byte("200\ncontent-type: text/event-stream\n\n"), translated...)
		out[usageJSON] = pretty(marshal(usageView(&tokens)))
		return out
	}
	r, err := p.provider.Decode(body)
	if err != nil {
		out[answerHTTP] = refusal(p, failureOf(t, err).Fault())
		return out
	}
	out[answerHTTP] = answer(200, nil, p.caller.EncodeResponse(nil, r, m))
	out[usageJSON] = pretty(marshal(usageView(&r.Usage)))
	return out
}

// translate translates a stream.
func translate(t *testing.T, p pair, body []byte, m dialect.Meta) (out []byte, u wire.Usage) {
	t.Helper()
	m.Usage = &u
	in, enc := p.provider.Stream(), p.caller.Stream(m)
	for block := range strings.SplitSeq(strings.TrimSpace(string(body)), "\n\n") {
		_, data, _ := strings.Cut("\n"+block, "\ndata: ")
		chunks, err := in.Event(nil, "", []byte(data))
		u = in.Usage()
		for i := range chunks {
			out = enc.Chunk(out, &chunks[i])
		}
		if err != nil {
			return enc.Fail(out, failureOf(t, err).Fault()), u
		}
	}
	if !in.Complete() {
		t.Error("the stream is not complete")
	}
	return enc.End(out, &u), u
}

// failureOf returns the wire.Failure that every error of a codec must be.
func failureOf(t *testing.T, err error) *wire.Failure {
	t.Helper()
	f, ok := errors.AsType[*wire.Failure](err)
	if !ok {
		t.Fatalf("%v is not a *wire.Failure", err)
	}
	return f
}

// usageView formats a usage report.
func usageView(u *wire.Usage) any {
	return struct {
		Source  string       `json:"source"`
		Partial bool         `json:"partial,omitzero"`
		Tokens  usage.Tokens `json:"tokens"`
	}{u.Source.String(), u.Partial, u.Tokens}
}

// refusal shows a fault as HTTP.
func refusal(p pair, e *fault.Error) []byte {
	return answer(e.HTTPStatus(), e.Headers(), p.caller.EncodeError(e, "req_golden"))
}

// answer shows a response as HTTP.
func answer(status int, headers []fault.Header, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\ncontent-type: application/json\n", status)
	for _, h := range headers {
		fmt.Fprintf(&b, "%s: %s\n", h.Name, h.Value)
	}
	return append(append(b.Bytes(), '\n'), pretty(body)...)
}

// parse reads a status, headers, an empty line and a body.
func parse(t *testing.T, raw []byte) (status int, header func(string) string, body []byte) {
	t.Helper()
	head, body, _ := bytes.Cut(raw, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	status, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		t.Fatal(err)
	}
	return status, func(name string) string {
		for _, l := range lines {
			if value, ok := strings.CutPrefix(l, name+": "); ok {
				return value
			}
		}
		return ""
	}, body
}

// marshal writes a value of the test's own.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(strconv.Quote(err.Error()))
	}
	return b
}

// pretty indents JSON, so that changes are readable.
func pretty(b []byte) []byte {
	v := jsontext.Value(bytes.Clone(b))
	if v.Indent(jsontext.WithIndent("  ")) != nil {
		return append(b, '\n')
	}
	return append(v, '\n')
}

// decode reads JSON of the test's own.
func decode(t *testing.T, raw []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
}
