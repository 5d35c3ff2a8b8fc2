package template

import "maps"

func (m *machine) nodes(nodes []node) control {
	for _, n := range nodes {
		m.step(1)
		if c := n.exec(m); c != goOn {
			return c
		}
	}
	return goOn
}

func (n *textNode) exec(m *machine) control {
	m.write(n.text)
	return goOn
}

func (n *outputNode) exec(m *machine) control {
	for _, e := range n.values {
		v := e.eval(m)
		m.at = n.at
		m.print(v)
	}
	return goOn
}

func (n *ifNode) exec(m *machine) control {
	for i := range n.branches {
		if truth(n.branches[i].condition.eval(m)) {
			return m.nodes(n.branches[i].body)
		}
	}
	return m.nodes(n.last)
}

func (n *breakNode) exec(*machine) control { return breaks }

func (n *continueNode) exec(*machine) control { return continues }

func (n *setNode) exec(m *machine) control {
	n.target.spaces(func(name *nameExpr) { m.spaceOf(n.target.at, name) })
	v := n.value.eval(m)
	m.assign(n.target, v)
	return goOn
}

// spaceOf returns the namespace that a name is.
func (m *machine) spaceOf(at int, name *nameExpr) *namespace {
	ns, ok := (*m.slot(name.ref)).(*namespace)
	if !ok {
		m.at = at
		m.fail("%s is no namespace, so its attributes cannot be set", name.text)
	}
	return ns
}

// assign gives a target a value.
func (m *machine) assign(t *target, v value) {
	switch {
	case t.attr != "":
		m.set(m.spaceOf(t.at, t.name).attrs, t.attr, v)
	case !t.tuple:
		*m.slot(t.name.ref) = v
	default:
		m.at = t.at
		items := m.items(v)
		if len(items) != len(t.items) {
			m.fail("there are %d values for %d names", len(items), len(t.items))
		}
		for i, item := range t.items {
			m.assign(item, items[i])
		}
	}
}

func (n *setBlockNode) exec(m *machine) control {
	m.enter(n.frame)
	text, c := m.captured(func() control { return m.nodes(n.body) })
	if c != goOn {
		m.leave()
		return c
	}
	var v value = text
	if n.filter != nil {
		v = m.piped(n.filter, text)
	}
	inner := m.env
	m.env = inner.outer
	m.assign(n.target, v)
	m.env = inner
	m.leave()
	return goOn
}

// piped applies filters to the text of a block.
func (m *machine) piped(filter expr, text string) value {
	outer := m.block
	m.block = text
	v := filter.eval(m)
	m.block = outer
	return v
}

func (n *filterNode) exec(m *machine) control {
	m.enter(n.frame)
	text, c := m.captured(func() control { return m.nodes(n.body) })
	if c == goOn {
		v := m.piped(n.filter, text)
		m.at = n.at
		m.writeText(v)
	}
	m.leave()
	return c
}

// writeText writes what a block comes to, which has to be text.
func (m *machine) writeText(v value) {
	s, ok := textOf(v)
	if !ok {
		m.fail("a block comes to a %s, not to text", typeName(v))
	}
	m.write(s)
}

func (n *withNode) exec(m *machine) control {
	outer := m.env
	m.enter(n.frame)
	inner := m.env
	for i, t := range n.targets {
		m.env = outer
		v := n.values[i].eval(m)
		m.env = inner
		m.assign(t, v)
	}
	c := m.nodes(n.body)
	m.leave()
	return c
}

func (n *macroNode) exec(m *machine) control {
	*m.slot(*n.stored) = m.define(n)
	return goOn
}

func (n *callNode) exec(m *machine) control {
	caller := m.define(n.macro)
	v := n.call.evalWith(m, caller)
	m.at = n.at
	m.writeText(v)
	return goOn
}

func (n *includeNode) exec(m *machine) control {
	m.at = n.at
	if m.resolve == nil {
		m.fail("there are no prompts to include here")
	}
	if m.includes >= MaxIncludes {
		m.costly("prompts include one another more than %d deep", MaxIncludes)
	}
	included, err := m.resolve(n.reference)
	if err != nil {
		panic(resolveError{err})
	}
	locals := map[string]value{}
	maps.Copy(locals, m.context.locals)
	for _, l := range n.locals {
		v := *m.slot(l.from)
		if v == any(unset{}) && l.base != nil {
			v = *m.slot(*l.base)
		}
		if v != any(unset{}) {
			locals[l.name] = v
		}
	}
	m.grow(entryBytes * len(locals))
	m.step(len(locals))
	outer := *m
	m.context = &context{values: m.context.values, locals: locals}
	m.tpl, m.env = included, nil
	m.includes++
	m.run()
	m.tpl, m.env, m.context, m.includes = outer.tpl, outer.env, outer.context, outer.includes
	return goOn
}
