package template

import "maps"

// control says where a loop's body goes on.
type control uint8

const (
	goOn control = iota
	breaks
	continues
)

// exec runs a statement.
func (m *machine) exec(n node) control {
	switch n := n.(type) {
	case *textNode:
		return m.execText(n)
	case *outputNode:
		return m.execOutput(n)
	case *ifNode:
		return m.execIf(n)
	case *forNode:
		return m.execFor(n)
	case *breakNode:
		return breaks
	case *continueNode:
		return continues
	case *setNode:
		return m.execSet(n)
	case *setBlockNode:
		return m.execSetBlock(n)
	case *withNode:
		return m.execWith(n)
	case *filterNode:
		return m.execFilter(n)
	case *macroNode:
		return m.execMacro(n)
	case *callNode:
		return m.execCall(n)
	case *includeNode:
		return m.execInclude(n)
	}
	panic("a statement of an unknown kind")
}

func (m *machine) nodes(nodes []node) control {
	for _, n := range nodes {
		m.step(1)
		if c := m.exec(n); c != goOn {
			return c
		}
	}
	return goOn
}

func (m *machine) execText(n *textNode) control {
	m.write(n.text)
	return goOn
}

func (m *machine) execOutput(n *outputNode) control {
	for _, e := range n.values {
		v := m.eval(e)
		m.at = n.at
		m.print(v)
	}
	return goOn
}

func (m *machine) execIf(n *ifNode) control {
	for i := range n.branches {
		if truth(m.eval(n.branches[i].condition)) {
			return m.nodes(n.branches[i].body)
		}
	}
	return m.nodes(n.last)
}

func (m *machine) execSet(n *setNode) control {
	n.target.spaces(func(name *nameExpr) { m.spaceOf(n.target.at, name) })
	v := m.eval(n.value)
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

func (m *machine) execSetBlock(n *setBlockNode) control {
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
	v := m.eval(filter)
	m.block = outer
	return v
}

func (m *machine) execFilter(n *filterNode) control {
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

func (m *machine) execWith(n *withNode) control {
	outer := m.env
	m.enter(n.frame)
	inner := m.env
	for i, t := range n.targets {
		m.env = outer
		v := m.eval(n.values[i])
		m.env = inner
		m.assign(t, v)
	}
	c := m.nodes(n.body)
	m.leave()
	return c
}

func (m *machine) execMacro(n *macroNode) control {
	*m.slot(*n.stored) = m.define(n)
	return goOn
}

func (m *machine) execCall(n *callNode) control {
	caller := m.define(n.macro)
	v := m.callWith(n.call, caller)
	m.at = n.at
	m.writeText(v)
	return goOn
}

func (m *machine) execInclude(n *includeNode) control {
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
	outer := m.where
	m.context, m.env = &context{values: m.context.values, locals: locals}, nil
	m.enterSource(included)
	m.includes++
	m.run()
	m.includes--
	m.goTo(outer)
	return goOn
}
