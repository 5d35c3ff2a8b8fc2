package extproc

import (
	"context"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// holder is an engine that decides nothing before a full stop.
type holder struct{}

func (h holder) Scanner() engine.Scanner    { return h }
func (h holder) Fork() engine.Scanner       { return h }
func (holder) Begin(texts.Kind, texts.Role) {}
func (holder) Reset()                       {}

func (holder) Scan(_ context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) { //nolint:revive // says where the text ends, and is no mode
	if i := strings.LastIndexByte(string(text[at:]), '.'); i >= 0 && !end {
		return found, at + i + 1, nil
	}
	if end {
		at = len(text)
	}
	return found, at, nil
}

// TestHeldBackStreamStaysOpen: a guardrail that has held back all of a stream for five seconds sends a comment in place of the
// next piece, once for each five seconds, so that no proxy between ends the connection. Then the text leaves in one piece.
func TestHeldBackStreamStaysOpen(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), withGuardrails(t, map[string]guardrails.Guardrail{"slow": bothHooks("")}), func(_ *kit, d *pipeline.Deps) {
		d.Guardrails = guard.NewLibrary(map[string]guard.Maker{"presidio": func(*guardrails.Engine) (engine.Engine, error) { return holder{}, nil }})
	})
	e := k.open(t)
	if out := e.request(plainHeaders(e.uuid, "authorization", "Bearer "+appKey), strings.Replace(hello, "{", `{"stream":true,"guardrail_id":"slow",`, 1)); out.refused != nil {
		t.Fatalf("%+v", out.refused)
	}
	c := streamAnswer()
	e.head(c)
	e.begun(c)
	const comment = ":\n\n"
	for i, step := range []struct {
		seconds     int64
		piece, want string
	}{
		{0, "One", ""},
		{4, " two", ""},
		{2, " three", comment},
		{4, " four", ""},
		{2, " five", comment},
		{0, " six", ""},
		{9, ".", "One two three four five six."},
		{1, " Seven", ""},
		{5, " eight", comment},
	} {
		k.ticks.Add(step.seconds * 1000)
		e.piece(text(step.piece))
		got := e.out(text(step.piece))
		if step.want == comment || step.want == "" {
			if got != step.want {
				t.Errorf("step %d: the caller gets %q, want %q", i+1, got, step.want)
			}
		} else if !strings.Contains(got, `"`+step.want+`"`) || strings.Contains(got, comment+":") {
			t.Errorf("step %d: the caller gets %q, want %q", i+1, got, step.want)
		}
	}
	e.piece(stop()+done, last)
	if got := e.out(stop() + done); !strings.Contains(got, `" Seven eight"`) || !strings.HasSuffix(got, done) {
		t.Errorf("the end is %q", got)
	}
	e.close()
}

// TestSplitAcrossTexts: each text is examined alone. A value that is split across two messages, or two parts of one, is found in
// neither, and the parts of each keep their bytes.
func TestSplitAcrossTexts(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), withGuardrails(t, map[string]guardrails.Guardrail{"polite": bothHooks("")}))
	for _, messages := range []string{
		`[{"role":"user","content":"Hel"},{"role":"user","content":"lo"}]`,
		`[{"role":"user","content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]}]`,
		`[{"role":"system","content":"Hel"},{"role":"user","content":"lo Hello"}]`,
	} {
		e := k.open(t)
		out := e.request(plainHeaders(e.uuid, "authorization", "Bearer "+appKey), `{"model":"fast","guardrail_id":"polite","messages":`+messages+`}`)
		if want := strings.Replace(messages, "Hello", "[GREETING]", 1); out.refused != nil || !strings.Contains(out.body, want) {
			t.Errorf("the provider gets %s, want %s", out.body, want)
		}
		e.answer(jsonAnswer(goodReply))
	}
}
