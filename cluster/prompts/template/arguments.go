package template

import "slices"

// evaluate evaluates arguments.
func (m *machine) evaluate(e *argumentsExpr) *arguments {
	a := &arguments{}
	if len(e.values) > 0 {
		a.pos = make([]value, len(e.values))
		for i, v := range e.values {
			a.pos[i] = m.eval(v)
		}
	}
	if len(e.named) > 0 {
		a.names, a.named = e.names, make([]value, len(e.named))
		for i, v := range e.named {
			a.named[i] = m.eval(v)
		}
	}
	if e.rest != nil {
		items := m.items(m.eval(e.rest))
		m.grow(wordBytes * len(items))
		a.pos = append(slices.Clip(a.pos), items...)
	}
	if e.others != nil {
		m.others(a, m.eval(e.others))
	}
	m.grow(wordBytes*(len(a.pos)+len(a.named)) + 32)
	return a
}

// others adds the entries of a dict as arguments with names.
func (m *machine) others(a *arguments, v value) {
	d, ok := v.(*dict)
	if !ok {
		m.fail("** needs a dict, not a %s", typeName(v))
	}
	m.grow(2 * wordBytes * d.len())
	a.names, a.named = append([]string(nil), a.names...), append([]value(nil), a.named...)
	for i, k := range d.keys {
		name, ok := textOf(k)
		if !ok {
			m.fail("the names of arguments are texts")
		}
		m.step(1 + len(a.names)/16)
		if indexOf(a.names, name) >= 0 {
			m.fail("an argument is there twice")
		}
		a.names, a.named = append(a.names, name), append(a.named, d.values[i])
	}
}
