package template

// macro is a macro, or the body of a call block, with the frame that it was defined in.
type macro struct {
	m       *machine
	node    *macroNode
	env     *env
	tpl     *Template
	context *context
}

func (m *machine) define(n *macroNode) *macro {
	m.grow(48)
	return &macro{m, n, m.env, m.tpl, m.context}
}

// callMacro runs a macro and returns what it writes.
func (m *machine) callMacro(c *macro, a *arguments) value {
	n := c.node
	m.deeper()
	at := m.at
	e := m.newEnv(n.frame, c.env)
	m.bindMacro(n, a, e)
	outer := m.where
	m.env, m.context = e, c.context
	m.enterSource(c.tpl)
	m.start(n.frame)
	for i, index := range n.slots {
		if e.slots[index] != any(unset{}) {
			continue
		}
		if d := i - (len(n.params) - len(n.defaults)); d >= 0 {
			e.slots[index] = m.eval(n.defaults[d])
		} else {
			e.slots[index] = n.params[i].none
		}
	}
	text, _ := m.captured(func() control { return m.nodes(n.body) })
	m.leave()
	m.goTo(outer)
	m.at = at
	m.higher()
	return text
}

// bindMacro gives the parameters of a macro their arguments.
func (m *machine) bindMacro(n *macroNode, a *arguments, e *env) {
	given := min(len(a.pos), len(n.params))
	for i := range given {
		e.slots[n.slots[i]] = a.pos[i]
	}
	used := make([]bool, len(a.names))
	take := func(name string) (value, bool) {
		for i, other := range a.names {
			if other == name && !used[i] {
				used[i] = true
				return a.named[i], true
			}
		}
		return nil, false
	}
	callerGiven := given == len(n.params) && n.hasParam("caller")
	for i := given; i < len(n.params); i++ {
		v, ok := take(n.params[i].text)
		if !ok {
			v = unset{}
		}
		callerGiven = callerGiven || n.params[i].text == "caller"
		e.slots[n.slots[i]] = v
	}
	if n.caller != nil && !callerGiven {
		v, ok := take("caller")
		if !ok || v == nil {
			v = &undefined{name: "caller"}
		}
		e.slots[n.caller.index] = v
	}
	if n.kwargs != nil {
		rest := &dict{}
		for i, name := range a.names {
			if !used[i] {
				m.set(rest, name, a.named[i])
			}
		}
		e.slots[n.kwargs.index] = rest
	} else {
		for i, name := range a.names {
			if !used[i] {
				m.fail("the macro %s has no parameter %s", n.name, name)
			}
		}
	}
	switch {
	case n.varargs != nil:
		e.slots[n.varargs.index] = m.newTuple(append([]value(nil), a.pos[given:]...)...)
	case len(a.pos) > len(n.params):
		m.fail("the macro %s takes at most %d values", n.name, len(n.params))
	}
}

func (n *macroNode) hasParam(name string) bool {
	for _, p := range n.params {
		if p.text == name {
			return true
		}
	}
	return false
}

func (*macro) typeName() string { return "macro" }

func (c *macro) appendTo(out []byte) []byte {
	if c.node.name == "" {
		return append(out, "<Macro anonymous>"...)
	}
	return append(c.m.appendQuoted(append(out, "<Macro "...), c.node.name), '>')
}

func (*macro) method(string) (*native, bool) { return nil, false }

// attribute returns an attribute of a macro.
func (c *macro) attribute(name string) (value, bool) {
	switch name {
	case "name":
		if c.node.name == "" {
			return nil, true
		}
		return c.node.name, true
	case "arguments":
		out := make([]value, len(c.node.params))
		for i, p := range c.node.params {
			out[i] = p.text
		}
		return c.m.newTuple(out...), true
	case "catch_kwargs":
		return c.node.kwargs != nil, true
	case "catch_varargs":
		return c.node.varargs != nil, true
	case "caller":
		return c.node.caller != nil, true
	}
	return nil, false
}
