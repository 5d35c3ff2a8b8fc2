package template

import (
	"math/big"
	"slices"
	"strings"
)

// native is a filter, a test, a function or a method.
type native struct {
	name        string
	params      string // names of the parameters after the value, with spaces between them
	least, most int    // how many arguments; most is -1 for any number
	positional  bool   // parameters cannot be given by name
	keywords    bool   // arguments of any name are allowed
	call        func(m *machine, self value, a *arguments) value
}

// arguments are what a call is given. After bind, pos has a value or unset for each
// parameter.
type arguments struct {
	pos   []value
	names []string
	named []value
}

// misfit says what is wrong with the number and the names of arguments, as far as it is
// known before they have values; empty for nothing.
func (n *native) misfit(a *argumentsExpr) string {
	if !a.fixed() {
		return ""
	}
	return n.unfit(len(a.values), a.names)
}

func (n *native) unfit(given int, names []string) string {
	if n.most >= 0 && given > n.most {
		return n.name + " takes fewer values"
	}
	if n.keywords {
		return ""
	}
	params := strings.Fields(n.params)
	need := max(0, n.least-given)
	for _, name := range names {
		i := indexOf(params, name)
		switch {
		case n.positional || i < 0:
			return n.name + " has no parameter " + name
		case i < given:
			return n.name + " gets the parameter " + name + " twice"
		case i < n.least:
			need--
		}
	}
	if need > 0 {
		return n.name + " needs more values"
	}
	return ""
}

func indexOf(list []string, s string) int {
	for i, e := range list {
		if e == s {
			return i
		}
	}
	return -1
}

// invoke calls a native with arguments in their places.
func (m *machine) invoke(n *native, self value, a *arguments) value {
	if problem := n.unfit(len(a.pos), a.names); problem != "" {
		m.fail("%s", problem)
	}
	if n.most > 0 && !n.keywords {
		pos := make([]value, n.most)
		copy(pos, a.pos)
		for i := len(a.pos); i < n.most; i++ {
			pos[i] = unset{}
		}
		if len(a.names) > 0 {
			params := strings.Fields(n.params)
			for i, name := range a.names {
				pos[indexOf(params, name)] = a.named[i]
			}
		}
		a = &arguments{pos: pos}
	}
	return n.call(m, self, a)
}

// given reports whether the argument i is there.
func (a *arguments) given(i int) bool { return i < len(a.pos) && a.pos[i] != any(unset{}) }

// or returns the argument i, or another value if it is not given.
func (a *arguments) or(i int, other value) value {
	if a.given(i) {
		return a.pos[i]
	}
	return other
}

// keyword returns an argument with a name.
func (a *arguments) keyword(name string) (value, bool) {
	i := indexOf(a.names, name)
	if i < 0 {
		return nil, false
	}
	return a.named[i], true
}

// integer returns a value that has to be an integer that fits.
func (m *machine) integer(v value) int {
	switch v := v.(type) {
	case int:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	case *big.Int:
		m.costly("the number is too large")
	case *undefined:
		m.missing(v)
	}
	m.fail("an integer is needed, not a %s", typeName(v))
	return 0
}

// text returns a value that has to be text.
func (m *machine) text(v value) string {
	s, ok := textOf(v)
	if !ok {
		m.fail("text is needed, not a %s", typeName(v))
	}
	return s
}

// evaluate evaluates arguments.
func (e *argumentsExpr) evaluate(m *machine) *arguments {
	a := &arguments{}
	if len(e.values) > 0 {
		a.pos = make([]value, len(e.values))
		for i, v := range e.values {
			a.pos[i] = v.eval(m)
		}
	}
	if len(e.named) > 0 {
		a.names, a.named = e.names, make([]value, len(e.named))
		for i, v := range e.named {
			a.named[i] = v.eval(m)
		}
	}
	if e.rest != nil {
		items := m.items(e.rest.eval(m))
		m.grow(wordBytes * len(items))
		a.pos = append(slices.Clip(a.pos), items...)
	}
	if e.others != nil {
		m.others(a, e.others.eval(m))
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
