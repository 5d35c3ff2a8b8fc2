package guard

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// Request examines a request, and returns the body that goes on: the same if nothing changes. A
// *fault.Error of kind Blocked says that the request must not go on.
func (s *Screen) Request(ctx context.Context, reader texts.Reader, body []byte) ([]byte, error) {
	body, err := s.offered(body)
	if err != nil {
		return nil, err
	}
	c, err := s.requestChain(ctx)
	if err != nil {
		return nil, err
	}
	w := walk{s: s, hook: guardrails.PreCall, c: c, body: body, media: s.unreadable(guardrails.PreCall)}
	for t := range reader.Request(body) {
		if err := w.text(ctx, &t); err != nil {
			return nil, err
		}
	}
	return splice.Apply(nil, body, w.edits), nil
}

// Field is a field of a form.
type Field struct {
	splice.Span

	Name string
	Kind texts.Kind // Media for a file
}

// Form is Request for a body that is a form with these fields.
func (s *Screen) Form(ctx context.Context, body []byte, fields []Field) ([]byte, error) {
	c, err := s.requestChain(ctx)
	if err != nil {
		return nil, err
	}
	w := walk{s: s, hook: guardrails.PreCall, c: c, body: body, media: s.unreadable(guardrails.PreCall)}
	for i := range fields {
		f := &fields[i]
		w.form = f.Name
		t := texts.Text{Span: f.Span, Kind: f.Kind, Role: texts.User}
		if f.Kind == texts.Media {
			if err := w.unread(&t); err != nil {
				return nil, err
			}
			continue
		}
		if w.size += f.End - f.Off; w.size > MaxText {
			return nil, tooLong()
		}
		c.place = w.at(&t)
		out, changed, err := c.once(ctx, f.Kind, t.Role, f.Of(body))
		if err != nil {
			return nil, err
		}
		if changed {
			w.edits = append(w.edits, splice.Edit{Off: f.Off, End: f.End, With: string(out)})
		}
	}
	return splice.Apply(nil, body, w.edits), nil
}

// tooLong is the error for more text than MaxText.
func tooLong() error {
	return &fault.Error{
		Kind: fault.TooLarge, Code: "guardrail_text_too_large",
		Detail: "Guardrails examine at most 8 MiB of text in a request or response. Send less text.",
	}
}

// Answer examines the texts of a whole response, in the caller's language, and returns the body that goes
// on: the same if nothing changes. structured says that its content is JSON.
func (s *Screen) Answer(ctx context.Context, reader texts.Reader, body []byte, structured bool) ([]byte, error) {
	w := walk{s: s, hook: guardrails.PostCall, body: body, answer: true, structured: structured, media: s.unreadable(guardrails.PostCall)}
	for t := range reader.Answer(body) {
		if err := w.text(ctx, &t); err != nil {
			return nil, err
		}
	}
	return splice.Apply(nil, body, w.edits), nil
}

// walk takes the texts of a body through a chain.
type walk struct {
	s          *Screen
	hook       string
	c          *chain // of a request for all texts, and of an answer for one: its texts do not know each other
	body       []byte
	answer     bool
	structured bool
	media      []*unit // that do not let pass what they cannot read
	paths      *texts.Paths
	json       jsonText
	form       string // the field of a form
	plain      []byte
	size       int
	edits      []splice.Edit
}

func (w *walk) text(ctx context.Context, t *texts.Text) error {
	switch w.size += t.End - t.Off; {
	case t.Kind == texts.Media:
		w.size -= t.End - t.Off
		return w.unread(t)
	case w.size > MaxText:
		return tooLong()
	case t.Kind == texts.Logprobs:
		w.logprobs(t)
		return nil
	case t.Kind == texts.ToolName && w.answer:
		if err := w.s.called(w.name(t), w.at(t)); err != nil {
			return err
		}
	}
	raw := t.Of(w.body)
	if len(raw) == 0 {
		return nil
	}
	if w.answer {
		c, err := w.s.answerChain(ctx)
		if err != nil {
			return err
		}
		defer c.release()
		w.c = c
	}
	if len(w.c.steps) == 0 {
		return nil
	}
	w.c.quiet = t.Repeat
	w.c.place = func() string { return w.at(t)() }
	if t.JSON {
		if t.Kind == texts.Content && !w.answer && isTokens(raw) {
			return w.unread(t)
		}
		return w.document(ctx, t, raw)
	}
	plain := w.unquoted(raw)
	if t.Kind == texts.ToolName {
		w.c.fixed = true
		_, _, err := w.c.once(ctx, t.Kind, t.Role, plain)
		w.c.fixed = false
		return err
	}
	out, changed, err := w.examined(ctx, t, plain)
	if err == nil && changed {
		quoted := splice.Quote(nil, string(out))
		w.edits = append(w.edits, splice.Edit{Off: t.Off, End: t.End, With: string(quoted[1 : len(quoted)-1])})
	}
	return err
}

