package provider_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
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

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/coherecaller"
	"github.com/modelgateway/modelgateway/extproc/converse"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/eventstream"
	"github.com/modelgateway/modelgateway/extproc/googlecaller"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/openai/openaitest"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files and prune what is stale")

// judge says whether requests and responses in OpenAI's language are valid.
var judge = sync.OnceValue(openaitest.New)

// Sections of a golden file: inputs and outputs.
const (
	askJSON      = "ask.json"      // in: the caller's body
	targetJSON   = "target.json"   // in, optional: what is special about the deployment
	replyHTTP    = "reply.http"    // in, unless the ask is refused: the provider's answer
	upstreamHTTP = "upstream.http" // out: what the provider is sent
	answerHTTP   = "answer.http"   // out: what the caller gets, if nothing else is tried
	usageJSON    = "usage.json"    // out: what the caller is billed for
	failureJSON  = "failure.json"  // out: how a failure is classified
)

// target is target.json.
type target struct {
	Model           string `json:"model"`
	BasePath        string `json:"base_path"`
	MaxOutputTokens int64  `json:"max_output_tokens"`
	DropParams      bool   `json:"drop_params"`
	NoSampling      bool   `json:"no_sampling"`
	Adaptive        bool   `json:"adaptive_thinking"`
	HighEfforts     bool   `json:"high_efforts"`
	JSONSchema      bool   `json:"json_schema"`
	FeaturesOf      string `json:"features_of"` // a model, in place of the features above
	Stream          bool   `json:"stream"`      // of the path, for callers whose bodies do not say it

	Settings map[string]string `json:"settings"` // of the account at a cloud
	Token    string            `json:"token"`    // in place of the key
	API      driver.API        `json:"api"`
}

// language is a language of callers, with the folder of its golden files.
type language struct {
	dialect  dialect.Dialect
	endpoint driver.Endpoint
	folder   string // with a folder for each provider
	id       string // of responses
}

// chats is the language of OpenAI's chats.
func chats() language { return language{openai.Dialect{}, driver.Chat, "testdata", "chatcmpl-golden"} }

// languages lists the languages of callers.
func languages() []language {
	return []language{
		chats(),
		{anthropic.Dialect{}, driver.Messages, messagesFolder, "msg_golden"},
		{openai.Completions{}, driver.Chat, completionsFolder, "cmpl-golden"},
		{googlecaller.Dialect{}, driver.Contents, contentsFolder, "golden"},
		{converse.Dialect{}, driver.Converse, converseFolder, ""},
		{coherecaller.Dialect{}, driver.Turns, turnsFolder, "golden"},
	}
}

// The folders with the golden files of callers of other languages than OpenAI's chats.
const (
	messagesFolder    = "testdata/messages"
	completionsFolder = "testdata/completions"
	contentsFolder    = "testdata/contents"
	converseFolder    = "testdata/converse"
	turnsFolder       = "testdata/turns"
)

// isLanguageFolder reports whether a folder of testdata has the golden files of callers of another language than OpenAI's
// chats.
func isLanguageFolder(folder string) bool {
	return slices.Contains([]string{messagesFolder, completionsFolder, contentsFolder, converseFolder, turnsFolder}, folder)
}

// TestGolden runs every driver over every file of its folder, for callers of each language.
func TestGolden(t *testing.T) {
	for _, l := range languages() {
		folders, err := filepath.Glob(l.folder + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			if filepath.Base(folder) == "fuzz" || filepath.Ext(folder) == ".py" || isLanguageFolder(folder) || folder == rewrittenFolder {
				continue
			}
			p, ok := byName(filepath.Base(folder))
			if !ok {
				stale(t, folder)
				continue
			}
			files, err := filepath.Glob(folder + "/*")
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				name, _ := strings.CutPrefix(strings.TrimSuffix(file, ".txtar"), "testdata/")
				t.Run(name, func(t *testing.T) { golden(t, l, p, file) })
			}
		}
	}
}

