package extproc

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// greetings is an engine that finds the texts of the tests' requests and responses.
type greetings struct{}

func (g greetings) Scanner() engine.Scanner    { return g }
func (g greetings) Fork() engine.Scanner       { return g }
func (greetings) Begin(texts.Kind, texts.Role) {}
func (greetings) Reset()                       {}

func (greetings) Scan(_ context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) {
	for i := at; i < len(text); i++ {
		for _, word := range []string{"Hello", "Hi there"} {
			switch rest := string(text[i:]); {
			case strings.HasPrefix(rest, word):
				found = append(found, engine.Finding{Start: i, End: i + len(word), Entity: "GREETING", Score: 1})
			case !end && strings.HasPrefix(word, rest):
				return found, i, nil
			}
		}
	}
	return found, len(text), nil
}

// withGuardrails gives a kit guardrails, by their names.
func withGuardrails(tb testing.TB, all map[string]guardrails.Guardrail) change {
	tb.Helper()
	var state recordtest.State
	set := guardrails.New()
	tx := record.NewTxn(time.Unix(1_700_000_000, 0), "ada")
	for name, g := range all {
		g.Head = resource.Head{ID: id.NewUUID(), Name: name, Organization: g.Organization}
		if _, err := set.Create(tx, g); err != nil {
			tb.Fatal(err)
		}
	}
	changes, _, err := state.Commit(tx)
	if err != nil {
		tb.Fatal(err)
	}
	set, broken := set.With(changes)
	if len(broken) > 0 {
		tb.Fatal(broken[0])
	}
	return func(_ *kit, d *pipeline.Deps) {
		view := *d.View()
		view.Guardrails = set
		d.View = func() *cluster.View { return &view }
		d.Guardrails = guard.NewLibrary(map[string]guard.Maker{
			"presidio": func(*guardrails.Engine) (engine.Engine, error) { return greetings{}, nil },
		})
	}
}

func greeting(action string, hooks ...string) guardrails.Guardrail {
	return guardrails.Guardrail{Engines: []guardrails.Engine{{Name: "presidio", Action: action, Hooks: hooks}}}
}

func bothHooks(action string) guardrails.Guardrail {
	return greeting(action, guardrails.PreCall, guardrails.PostCall)
}

// TestGuardrailsInEveryLanguage sends requests with a text that a guardrail replaces, in each language, to each
// provider. Neither provider nor caller gets the text, whole and streamed.
func TestGuardrailsInEveryLanguage(t *testing.T) {
	t.Parallel()
	for caller, asked := range languageCases() {
		for provider, served := range providerCases() {
			if _, ok := served.path[caller]; !ok {
				continue
			}
			t.Run(caller+" to "+provider, func(t *testing.T) {
				t.Parallel()
				k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{served.deployment}, Router: quick(0)},
					withGuardrails(t, map[string]guardrails.Guardrail{"polite": bothHooks("")}))
				e := k.open(t)
				asks := strings.Replace(asked.body, "{", `{"guardrail_id":"polite",`, 1)
				out := e.request(to(e, asked.path), asks)
				if out.refused != nil || strings.Contains(out.body, "Hello") || strings.Contains(out.body, "guardrail") || !strings.Contains(out.body, "[GREETING]") {
					t.Fatalf("the provider gets %s, refused %+v", out.body, out.refused)
				}
				a := e.answer(jsonAnswer(served.whole))
				if a.status != 200 || strings.Contains(a.body, "there.") || !strings.Contains(a.body, "[GREETING].") || a.headers["x-gateway-applied-guardrails"] != "polite" {
					t.Errorf("the caller gets %d %s, guardrails %q", a.status, a.body, a.headers["x-gateway-applied-guardrails"])
				}
				recordedTheSame(t, k, e)
				for _, pieces := range [][]string{{served.stream}, bytesOf(served.stream)} {
					e := k.open(t)
					if out := e.request(to(e, asked.path), strings.Replace(asks, "{", `{"stream":true,`, 1)); out.refused != nil {
						t.Fatalf("rejected: %+v", out.refused)
					}
					c := streamAnswer()
					c.pieces = pieces
					a := e.answer(c)
					end := a.body[strings.LastIndex(strings.TrimSuffix(a.body, "\n\n"), "\n\n")+2:]
					if !strings.HasPrefix(end, asked.last) && end != asked.last {
						t.Errorf("the stream ends with %q", end)
					}
					if strings.Contains(a.body, `"Hi`) || strings.Contains(a.body, "there.") || !strings.Contains(a.body, "[GREETING].") {
						t.Errorf("the caller gets %s", a.body)
					}
					recordedTheSame(t, k, e)
				}
				k.settled()
			})
		}
	}
}

