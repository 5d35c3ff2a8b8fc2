package library

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// cutFilter returns the filters that lay out a text.
func cutFilter(name string) (*Native, bool) {
	n := &Native{Name: name}
	switch name {
	case "truncate":
		n.params, n.Most = "length killwords end leeway", 4
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.truncate(v, a) }
	case "indent":
		n.params, n.Most = "width first blank", 3
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.indent(v, a) }
	case "wordwrap":
		n.params, n.Most = "width break_long_words wrapstring break_on_hyphens", 4
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.wrap(v, a) }
	default:
		return nil, false
	}
	return n, true
}

// truncate is the filter truncate. Besides texts, Jinja cuts anything that has a length.
func (m *Caller) truncate(v values.Value, a *Arguments) values.Value {
	length, end := m.Integer(a.or(0, 255)), m.Text(a.or(2, "..."))
	leeway := 5
	if l := a.or(3, nil); l != nil {
		leeway = m.Integer(l)
	}
	if length < values.Runes(end) {
		m.Fail("truncate needs a length of at least the end's, %d", values.Runes(end))
	}
	if leeway < 0 {
		m.Fail("truncate needs a leeway of at least 0")
	}
	if m.Length(v) <= length+leeway {
		return v
	}
	s, ok := values.TextOf(v)
	if !ok {
		m.Fail("truncate cuts texts, not a %s", values.TypeName(v))
	}
	m.Work(3 * len(s))
	s = s[:values.ByteAt(s, length-values.Runes(end))]
	if !values.Truth(a.or(1, false)) {
		if i := strings.LastIndexByte(s, ' '); i >= 0 {
			s = s[:i]
		}
	}
	out, _ := m.Joined(values.Like(v, s), a.or(2, "..."))
	return out
}

// indent is the filter indent.
func (m *Caller) indent(v values.Value, a *Arguments) values.Value {
	if _, ok := v.(values.Markup); ok {
		return m.indentMarkup(v, a)
	}
	s, ok := values.TextOf(v)
	if !ok {
		if u, isUndefined := v.(*values.Undefined); isUndefined {
			m.Missing(u)
		}
		m.Fail("indent needs text, not a %s", values.TypeName(v))
	}
	return m.indented(s, a)
}

func (m *Caller) indentMarkup(v values.Value, a *Arguments) values.Value {
	if w, ok := values.TextOf(a.or(0, 4)); ok && len(m.EscapedText(w)) != len(w) {
		m.Fail("the indentation of markup needs no escapes")
	}
	return values.Markup(m.indented(m.Text(v), a))
}

func (m *Caller) indented(s string, a *Arguments) string {
	by, ok := values.TextOf(a.or(0, 4))
	if !ok {
		by = m.Repeat(" ", m.Integer(a.or(0, 4)))
	}
	lines := values.SplitLines(s+"\n", false)
	m.Times(len(lines), len(by)+2*values.WordBytes)
	m.Grow(2 * len(s))
	m.Step(len(lines))
	m.Work(2*len(s) + len(lines)*len(by))
	blank := values.Truth(a.or(2, false))
	for i := 1; i < len(lines); i++ {
		if blank || lines[i] != "" {
			lines[i] = by + lines[i]
		}
	}
	out := strings.Join(lines, "\n")
	if values.Truth(a.or(1, false)) {
		out = by + out
	}
	m.Grow(len(out))
	return out
}
