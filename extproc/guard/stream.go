package guard

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// Stream examines the events of a response, in the caller's language. Each text of the response (the content of a
// choice, the arguments of a call) has a field, which passes on what no later event can change. What
// is held back leaves before anything that follows the text.
type Stream struct {
	s          *Screen
	reader     texts.Reader
	structured bool // content is JSON
	fields     []*field
	flow       texts.Flow
	texts      []texts.Text
	edits      []splice.Edit
	again      *walk // for events that repeat whole texts
	plain      []byte
	data       []byte
}

// field is one text of the response.
type field struct {
	id       fieldID
	c        *chain
	json     jsonText
	isJSON   bool
	decided  bool // whether it is JSON
	template template
	seen     bool // in the current event
}

// fieldID says which text it is.
type fieldID struct {
	kind               texts.Kind
	choice, item, part int
}

// NewStream returns what examines a stream. structured says that the content is JSON.
func (s *Screen) NewStream(reader texts.Reader, structured bool) *Stream {
	return &Stream{s: s, reader: reader, structured: structured}
}

// Event takes an event, and appends to dst what the caller gets in its place. It says nothing to it that
// another event may change. A *fault.Error of kind Blocked ends the stream.
func (t *Stream) Event(ctx context.Context, dst []byte, e *splice.Event) ([]byte, error) {
	if len(e.Data) == 0 {
		return append(dst, e.Raw...), nil
	}
	t.reader.Flow(e.Data, &t.flow)
	t.texts = t.texts[:0]
	for text := range t.reader.Event(e.Data) {
		t.texts = append(t.texts, text)
	}
	for _, f := range t.fields {
		f.seen = slices.ContainsFunc(t.texts, func(x texts.Text) bool { return !x.Repeat && idOf(&x) == f.id })
	}
	dst, err := t.leave(ctx, dst)
	if err != nil {
		return dst, err
	}
	t.edits = t.edits[:0]
	emptied, kept := false, false
	for i := range t.texts {
		before := len(t.edits)
		if err := t.text(ctx, e, &t.texts[i]); err != nil {
			return dst, err
		}
		x := &t.texts[i]
		switch gone := len(t.edits) > before && t.edits[before].With == ""; {
		case x.Repeat || x.Kind == texts.Logprobs || x.Off == x.End:
		case gone:
			emptied = true
		default:
			kept = true
		}
	}
	t.close(func(f *field) bool { return f.seen && t.ends(f) })
	if emptied && !kept && t.flow.Bare {
		return dst, nil
	}
	if len(t.edits) == 0 {
		return append(dst, e.Raw...), nil
	}
	t.data = splice.Apply(t.data[:0], e.Data, t.edits)
	return e.Rewrite(dst, t.data), nil
}

// End ends all texts, and appends what was held back of them.
func (t *Stream) End(ctx context.Context, dst []byte) ([]byte, error) {
	t.flow = texts.Flow{All: true, Item: -1}
	for _, f := range t.fields {
		f.seen = false
	}
	return t.leave(ctx, dst)
}

// Release gives back what the stream has borrowed.
func (t *Stream) Release() {
	t.close(func(*field) bool { return true })
}

func idOf(x *texts.Text) fieldID { return fieldID{x.Kind, x.Choice, x.Item, x.Part} }

// ends reports whether the current event ends a text.
func (t *Stream) ends(f *field) bool {
	return t.flow.All || t.flow.Item >= 0 && f.id.item == t.flow.Item || slices.Contains(t.flow.Choices, f.id.choice)
}

// leave passes on what is held back of the texts that have ended before the current event: it says so, or it
// brings another text of the same choice.
func (t *Stream) leave(ctx context.Context, dst []byte) ([]byte, error) {
	over := func(f *field) bool {
		return !f.seen && (t.ends(f) || slices.ContainsFunc(t.texts, func(x texts.Text) bool {
			return !x.Repeat && x.Kind != texts.Citation && x.Choice == f.id.choice && x.Off < x.End
		}))
	}
	for _, f := range t.fields {
		if !over(f) {
			continue
		}
		text, err := f.push(ctx, nil, true)
		if err != nil {
			return dst, err
		}
		if len(text) > 0 {
			dst = f.template.append(dst, text)
		}
	}
	t.close(over)
	return dst, nil
}

// close forgets texts that have ended.
func (t *Stream) close(over func(*field) bool) {
	t.fields = slices.DeleteFunc(t.fields, func(f *field) bool {
		if !over(f) {
			return false
		}
		f.c.release()
		return true
	})
}

