package splice

import (
	"slices"
)

// Edit replaces the bytes [Off, End) of a body. If Off equals End it inserts.
type Edit struct {
	Off, End int
	With     string
}

// Apply returns body with the edits made, in the memory of dst as far as that
// suffices. The edits must be in order and not overlap; those at one place are made
// in their order. Without edits it returns body itself and leaves dst alone. dst
// must not share memory with body.
func Apply(dst, body []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return body
	}
	size := len(body)
	for i := range edits {
		size += len(edits[i].With) - (edits[i].End - edits[i].Off)
	}
	dst = slices.Grow(dst[:0], size)
	from := 0
	for i := range edits {
		e := &edits[i]
		dst = Append(dst, body[from:e.Off])
		dst = append(dst, e.With...)
		from = e.End
	}
	return Append(dst, body[from:])
}

// Append is append for a long src. It copies in steps: the collector can stop a goroutine
// between two, but not in the middle of one.
func Append(dst, src []byte) []byte {
	const step = 256 << 10
	for len(src) > step {
		dst = append(dst, src[:step]...)
		src = src[step:]
	}
	return append(dst, src...)
}

// Member is a value to give to a field.
type Member struct {
	Field Field
	Raw   string // valid JSON
}

// Plan says how a request's body shall change. The zero value changes nothing.
type Plan struct {
	Model   string   // the model's name at the provider; "" leaves it
	Usage   bool     // set stream_options.include_usage to true
	Remove  FieldSet // fields to remove, if they are there; Model stays in any case
	Prepend string   // JSON objects with commas between them, to stand before the messages
	Set     []Member // values to set; not for Model, nor for a field of Remove, nor StreamOptions with Usage
}

// Edits appends to dst the edits that carry out the plan, in order. It appends
// nothing for what is so already. New members come right behind model, the one
// member that is always there.
func (r *Request) Edits(dst []Edit, p *Plan) []Edit {
	lead := 0 // members removed so far from the very beginning of the object
	for _, f := range r.order[:r.known] {
		m := &r.members[f]
		switch {
		case f == Model:
			dst = r.model(dst, p.Model)
			dst = r.inserted(dst, p)
		case p.Remove.Has(f):
			e := Edit{Off: m.prev, End: m.value.End}
			if m.n == lead { // nothing is left before it: the comma behind it goes, not the one before
				lead++
				if e.Off = m.from; m.next != 0 {
					e.End = m.next
				}
			}
			dst = append(dst, e)
		case f == StreamOptions && p.Usage:
			dst = r.askUsage(dst)
		case f == Messages && p.Prepend != "" && r.MessageCount > 0:
			at := m.value.Off + 1
			dst = append(dst, Edit{at, at, p.Prepend}, Edit{at, at, ","})
		default:
			if raw, ok := p.value(f); ok && raw != string(m.value.Of(r.body)) {
				dst = append(dst, Edit{m.value.Off, m.value.End, raw})
			}
		}
	}
	return dst
}

// value returns what the plan sets a field to.
func (p *Plan) value(f Field) (string, bool) {
	for i := range p.Set {
		if p.Set[i].Field == f {
			return p.Set[i].Raw, true
		}
	}
	return "", false
}

// model replaces the model's name. Of a name without escapes only what is between
// the quotes is replaced, which saves making a quoted copy.
func (r *Request) model(dst []Edit, name string) []Edit {
	if name == "" || name == r.Model {
		return dst
	}
	v := r.members[Model].value
	if plain(name) {
		return append(dst, Edit{v.Off + 1, v.End - 1, name})
	}
	return append(dst, Edit{v.Off, v.End, string(Quote(nil, name))})
}

// inserted adds the members that the plan wants and the body lacks.
func (r *Request) inserted(dst []Edit, p *Plan) []Edit {
	at := r.members[Model].value.End
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

// askUsage sets include_usage within the stream_options that are there.
func (r *Request) askUsage(dst []Edit) []Edit {
	v := r.members[StreamOptions].value
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

// Replace returns body with the value at span replaced by raw, in the memory of dst
// as far as that suffices. It returns body itself if the span is empty or holds raw
// already. Use it with Quote for the model's name in answers.
func Replace(dst, body []byte, span Span, raw []byte) []byte {
	if span.Empty() || string(span.Of(body)) == string(raw) {
		return body
	}
	dst = slices.Grow(dst[:0], len(body)-(span.End-span.Off)+len(raw))
	dst = append(dst, body[:span.Off]...)
	dst = append(dst, raw...)
	return append(dst, body[span.End:]...)
}