// TestBlockedByAGuardrail blocks requests and responses, whole and streamed.
func TestBlockedByAGuardrail(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), withGuardrails(t, map[string]guardrails.Guardrail{
		"in": greeting("block", guardrails.PreCall), "out": greeting("block", guardrails.PostCall),
	}))
	e := k.open(t)
	out := e.ask(strings.Replace(hello, "{", `{"guardrails":["in"],`, 1))
	if out.refused == nil || out.refused.status != 400 || !strings.Contains(out.refused.body, `"code":"guardrail_blocked"`) ||
		!strings.Contains(out.refused.body, `"guardrail_id":"in"`) || strings.Contains(out.refused.body, "Hello") {
		t.Fatalf("the request is answered with %+v", out.refused)
	}
	if n := k.notices(e.uuid); len(n) != 1 || n[0].Notice.Code != "guardrail_blocked" {
		t.Errorf("noticed %+v", n)
	}
	e = k.open(t)
	e.ask(strings.Replace(hello, "{", `{"guardrail_id":"out",`, 1))
	a := e.answer(jsonAnswer(strings.Replace(goodReply, "X", "Hi there.", 1)))
	if a.status != 400 || !strings.Contains(a.body, "guardrail_blocked") {
		t.Errorf("the response is %d %s", a.status, a.body)
	}
	if ev := k.event(e.uuid); ev.Outcome != journal.Success || ev.ErrorCode != "guardrail_blocked" || ev.ClientStatus != 400 || ev.Tokens.Output == 0 {
		t.Errorf("recorded %+v", ev)
	}
	e = k.open(t)
	e.ask(strings.Replace(hello, "{", `{"stream":true,"guardrail_id":"out",`, 1))
	c := streamAnswer()
	c.pieces = []string{text("So ") + text("Hi ") + text("there.") + stop() + done}
	a = e.answer(c)
	if !strings.Contains(a.body, "So ") || strings.Contains(a.body, "Hi") || !strings.Contains(a.body, "guardrail_blocked") || strings.Contains(a.body, "DONE") {
		t.Errorf("the stream is %s", a.body)
	}
	if ev := k.event(e.uuid); ev.ErrorCode != "guardrail_blocked" || ev.Tokens.Output == 0 {
		t.Errorf("recorded %+v", ev)
	}
	k.settled()
}

