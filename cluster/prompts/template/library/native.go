package template

import "strings"

// native is a filter, a test, a function or a method.
type native struct {
	name        string
	params      string // names of the parameters after the value, with spaces between them
	least, most int    // how many arguments; most is -1 for any number
	positional  bool   // parameters cannot be given by name
	keywords    bool   // arguments of any name are allowed
	call        func(m *caller, self value, a *arguments) value
}

// caller calls natives, and ends a rendering that exceeds what its counter allows.
type caller struct{ *counter }

// method is a method of a value that was not called yet.
type method struct {
	of   value
	with *native
}

func (*method) isMethod() {}

// arguments are what a call is given. After bind, pos has a value or unset for each
// parameter.
type arguments struct {
	pos   []value
	names []string
	named []value
}

// unfit says what is wrong with the number and the names of arguments; empty for nothing.
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
func (m *caller) invoke(n *native, self value, a *arguments) value {
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
