package library

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

const globalNames = "cycler, dict, joiner, namespace, raise_exception, range"

// GlobalOf returns a function that every template has.
func GlobalOf(name string) (*Native, bool) {
	switch name {
	case "range", "dict", "namespace", "cycler", "joiner", "raise_exception":
	default:
		return nil, false // most names are not one, so nothing is made for them
	}
	n := &Native{Name: name, Most: -1, keywords: true}
	switch name {
	case "range":
		n.Most, n.least, n.keywords, n.positional, n.params = 3, 1, false, true, "start stop step"
		n.Call = func(m *Caller, _ values.Value, a *Arguments) values.Value { return m.newRange(a) }
	case "dict":
		n.Call = func(m *Caller, _ values.Value, a *Arguments) values.Value { return m.newDict(a) }
	case "namespace":
		n.Call = func(m *Caller, _ values.Value, a *Arguments) values.Value {
			return &values.Namespace{Attrs: m.newDict(a)}
		}
	case "cycler":
		n.keywords = false
		n.Call = func(m *Caller, _ values.Value, a *Arguments) values.Value {
			if len(a.Pos) == 0 {
				m.Fail("cycler needs values")
			}
			return &values.Cycler{Items: append([]values.Value(nil), a.Pos...)}
		}
	case "joiner":
		n.params, n.Most, n.keywords = "sep", 1, false
		n.Call = func(_ *Caller, _ values.Value, a *Arguments) values.Value {
			return &values.Joiner{Between: a.or(0, ", ")}
		}
	case "raise_exception":
		n.params, n.least, n.Most, n.keywords = "message", 1, 1, false
		n.Call = func(m *Caller, _ values.Value, a *Arguments) values.Value {
			panic(&values.Failure{Err: m.raised(a.Pos[0])})
		}
	default:
		return nil, false
	}
	return n, true
}

// NoFunction says why a template cannot call a name that nothing defines.
func NoFunction(name string) string {
	switch name {
	case "strftime_now":
		return "the function strftime_now is not supported, because a template renders the same each time; pass the date as a variable"
	case "lipsum":
		return "the function lipsum is not supported, because a template renders the same each time"
	}
	return "there is no function " + values.Quote(name) + "; templates have " + globalNames + ", and their own macros"
}

// raised is the error of raise_exception. Its text is the template's, which may hold
// values, so only a message that is written in the template becomes part of it.
func (m *Caller) raised(message values.Value) *fault.Error {
	if s, ok := message.(string); ok && strings.Contains(m.Source, s) {
		return m.Wrong("template_error", "the template refuses these values: %s", s)
	}
	return m.Wrong("template_error", "the template refuses these values")
}

func (m *Caller) newRange(a *Arguments) values.Value {
	r := &values.RangeOf{Start: 0, Stop: m.Integer(a.Pos[0]), Step: 1}
	if a.given(1) {
		r.Start, r.Stop = r.Stop, m.Integer(a.Pos[1])
	}
	if a.given(2) {
		r.Step = m.Integer(a.Pos[2])
	}
	const most = 100_000 // as in Jinja's sandbox
	const far = 1 << 60
	if r.Start > far || r.Start < -far || r.Stop > far || r.Stop < -far {
		m.Costly("the range is too large")
	}
	switch {
	case r.Step == 0:
		m.Fail("the step of a range is 0")
	case r.Step > 0 && r.Start < r.Stop:
		r.Length = (r.Stop-r.Start-1)/r.Step + 1
	case r.Step < 0 && r.Start > r.Stop:
		r.Length = (r.Start-r.Stop-1)/-r.Step + 1
	}
	if r.Length > most {
		m.Costly("the range has more than %d numbers", most)
	}
	return r
}

// newDict is Python's dict: from a dict or from pairs, and from names.
func (m *Caller) newDict(a *Arguments) *values.Dict {
	out := &values.Dict{}
	m.Grow(48)
	if len(a.Pos) > 1 {
		m.Fail("a dict is made of one value")
	}
	if len(a.Pos) == 1 {
		if u, ok := a.Pos[0].(*values.Undefined); ok {
			m.Missing(u)
		}
		if d, ok := a.Pos[0].(*values.Dict); ok {
			for i, k := range d.Keys {
				m.Set(out, k, d.Values[i])
			}
		} else {
			for _, pair := range m.Items(a.Pos[0]) {
				parts := m.Items(pair)
				if len(parts) != 2 {
					m.Fail("a dict is made of pairs")
				}
				m.Set(out, parts[0], parts[1])
			}
		}
	}
	for i, name := range a.Names {
		m.Set(out, name, a.Named[i])
	}
	return out
}