// TestEveryDriverHasGoldens rejects a driver without golden files.
func TestEveryDriverHasGoldens(t *testing.T) {
	for _, p := range chatting() {
		if p.Like != "" {
			if _, ok := byName(p.Like); !ok {
				t.Errorf("%s is like %s, which there is not", p.Name, p.Like)
			}
			continue
		}
		for _, name := range []string{"chat", "chat_stream", "error_429"} {
			if _, err := os.Stat(filepath.Join("testdata", p.Name, name+".txtar")); err != nil {
				t.Errorf("driver %s: %v", p.Name, err)
			}
		}
	}
}

// stale reports a file that no test reads, or removes it.
func stale(t *testing.T, path string) {
	t.Helper()
	if !*update {
		t.Errorf("%s is stale: run the test with -update to remove it", path)
		return
	}
	if err := os.RemoveAll(path); err != nil {
		t.Error(err)
	}
}

// golden runs one file.
func golden(t *testing.T, l language, p provider.Provider, file string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string][]byte{}
	for _, f := range archive.Files {
		have[f.Name] = f.Data
	}
	if have[askJSON] == nil || !strings.HasSuffix(file, ".txtar") {
		stale(t, file)
		return
	}
	want := run(t, l, p, have)
	if path := openaitest.PathOf(string(l.dialect.Name())); judge().Knows(path) {
		status, header, body := parse(t, want[answerHTTP])
		judge().CheckResponse(t, path, openaitest.Reply{Status: status, Media: header("content-type"), Body: body}, nil)
	}
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