// examined returns what a text becomes: JSON in it stays JSON.
func (w *walk) examined(ctx context.Context, t *texts.Text, plain []byte) (out []byte, changed bool, err error) {
	switch {
	case (t.Kind == texts.Arguments || t.Kind == texts.Content && w.structured && w.answer) && isJSON(plain):
		return w.inner(ctx, t, plain)
	case !w.answer && isDocument(plain):
		w.begin(t)
		out, err = w.json.document(ctx, plain)
		return out, w.c.replaced, err
	}
	return w.c.once(ctx, t.Kind, t.Role, plain)
}

// isTokens reports whether JSON is a list of numbers: a text as tokens, which nobody can read here.
func isTokens(raw []byte) bool {
	for _, c := range raw[1:] {
		if !space(c) {
			return c >= '0' && c <= '9'
		}
	}
	return false
}

// isJSON reports whether a text begins as an object or array does.
func isJSON(text []byte) bool {
	for _, c := range text {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == '{' || c == '['
		}
	}
	return false
}

// at returns the function that names the place of a text.
func (w *walk) at(t *texts.Text) func() string {
	off := t.Off
	return func() string {
		if w.form != "" {
			return texts.Member(strings.TrimSuffix(w.form, "[]"))
		}
		if w.paths == nil {
			w.paths = texts.NewPaths(w.body)
		}
		return w.paths.Place(off)
	}
}

// document examines a text that is JSON: an object or array.
func (w *walk) document(ctx context.Context, t *texts.Text, raw []byte) error {
	out, changed, err := w.inner(ctx, t, raw)
	if err == nil && changed {
		w.edits = append(w.edits, splice.Edit{Off: t.Off, End: t.End, With: string(out)})
	}
	return err
}

// inner examines JSON, and reports whether its bytes change. Of a request they stay if nothing is replaced, as
// providers cache prompts by their bytes. Of a response they are those that a stream would have.
func (w *walk) inner(ctx context.Context, t *texts.Text, raw []byte) (out []byte, changed bool, err error) {
	w.begin(t)
	if out, err = w.json.push(ctx, raw, true); err != nil {
		return nil, false, err
	}
	return out, w.c.replaced || w.answer && !bytes.Equal(out, raw), nil
}

// begin begins a text that is JSON.
func (w *walk) begin(t *texts.Text) {
	w.json.c, w.json.whole, w.json.free = w.c, !w.answer, false
	w.json.begin(t.Kind, t.Role)
	w.c.replaced = false
}

// unquoted returns the text of the inside of a JSON string.
func (w *walk) unquoted(raw []byte) []byte {
	if slices.Contains(raw, '\\') {
		w.plain = splice.AppendPlain(w.plain[:0], raw)
		return w.plain
	}
	return raw
}

func (w *walk) name(t *texts.Text) string { return string(w.unquoted(t.Of(w.body))) }

// logprobs takes the probabilities of tokens out: they have the text once more, as it was.
func (w *walk) logprobs(t *texts.Text) {
	if w.answer && w.s.changes() {
		w.edits = append(w.edits, splice.Edit{Off: t.Off, End: t.End, With: without(t.Of(w.body))})
	}
}

// without returns what takes the place of probabilities.
func without(raw []byte) string {
	if len(raw) > 0 && raw[0] == '[' {
		return "[]"
	}
	return "null"
}

// unreadable returns the engines of a hook that do not let pass what nobody can read.
func (s *Screen) unreadable(hook string) (out []*unit) {
	runs := s.pre
	if hook == guardrails.PostCall {
		runs = s.post
	}
	for _, r := range runs {
		if r.unit.tools == nil {
			out = append(out, r.unit)
		}
	}
	return out
}

// unread records a picture, sound or file, which no engine can read, or blocks it.
func (w *walk) unread(t *texts.Text) error {
	for _, u := range w.media {
		action := Flag
		if u.readable {
			action = Block
		}
		w.s.note(&usage.Violation{
			Guardrail: u.guardrail, Engine: u.name, Hook: w.hook, Entity: unscannable, Action: string(action), Place: w.at(t)(), Count: 1,
		})
		if action == Block {
			return w.s.blocked(u, w.hook, "a picture, sound, a file or tokens, which cannot be examined")
		}
	}
	return nil
}

// unscannable is the entity of what no engine can read.
const unscannable = "UNSCANNABLE"
