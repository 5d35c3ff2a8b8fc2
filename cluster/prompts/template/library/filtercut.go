package template

import "strings"

// cutFilter returns the filters that lay out a text.
func cutFilter(name string) (*native, bool) {
	n := &native{name: name}
	switch name {
	case "truncate":
		n.params, n.most = "length killwords end leeway", 4
		n.call = func(m *caller, v value, a *arguments) value { return m.truncate(v, a) }
	case "indent":
		n.params, n.most = "width first blank", 3
		n.call = func(m *caller, v value, a *arguments) value { return m.indent(v, a) }
	case "wordwrap":
		n.params, n.most = "width break_long_words wrapstring break_on_hyphens", 4
		n.call = func(m *caller, v value, a *arguments) value { return m.wrap(v, a) }
	default:
		return nil, false
	}
	return n, true
}

// truncate is the filter truncate. Besides texts, Jinja cuts anything that has a length.
func (m *caller) truncate(v value, a *arguments) value {
	length, end := m.integer(a.or(0, 255)), m.text(a.or(2, "..."))
	leeway := 5
	if l := a.or(3, nil); l != nil {
		leeway = m.integer(l)
	}
	if length < runes(end) {
		m.fail("truncate needs a length of at least the end's, %d", runes(end))
	}
	if leeway < 0 {
		m.fail("truncate needs a leeway of at least 0")
	}
	if m.length(v) <= length+leeway {
		return v
	}
	s, ok := textOf(v)
	if !ok {
		m.fail("truncate cuts texts, not a %s", typeName(v))
	}
	m.work(3 * len(s))
	s = s[:byteAt(s, length-runes(end))]
	if !truth(a.or(1, false)) {
		if i := strings.LastIndexByte(s, ' '); i >= 0 {
			s = s[:i]
		}
	}
	out, _ := m.joined(like(v, s), a.or(2, "..."))
	return out
}

// indent is the filter indent.
func (m *caller) indent(v value, a *arguments) value {
	if _, ok := v.(markup); ok {
		return m.indentMarkup(v, a)
	}
	s, ok := textOf(v)
	if !ok {
		if u, isUndefined := v.(*undefined); isUndefined {
			m.missing(u)
		}
		m.fail("indent needs text, not a %s", typeName(v))
	}
	return m.indented(s, a)
}

func (m *caller) indentMarkup(v value, a *arguments) value {
	if w, ok := textOf(a.or(0, 4)); ok && len(m.escapedText(w)) != len(w) {
		m.fail("the indentation of markup needs no escapes")
	}
	return markup(m.indented(m.text(v), a))
}

func (m *caller) indented(s string, a *arguments) string {
	by, ok := textOf(a.or(0, 4))
	if !ok {
		by = m.repeat(" ", m.integer(a.or(0, 4)))
	}
	lines := splitLines(s+"\n", false)
	m.times(len(lines), len(by)+2*wordBytes)
	m.grow(2 * len(s))
	m.step(len(lines))
	m.work(2*len(s) + len(lines)*len(by))
	blank := truth(a.or(2, false))
	for i := 1; i < len(lines); i++ {
		if blank || lines[i] != "" {
			lines[i] = by + lines[i]
		}
	}
	out := strings.Join(lines, "\n")
	if truth(a.or(1, false)) {
		out = by + out
	}
	m.grow(len(out))
	return out
}
