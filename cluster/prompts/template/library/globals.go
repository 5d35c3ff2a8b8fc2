package template

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

const globalNames = "cycler, dict, joiner, namespace, raise_exception, range"

// globalOf returns a function that every template has.
func globalOf(name string) (*native, bool) {
	n := &native{name: name, most: -1, keywords: true}
	switch name {
	case "range":
		n.most, n.least, n.keywords, n.positional, n.params = 3, 1, false, true, "start stop step"
		n.call = func(m *caller, _ value, a *arguments) value { return m.newRange(a) }
	case "dict":
		n.call = func(m *caller, _ value, a *arguments) value { return m.newDict(a) }
	case "namespace":
		n.call = func(m *caller, _ value, a *arguments) value { return &namespace{m.newDict(a)} }
	case "cycler":
		n.keywords = false
		n.call = func(m *caller, _ value, a *arguments) value {
			if len(a.pos) == 0 {
				m.fail("cycler needs values")
			}
			return &cycler{items: append([]value(nil), a.pos...)}
		}
	case "joiner":
		n.params, n.most, n.keywords = "sep", 1, false
		n.call = func(_ *caller, _ value, a *arguments) value { return &joiner{between: a.or(0, ", ")} }
	case "raise_exception":
		n.params, n.least, n.most, n.keywords = "message", 1, 1, false
		n.call = func(m *caller, _ value, a *arguments) value { panic(&failure{m.raised(a.pos[0])}) }
	default:
		return nil, false
	}
	return n, true
}

// noFunction says why a template cannot call a name that nothing defines.
func noFunction(name string) string {
	switch name {
	case "strftime_now":
		return "the function strftime_now is not supported, because a template renders the same each time; pass the date as a variable"
	case "lipsum":
		return "the function lipsum is not supported, because a template renders the same each time"
	}
	return "there is no function " + quote(name) + "; templates have " + globalNames + ", and their own macros"
}

// raised is the error of raise_exception. Its text is the template's, which may hold
// values, so only a message that is written in the template becomes part of it.
func (m *caller) raised(message value) *fault.Error {
	if s, ok := message.(string); ok && strings.Contains(m.source, s) {
		return m.wrong("template_error", "the template refuses these values: %s", s)
	}
	return m.wrong("template_error", "the template refuses these values")
}

func (m *caller) newRange(a *arguments) value {
	r := &rangeOf{start: 0, stop: m.integer(a.pos[0]), step: 1}
	if a.given(1) {
		r.start, r.stop = r.stop, m.integer(a.pos[1])
	}
	if a.given(2) {
		r.step = m.integer(a.pos[2])
	}
	const most = 100_000 // as in Jinja's sandbox
	const far = 1 << 60
	if r.start > far || r.start < -far || r.stop > far || r.stop < -far {
		m.costly("the range is too large")
	}
	switch {
	case r.step == 0:
		m.fail("the step of a range is 0")
	case r.step > 0 && r.start < r.stop:
		r.length = (r.stop-r.start-1)/r.step + 1
	case r.step < 0 && r.start > r.stop:
		r.length = (r.start-r.stop-1)/-r.step + 1
	}
	if r.length > most {
		m.costly("the range has more than %d numbers", most)
	}
	return r
}

// newDict is Python's dict: from a dict or from pairs, and from names.
func (m *caller) newDict(a *arguments) *dict {
	out := &dict{}
	m.grow(48)
	if len(a.pos) > 1 {
		m.fail("a dict is made of one value")
	}
	if len(a.pos) == 1 {
		if u, ok := a.pos[0].(*undefined); ok {
			m.missing(u)
		}
		if d, ok := a.pos[0].(*dict); ok {
			for i, k := range d.keys {
				m.set(out, k, d.values[i])
			}
		} else {
			for _, pair := range m.items(a.pos[0]) {
				parts := m.items(pair)
				if len(parts) != 2 {
					m.fail("a dict is made of pairs")
				}
				m.set(out, parts[0], parts[1])
			}
		}
	}
	for i, name := range a.names {
		m.set(out, name, a.named[i])
	}
	return out
}
