package texts

import "strconv"

// Paths names places in one body, such as messages[2].content[0].text. Places in ascending order take
// time linear in the body together.
type Paths struct {
	b    []byte
	open []step // the objects and arrays around the last place, from the outermost
}

// step is an object or array, and its member or element in which the place is.
type step struct {
	object bool
	at     int    // of the value of the member or element
	n      int    // index of the element
	name   []byte // of the member
}

// NewPaths returns the paths of a body, which must be JSON that a scanner has accepted.
func NewPaths(body []byte) *Paths { return &Paths{b: body} }

// At returns the path of the value that is at an offset or around it, and empty for that of the body.
func (p *Paths) At(off int) string {
	for len(p.open) > 0 && !p.seek(&p.open[len(p.open)-1], off) {
		p.open = p.open[:len(p.open)-1]
	}
	i := space(p.b, 0)
	if n := len(p.open); n > 0 {
		i = p.open[n-1].at
	}
	for i < len(p.b) && i < off && (p.b[i] == '{' || p.b[i] == '[') {
		s := step{object: p.b[i] == '{', at: i, n: -1}
		if !p.next(&s, i+1) || !p.seek(&s, off) {
			break
		}
		p.open = append(p.open, s)
		i = s.at
	}
	return p.text()
}

// seek moves a step to the member or element in which an offset is, and reports whether there is one.
func (p *Paths) seek(s *step, off int) bool {
	for {
		end := skip(p.b, s.at)
		if off < s.at {
			return false
		}
		if off < end {
			return true
		}
		if !p.next(s, end) {
			return false
		}
	}
}

// next moves a step to the member or element after i.
func (p *Paths) next(s *step, i int) bool {
	if !s.object {
		at, ok := element(p.b, i)
		s.at, s.n = at, s.n+1
		return ok
	}
	text, at, ok := name(p.b, i)
	s.at, s.name = at, text
	return ok
}

// text returns the path of the open steps.
func (p *Paths) text() string {
	var out []byte
	for i := range p.open {
		s := &p.open[i]
		switch {
		case !s.object:
			out = append(strconv.AppendInt(append(out, '['), int64(s.n), 10), ']')
		case plainName(s.name):
			if len(out) > 0 {
				out = append(out, '.')
			}
			out = append(out, s.name...)
		default: // a name with a dot would look like two
			out = append(strconv.AppendQuote(append(out, '['), string(s.name)), ']')
		}
	}
	return string(out)
}

// plainName reports whether a name can stand in a path as it is.
func plainName(name []byte) bool {
	for _, c := range name {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if c != '_' && c != '-' && c-'0' > 9 {
				return false
			}
		}
	}
	return len(name) > 0
}