// TestWhichGuardrailsApply names guardrails in each place.
func TestWhichGuardrailsApply(t *testing.T) {
	t.Parallel()
	on := bothHooks("flag")
	on.DefaultOn = true
	foreign := bothHooks("")
	foreign.Organization = "other"
	k := newKit(t, one(), withGuardrails(t, map[string]guardrails.Guardrail{"a": bothHooks(""), "b": bothHooks(""), "always": on, "foreign": foreign}))
	for name, c := range map[string]struct{ member, header, want, param string }{
		"none":                {want: "always"},
		"one":                 {member: `"guardrail_id":"a"`, want: "a,always"},
		"a list":              {member: `"guardrails":["b","a","b"]`, want: "b,a,always"},
		"by default too":      {member: `"guardrails":["always"]`, want: "always"},
		"a header":            {header: "b", want: "b,always"},
		"metadata":            {member: `"metadata":{"guardrails":["a"],"x":"y"}`, want: "a,always"},
		"LiteLLM's metadata":  {member: `"litellm_metadata":{"guardrails":["a"]},"guardrail_id":"b"`, want: "b,a,always"},
		"null":                {member: `"guardrail_id":null,"guardrails":[]`, want: "always"},
		"unknown":             {member: `"guardrails":["a","c"]`, param: "guardrails"},
		"another's":           {member: `"metadata":{"guardrail_id":"foreign"}`, param: "metadata.guardrail_id"},
		"another type":        {member: `"guardrails":[{"a":{"extra_body":{}}}]`, param: "guardrails"},
		"a number":            {member: `"guardrail_id":7`, param: "guardrail_id"},
		"an empty name":       {member: `"guardrail_id":""`, param: "guardrail_id"},
		"a header of unknown": {header: "c", param: "x-gateway-guardrail-id"},
	} {
		e := k.open(t)
		body := hello
		if c.member != "" {
			body = strings.Replace(hello, "{", "{"+c.member+",", 1)
		}
		var headers []string
		if c.header != "" {
			headers = []string{"x-gateway-guardrail-id", c.header}
		}
		out := e.ask(body, headers...)
		if c.param != "" {
			if out.refused == nil || out.refused.status != 400 || !strings.Contains(out.refused.body, `"param":"`+c.param+`"`) {
				t.Errorf("%s: %+v", name, out.refused)
			}
			e.close()
			continue
		}
		if a := strings.Contains(c.want, "a,") || c.want[0] == 'b'; a == strings.Contains(out.body, "Hello") {
			t.Errorf("%s: the provider gets %s", name, out.body)
		}
		if strings.Contains(out.body, "guardrail") || strings.Contains(name, "metadata") && !strings.Contains(name, "LiteLLM") && !strings.Contains(out.body, `"metadata":{"x":"y"}`) {
			t.Errorf("%s: the provider gets %s", name, out.body)
		}
		if a := e.answer(jsonAnswer(goodReply)); a.headers["x-gateway-applied-guardrails"] != c.want {
			t.Errorf("%s: %q were applied, want %q", name, a.headers["x-gateway-applied-guardrails"], c.want)
		}
	}
}

// TestTranscriptionsWithGuardrails examines what is heard, in each form in which providers send it.
func TestTranscriptionsWithGuardrails(t *testing.T) {
	t.Parallel()
	always, stops := bothHooks(""), greeting("block", guardrails.PostCall)
	always.DefaultOn = true
	k := newKit(t, sold(bySecond()), withGuardrails(t, map[string]guardrails.Guardrail{"polite": always, "strict": stops}))
	for media, heard := range map[string]string{
		"text/plain; charset=utf-8": "Hi there.", "application/x-subrip": "1\n00:00:00,000 --> 00:00:02,500\nHi there.\n", "application/json": `{"text":"Hi there."}`,
	} {
		e := k.open(t)
		if out := e.request(toForm(e, "/v1/audio/transcriptions"), form("file", wav(2500), "model=fast", "response_format=srt")); out.refused != nil {
			t.Fatalf("rejected: %+v", out.refused)
		}
		a := e.answer(came{status: 200, headers: []string{"content-type", media}, pieces: []string{heard}})
		if want := strings.Replace(heard, "Hi there", "[GREETING]", 1); a.status != 200 || a.body != want || a.headers["content-length"] != itoa(len(want)) {
			t.Errorf("%s: the caller gets %d %v %q", media, a.status, a.headers, a.body)
		}
		if found := k.event(e.uuid).Violations; len(found) != 2 || found[1].Hook != guardrails.PostCall || found[1].Action != "anonymize" {
			t.Errorf("%s: recorded %+v", media, found)
		}
		e = k.open(t)
		if out := e.request(toForm(e, "/v1/audio/transcriptions"), form("file", wav(2500), "model=fast", "guardrail_id=strict", "response_format=text")); out.refused != nil {
			t.Fatalf("rejected: %+v", out.refused)
		}
		a = e.answer(came{status: 200, headers: []string{"content-type", media}, pieces: []string{heard}})
		if a.status != 400 || strings.Contains(a.body, "Hi there") || !strings.Contains(a.body, `"guardrail_blocked"`) {
			t.Errorf("%s, blocked: the caller gets %d %q", media, a.status, a.body)
		}
	}
	k.settled()
}