// text examines one text of the current event.
func (t *Stream) text(ctx context.Context, e *splice.Event, x *texts.Text) error {
	raw := x.Of(e.Data)
	switch {
	case x.Kind == texts.Media:
		return nil
	case x.Kind == texts.Logprobs:
		if t.s.changes() {
			t.edits = append(t.edits, splice.Edit{Off: x.Off, End: x.End, With: without(raw)})
		}
		return nil
	case x.Repeat && t.sibling(x):
		return nil
	case x.Repeat || x.JSON || x.Kind == texts.ToolName || x.Kind == texts.Citation:
		return t.whole(ctx, e, x)
	}
	begins := !t.flow.Bare && !t.reader.Choices()
	var first template
	if begins && (x.Off == x.End || !first.open(e, x)) {
		return t.whole(ctx, e, x)
	}
	f, err := t.field(ctx, e, x)
	if err != nil {
		return err
	}
	if begins {
		f.template = first
	} else {
		f.template.read(e, x, t.texts, &t.flow)
	}
	plain := raw
	if slices.Contains(raw, '\\') {
		t.plain = splice.AppendPlain(t.plain[:0], raw)
		plain = t.plain
	}
	out, err := f.push(ctx, plain, f.seen && t.ends(f))
	if err != nil || string(out) == string(plain) {
		return err
	}
	t.edits = append(t.edits, splice.Edit{Off: x.Off, End: x.End, With: inside(out)})
	return nil
}

// inside returns text as the inside of a JSON string.
func inside(text []byte) string {
	quoted := splice.Quote(nil, string(text))
	return string(quoted[1 : len(quoted)-1])
}

// sibling gives a text that stands twice in one event, as reasoning does under two names, what the first one
// has become.
func (t *Stream) sibling(x *texts.Text) bool {
	for i := range t.texts {
		o := &t.texts[i]
		if o.Off >= x.Off {
			return false
		}
		if !o.Repeat && idOf(o) == idOf(x) {
			if at := slices.IndexFunc(t.edits, func(e splice.Edit) bool { return e.Off == o.Off }); at >= 0 {
				t.edits = append(t.edits, splice.Edit{Off: x.Off, End: x.End, With: t.edits[at].With})
			}
			return true
		}
	}
	return false
}

// whole examines a text that is complete in this event: one that repeats what earlier events have brought,
// the name of a tool, or a JSON value, or one in an event that begins something other than a text.
func (t *Stream) whole(ctx context.Context, e *splice.Event, x *texts.Text) error {
	if t.again == nil {
		t.again = &walk{s: t.s, hook: guardrails.PostCall, answer: true, structured: t.structured}
	}
	w := t.again
	w.body, w.edits, w.paths, w.size = e.Data, w.edits[:0], nil, 0
	err := w.text(ctx, x)
	t.edits = append(t.edits, w.edits...)
	return err
}

// field returns the field of a text, which may be a new one.
func (t *Stream) field(ctx context.Context, e *splice.Event, x *texts.Text) (*field, error) {
	id := idOf(x)
	for _, f := range t.fields {
		if f.id == id {
			return f, nil
		}
	}
	c, err := t.s.answerChain(ctx)
	if err != nil {
		return nil, err
	}
	f := &field{id: id, c: c, seen: true, isJSON: x.Kind == texts.Arguments || t.structured && x.Kind == texts.Content}
	f.json.c = c
	place := placeOf(e.Data, x) // now: the event's bytes are gone when something is found
	f.c.place = func() string { return place }
	f.c.begin(x.Kind, x.Role)
	f.json.begin(x.Kind, x.Role)
	t.fields = append(t.fields, f)
	return f, nil
}

// placeOf names the place of a text of a stream, with the indexes that the event says. In the event itself the choice is
// most often the only one.
func placeOf(data []byte, x *texts.Text) string {
	place := texts.NewPaths(data).Place(x.Off)
	switch {
	case splice.Lookup(data, "output_index") != nil:
		return "output[" + strconv.Itoa(x.Item) + "]." + place
	case splice.Lookup(data, "index") != nil, splice.Lookup(data, "contentBlockIndex") != nil:
		return "content[" + strconv.Itoa(x.Item) + "]." + place
	}
	return indexed(indexed(place, "choices[", x.Choice), "tool_calls[", x.Item)
}

// indexed puts another index behind a list's name in a place.
func indexed(place, list string, index int) string {
	before, after, ok := strings.Cut(place, list)
	_, rest, closed := strings.Cut(after, "]")
	if !ok || !closed {
		return place
	}
	return before + list + strconv.Itoa(index) + "]" + rest
}

// push takes a piece of the field's text, and returns what can be passed on. Only an object or an array is
// examined as JSON: until the first character has come, neither is.
func (f *field) push(ctx context.Context, piece []byte, end bool) ([]byte, error) {
	if f.isJSON && !f.decided {
		for _, c := range piece {
			if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
				f.decided, f.isJSON = true, c == '{' || c == '['
				break
			}
		}
		if !f.decided {
			return piece, nil
		}
	}
	if f.isJSON {
		return f.json.push(ctx, piece, end)
	}
	return f.c.push(ctx, piece, end)
}
