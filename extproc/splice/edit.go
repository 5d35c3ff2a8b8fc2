package splice

import (
	"cmp"
	"slices"
)

// Edit replaces the bytes [Off, End) of a body. If Off equals End, it inserts.
type Edit struct {
	Off, End int
	With     string
}

// Apply returns body with the edits applied, in the memory of dst if it suffices. The edits
// must be in order and not overlap; edits at the same offset keep their order. Without edits it
// returns body itself and does not change dst. dst must not share memory with body.
func Apply(dst, body []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return body
	}
	dst = slices.Grow(dst[:0], Length(body, edits))
	from := 0
	for i := range edits {
		e := &edits[i]
		dst = Append(dst, body[from:e.Off])
		dst = append(dst, e.With...)
		from = e.End
	}
	return Append(dst, body[from:])
}

// Length returns the length of what Apply returns.
func Length(body []byte, edits []Edit) int {
	n := len(body)
	for i := range edits {
		n += len(edits[i].With) - (edits[i].End - edits[i].Off)
	}
	return n
}

// Append is append for a long src. It copies in steps, because the garbage collector can stop a
// goroutine between two copies but not within one.
func Append(dst, src []byte) []byte {
	const step = 256 << 10
	for len(src) > step {
		dst = append(dst, src[:step]...)
		src = src[step:]
	}
	return append(dst, src...)
}

// Member is a new value of a field.
type Member struct {
	Field Field
	Raw   string // valid JSON
}

// Plan describes the edits of a request body. The zero value changes nothing. Of a form only
// Model and Remove change something.
type Plan struct {
	Model   string   // the model's name at the provider; "" keeps the current one
	Instead string   // members in place of the model, in a JSON body whose address names it; "" for none
	Usage   bool     // set stream_options.include_usage to true
	Remove  FieldSet // fields to remove; Model always stays in a JSON body
	Prepend string   // JSON objects, separated by commas, to insert before the messages
	Set     []Member // values to set; not for Model or a field of Remove, and not StreamOptions with Usage
	System  bool     // messages of the role developer get the role system
}

// Edits appends the edits of the plan to dst, in order. It appends none for values that are
// already right. New members follow model. A model that only the path names is added, and one in a body
// that has none (OwnModel) is removed.
func (r *Request) Edits(dst []Edit, p *Plan) []Edit {
	if r.form != nil {
		return r.form.edits(dst, r, p)
	}
	if !r.Has(Model) && !r.OwnModel {
		dst = r.first(dst, p)
	}
	lead := uint32(0) // members removed so far from the start of the object
	for _, f := range r.order[:r.known] {
		m := &r.members[f]
		switch {
		case f == Model && p.Instead != "" && !r.OwnModel:
			dst = append(dst, Edit{int(m.from), int(m.end), p.Instead})
			dst = r.inserted(dst, p, int(m.end))
		case f == Model && !r.OwnModel:
			dst = r.model(dst, p.Model)
			dst = r.inserted(dst, p, int(r.members[Model].end))
		case p.Remove.Has(f) || f == Model:
			e := Edit{Off: int(m.prev), End: int(m.end)}
			if m.n == lead { // no member is left before it, so the comma after it is removed instead
				lead++
				if e.Off = int(m.from); m.next != 0 {
					e.End = int(m.next)
				}
			}
			dst = append(dst, e)
		case f == StreamOptions && p.Usage:
			dst = r.requestUsage(dst)
		case f == Messages && (p.Prepend != "" || p.System) && r.MessageCount > 0:
			if at := int(m.off) + 1; p.Prepend != "" {
				dst = append(dst, Edit{at, at, p.Prepend}, Edit{at, at, ","})
			}
			if p.System {
				dst = r.system(dst)
			}
		default:
			if raw, ok := p.value(f); ok && raw != string(m.value().Of(r.body)) {
				dst = append(dst, Edit{int(m.off), int(m.end), raw})
			}
		}
	}
	return dst
}

// value returns the value that the plan sets for a field.
func (p *Plan) value(f Field) (string, bool) {
	for i := range p.Set {
		if p.Set[i].Field == f {
			return p.Set[i].Raw, true
		}
	}
	return "", false
}

// model replaces the model's name. If the old name has no escapes, only the text between the
// quotes is replaced, which avoids a quoted copy.
func (r *Request) model(dst []Edit, name string) []Edit {
	if name == "" {
		name = r.Model // another one than the body's, if the path names it
	}
	v := r.members[Model].value()
	if name == r.Model && (r.PathModel == "" || string(v.Of(r.body)) == string(Quote(nil, name))) {
		return dst
	}
	if plain(name) {
		return append(dst, Edit{v.Off + 1, v.End - 1, name})
	}
	return append(dst, Edit{v.Off, v.End, string(Quote(nil, name))})
}

// first adds the model as the first member, and then those that the plan sets.
func (r *Request) first(dst []Edit, p *Plan) []Edit {
	at := r.start + 1
	member := p.Instead
	if member == "" {
		member = `"model":` + string(Quote(nil, cmp.Or(p.Model, r.Model)))
	}
	dst = append(dst, Edit{at, at, member})
	if dst = r.inserted(dst, p, at); r.left(p) {
		dst = append(dst, Edit{at, at, ","})
	}
	return dst
}

// left reports whether the plan leaves a member of the body.
func (r *Request) left(p *Plan) bool {
	s := scanner{b: r.body}
	if r.body[s.space(r.start+1)] == '}' {
		return false
	}
	w := s.members(r.start)
	for w.next() {
		w.at = s.value(w.at)
	}
	removed := 0
	for _, f := range r.order[:r.known] {
		if p.Remove.Has(f) {
			removed++
		}
	}
	return w.n > removed
}

// inserted adds the members that the plan sets and the body lacks.
func (r *Request) inserted(dst []Edit, p *Plan, at int) []Edit {
	if p.Usage && (!r.Has(StreamOptions) || p.Remove.Has(StreamOptions)) {
		dst = append(dst, Edit{at, at, `,"stream_options":{"include_usage":true}`})
	}
	for i := range p.Set {
		if f := p.Set[i].Field; f < fields && !r.Has(f) {
			dst = append(dst, Edit{at, at, `,"`}, Edit{at, at, f.String()}, Edit{at, at, `":`}, Edit{at, at, p.Set[i].Raw})
		}
	}
	return dst
}

// requestUsage sets include_usage within existing stream_options.
func (r *Request) requestUsage(dst []Edit) []Edit {
	v := r.members[StreamOptions].value()
	switch {
	case r.IncludeUsage:
		return dst
	case r.body[v.Off] == 'n':
		return append(dst, Edit{v.Off, v.End, `{"include_usage":true}`})
	case !r.usage.Empty():
		return append(dst, Edit{r.usage.Off, r.usage.End, "true"})
	}
	at := v.Off + 1
	dst = append(dst, Edit{at, at, `"include_usage":true`})
	s := scanner{b: r.body}
	if r.body[s.space(at)] != '}' {
		dst = append(dst, Edit{at, at, ","})
	}
	return dst
}

// Replace returns body with the value at span replaced by raw, in the memory of dst if it
// suffices. It returns body itself if the span is empty or already contains raw. Use it with
// Quote for the model's name in responses.
func Replace(dst, body []byte, span Span, raw []byte) []byte {
	if span.Empty() || string(span.Of(body)) == string(raw) {
		return body
	}
	dst = slices.Grow(dst[:0], len(body)-(span.End-span.Off)+len(raw))
	dst = append(dst, body[:span.Off]...)
	dst = append(dst, raw...)
	return append(dst, body[span.End:]...)
}