// write rewrites a golden file, in the order in which a request runs.
func write(t *testing.T, file string, comment []byte, sections map[string][]byte) {
	t.Helper()
	out := txtar.Archive{Comment: comment}
	for _, name := range []string{askJSON, targetJSON, upstreamHTTP, replyHTTP, answerHTTP, usageJSON, failureJSON} {
		if sections[name] != nil {
			out.Files = append(out.Files, txtar.File{Name: name, Data: sections[name]})
		}
	}
	if err := os.WriteFile(file, txtar.Format(&out), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run translates there and back. The result has the inputs as well.
func run(t *testing.T, l language, p provider.Provider, in map[string][]byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{askJSON: in[askJSON]}
	var cfg target
	if in[targetJSON] != nil {
		out[targetJSON] = in[targetJSON]
		if err := json.Unmarshal(in[targetJSON], &cfg, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
	}
	ask, err := l.dialect.DecodeRequest(in[askJSON])
	if err != nil {
		out[answerHTTP] = refusal(l, fault.From(err))
		return out
	}
	if l.dialect.Name() == wire.Gemini || l.dialect.Name() == wire.Converse { // the path has both
		ask.Model, ask.Stream = "fast", cfg.Stream
	}
	to := cfg.target()
	if cfg.FeaturesOf != "" {
		to.Features = p.Features(cfg.FeaturesOf)
	}
	translator := codecFor(p, to)
	call, err := callOf(l.endpoint, p, ask, to)
	if err != nil {
		out[answerHTTP] = refusal(l, fault.From(err))
		return out
	}
	out[upstreamHTTP] = request(t, call)
	if language, _ := p.Driver.Serves(to, driver.Chat); language != wire.Mistral && judge().Knows(call.Path) {
		var made func() []string // by the caller
		if l.dialect.Name() == wire.OpenAI {
			made = func() []string { return judge().Request(call.Path, "application/json", in[askJSON]) }
		}
		judge().CheckRequest(t, call.Path, "application/json", call.Body, made)
	}
	if in[replyHTTP] == nil {
		t.Fatalf("the ask is sent, so %s is needed; sent:\n%s", replyHTTP, out[upstreamHTTP])
	}
	out[replyHTTP] = in[replyHTTP]
	status, header, body := parse(t, in[replyHTTP])
	m := dialect.Meta{ID: l.id, Model: ask.Model, Created: 1700000000, IncludeUsage: ask.IncludeUsage, Functions: ask.Functions}
	switch {
	case status != http.StatusOK:
		fail(l, out, p.Driver.Classify(status, header, body))
	case strings.HasPrefix(header("content-type"), "text/event-stream"):
		maps.Copy(out, stream(t, l.dialect, asked{translator, ask}, events(body), m))
	case header("content-type") == eventstream.Media:
		maps.Copy(out, stream(t, l.dialect, asked{translator, ask}, framed(t, framingFor(p, to), events(body)), m))
	default:
		reply, err := translator.Decode(body)
		if err != nil {
			fail(l, out, failureOf(t, err))
			return out
		}
		driver.NamesOf(translator, ask).Response(reply)
		out[answerHTTP] = answer(200, nil, l.dialect.EncodeResponse(nil, reply, m))
		out[usageJSON] = pretty(marshal(usageView(&reply.Usage)))
	}
	return out
}

// byName returns the provider of that name.
func byName(name string) (provider.Provider, bool) {
	for _, p := range provider.Providers() {
		if p.Name == name {
			return p, true
		}
	}
	return provider.Provider{}, false
}

// callOf returns the whole call for a chat request.
func callOf(e driver.Endpoint, p provider.Provider, ask *wire.Request, t driver.Target) (driver.Call, error) {
	call, err := p.Driver.Address(t, driver.Operation{Endpoint: e, Stream: ask.Stream})
	if err != nil {
		return driver.Call{}, err
	}
	call.Headers = driver.WithHeaders([]driver.Header{driver.Plain("content-type", "application/json")}, call.Headers)
	call.Body, err = codecFor(p, t).Encode(ask, t)
	return call, err
}

// target makes the provider's view of target.json.
func (c target) target() driver.Target {
	if c.Model == "" {
		c.Model = "upstream-model"
	}
	key, settings := "key-of-the-deployment", make(map[string]vault.Secret)
	if c.Token != "" {
		key = ""
	}
	for name, value := range c.Settings {
		settings[name] = vault.NewSecret(value)
	}
	return driver.Target{
		Model: c.Model, BasePath: c.BasePath, APIKey: vault.NewSecret(key), Settings: cloud.Of(settings), Token: cloud.Token{Bearer: vault.NewSecret(c.Token)},
		MaxOutputTokens: c.MaxOutputTokens, DropParams: c.DropParams, API: c.API,
		Features: driver.Features{
			NoSampling: c.NoSampling, AdaptiveThinking: c.Adaptive, HighEfforts: c.HighEfforts, JSONSchema: c.JSONSchema,
		},
	}
}

// stream translates a stream event by event. It cuts the stream after every event, to check
// that no step depends on later events.
func stream(t *testing.T, l dialect.Dialect, d driver.Codec, all []event, m dialect.Meta) map[string][]byte {
	t.Helper()
	whole, tokens, failure := translate(t, l, d, all, m)
	for n := range all {
		cut, _, f := translate(t, l, d, all[:n], m)
		if f == nil && !bytes.HasPrefix(whole.all(), cut.steps) {
			t.Errorf("after %d events the answer is\n%s", n, cut.steps)
		}
	}
	out := map[string][]byte{
		answerHTTP: append([]byte("200\ncontent-type: text/event-stream\n\n"), whole.all()...),
		usageJSON:  pretty(marshal(usageView(&tokens))),
	}
	if failure != nil {
		out[failureJSON] = pretty(marshal(failureView(failure)))
	}
	return out
}

// asked is a codec that responds to a request, whose names of tools the caller gets.
type asked struct {
	driver.Codec
	ask *wire.Request
}

// streamed is a stream as the caller gets it.
type streamed struct{ steps, end []byte }

func (s streamed) all() []byte { return slices.Concat(s.steps, s.end) }

// translate translates events; the end is written if the answer is whole.
func translate(t tester, l dialect.Dialect, d driver.Codec, all []event, m dialect.Meta) (out streamed, u wire.Usage, failure *wire.Failure) {
	t.Helper()
	in, enc, names := d.Stream(), l.Stream(m), driver.Names{}
	if a, ok := d.(asked); ok {
		names = driver.NamesOf(a.Codec, a.ask)
	}
	for _, e := range all {
		chunks, err := in.Event(nil, e.name, []byte(e.data))
		for i := range chunks {
			names.Chunk(&chunks[i])
			out.steps = enc.Chunk(out.steps, &chunks[i])
		}
		if err != nil {
			failure = failureOf(t, err)
			out.end = enc.Fail(nil, failure.Fault())
			return out, in.Usage(), failure
		}
	}
	u = in.Usage()
	if in.Complete() {
		out.end = enc.End(nil, &u)
	}
	return out, u, nil
}

// fail writes what a failure looks like.
func fail(l language, out map[string][]byte, f *wire.Failure) {
	out[answerHTTP] = refusal(l, f.Fault())
	out[failureJSON] = pretty(marshal(failureView(f)))
}

// failureOf returns the wire.Failure that every error of a driver must be.
func failureOf(t tester, err error) *wire.Failure {
	t.Helper()
	var f *wire.Failure
	if !errors.As(err, &f) {
		t.Fatalf("%v is not a *wire.Failure", err)
	}
	return f
}

// failureView formats a failure.
func failureView(f *wire.Failure) any {
	return struct {
		Status        int    `json:"status"`
		Kind          string `json:"kind"`
		Code          string `json:"code"`
		RetryAfter    string `json:"retry_after"`
		Retryable     bool   `json:"retryable"`
		CoolDown      bool   `json:"cool_down"`
		ContentFilter bool   `json:"content_filter"`
		ContextWindow bool   `json:"context_window"`
	}{f.Status, f.Kind.String(), f.Code, f.RetryAfter.String(), f.Retryable, f.CoolDown, f.ContentFilter, f.ContextWindow}
}

// usageView formats a usage report.
func usageView(u *wire.Usage) any {
	return struct {
		Source  string       `json:"source"`
		Bad     bool         `json:"bad,omitzero"`
		Partial bool         `json:"partial,omitzero"`
		Tokens  usage.Tokens `json:"tokens"`
	}{u.Source.String(), u.Bad, u.Partial, u.Tokens}
}

// request shows a call as HTTP.
func request(t *testing.T, c driver.Call) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s\n", c.Path)
	for _, h := range c.Headers {
		fmt.Fprintf(&b, "%s: %s\n", h.Name, h.Value.Reveal())
	}
	if !jsontext.Value(c.Body).IsValid() {
		t.Errorf("the body is not valid JSON: %s", c.Body)
	}
	return append(append(b.Bytes(), '\n'), pretty(c.Body)...)
}

// refusal shows a fault as HTTP.
func refusal(l language, e *fault.Error) []byte {
	return answer(e.HTTPStatus(), e.Headers(), l.dialect.EncodeError(e, "req_golden"))
}

// answer shows an answer as HTTP.
func answer(status int, headers []fault.Header, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\ncontent-type: application/json\n", status)
	for _, h := range headers {
		fmt.Fprintf(&b, "%s: %s\n", h.Name, h.Value)
	}
	return append(append(b.Bytes(), '\n'), pretty(body)...)
}

// parse reads reply.http: a status, headers, an empty line and a body.
func parse(t *testing.T, raw []byte) (status int, header func(string) string, body []byte) {
	t.Helper()
	head, body, _ := bytes.Cut(raw, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	status, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		t.Fatalf("%s: %v", replyHTTP, err)
	}
	return status, func(name string) string {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+":") })
		if i < 0 {
			return ""
		}
		return strings.TrimSpace(strings.TrimPrefix(lines[i], name+":"))
	}, body
}

// event is one server-sent event.
type event struct{ name, data string }

// events splits a well-formed stream.
func events(body []byte) []event {
	var out []event
	for block := range strings.SplitSeq(strings.TrimSpace(string(body)), "\n\n") {
		var e event
		for line := range strings.SplitSeq(block, "\n") {
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				e.name = name
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				e.data = data
			}
		}
		out = append(out, e)
	}
	return out
}

// marshal writes a value of the test's own.
func marshal(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
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
