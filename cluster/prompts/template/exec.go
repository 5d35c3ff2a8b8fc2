package template

import (
	"maps"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/syntax"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// control says where a loop's body goes on.
type control uint8

const (
	goOn control = iota
	breaks
	continues
)

// exec runs a statement.
func (m *machine) exec(n syntax.Node) control {
	switch n := n.(type) {
	case *syntax.TextNode:
		return m.execText(n)
	case *syntax.OutputNode:
		return m.execOutput(n)
	case *syntax.IfNode:
		return m.execIf(n)
	case *syntax.ForNode:
		return m.execFor(n)
	case *syntax.BreakNode:
		return breaks
	case *syntax.ContinueNode:
		return continues
	case *syntax.SetNode:
		return m.execSet(n)
	case *syntax.SetBlockNode:
		return m.execSetBlock(n)
	case *syntax.WithNode:
		return m.execWith(n)
	case *syntax.FilterNode:
		return m.execFilter(n)
	case *syntax.MacroNode:
		return m.execMacro(n)
	case *syntax.CallNode:
		return m.execCall(n)
	case *syntax.IncludeNode:
		return m.execInclude(n)
	}
	panic("a statement of an unknown kind")
}

func (m *machine) nodes(nodes []syntax.Node) control {
	for _, n := range nodes {
		m.Step(1)
		if c := m.exec(n); c != goOn {
			return c
		}
	}
	return goOn
}

func (m *machine) execText(n *syntax.TextNode) control {
	m.Write(n.Text)
	return goOn
}

func (m *machine) execOutput(n *syntax.OutputNode) control {
	for _, e := range n.Values {
		v := m.eval(e)
		m.At = n.At
		m.Print(v)
	}
	return goOn
}

func (m *machine) execIf(n *syntax.IfNode) control {
	for i := range n.Branches {
		if values.Truth(m.eval(n.Branches[i].Condition)) {
			return m.nodes(n.Branches[i].Body)
		}
	}
	return m.nodes(n.Last)
}

func (m *machine) execSet(n *syntax.SetNode) control {
	n.Target.Spaces(func(name *syntax.NameExpr) { m.spaceOf(n.Target.At, name) })
	v := m.eval(n.Value)
	m.assign(n.Target, v)
	return goOn
}

// spaceOf returns the namespace that a name is.
func (m *machine) spaceOf(at int, name *syntax.NameExpr) *values.Namespace {
	ns, ok := (*m.slot(name.Ref)).(*values.Namespace)
	if !ok {
		m.At = at
		m.Fail("%s is no namespace, so its attributes cannot be set", name.Text)
	}
	return ns
}

// assign gives a target a value.
func (m *machine) assign(t *syntax.Target, v values.Value) {
	switch {
	case t.Attr != "":
		m.Set(m.spaceOf(t.At, t.Name).Attrs, t.Attr, v)
	case !t.Tuple:
		*m.slot(t.Name.Ref) = v
	default:
		m.At = t.At
		items := m.Items(v)
		if len(items) != len(t.Items) {
			m.Fail("there are %d values for %d names", len(items), len(t.Items))
		}
		for i, item := range t.Items {
			m.assign(item, items[i])
		}
	}
}

func (m *machine) execSetBlock(n *syntax.SetBlockNode) control {
	m.enter(n.Frame)
	text, c := m.captured(func() control { return m.nodes(n.Body) })
	if c != goOn {
		m.leave()
		return c
	}
	var v values.Value = text
	if n.Filter != nil {
		v = m.piped(n.Filter, text)
	}
	inner := m.env
	m.env = inner.outer
	m.assign(n.Target, v)
	m.env = inner
	m.leave()
	return goOn
}

// piped applies filters to the text of a block.
func (m *machine) piped(filter syntax.Expr, text string) values.Value {
	outer := m.block
	m.block = text
	v := m.eval(filter)
	m.block = outer
	return v
}

func (m *machine) execFilter(n *syntax.FilterNode) control {
	m.enter(n.Frame)
	text, c := m.captured(func() control { return m.nodes(n.Body) })
	if c == goOn {
		v := m.piped(n.Filter, text)
		m.At = n.At
		m.writeText(v)
	}
	m.leave()
	return c
}

// writeText writes what a block comes to, which has to be text.
func (m *machine) writeText(v values.Value) {
	s, ok := values.TextOf(v)
	if !ok {
		m.Fail("a block comes to a %s, not to text", values.TypeName(v))
	}
	m.Write(s)
}

func (m *machine) execWith(n *syntax.WithNode) control {
	outer := m.env
	m.enter(n.Frame)
	inner := m.env
	for i, t := range n.Targets {
		m.env = outer
		v := m.eval(n.Values[i])
		m.env = inner
		m.assign(t, v)
	}
	c := m.nodes(n.Body)
	m.leave()
	return c
}

func (m *machine) execMacro(n *syntax.MacroNode) control {
	*m.slot(*n.Stored) = m.define(n)
	return goOn
}

func (m *machine) execCall(n *syntax.CallNode) control {
	caller := m.define(n.Macro)
	v := m.callWith(n.Call, caller)
	m.At = n.At
	m.writeText(v)
	return goOn
}

func (m *machine) execInclude(n *syntax.IncludeNode) control {
	m.At = n.At
	if m.resolve == nil {
		m.Fail("there are no prompts to include here")
	}
	if m.Includes >= MaxIncludes {
		m.Costly("prompts include one another more than %d deep", MaxIncludes)
	}
	included, err := m.resolve(n.Reference)
	if err != nil {
		panic(resolveError{err})
	}
	locals := map[string]values.Value{}
	maps.Copy(locals, m.context.locals)
	for _, l := range n.Locals {
		v := *m.slot(l.From)
		if v == any(values.Unset{}) && l.Base != nil {
			v = *m.slot(*l.Base)
		}
		if v != any(values.Unset{}) {
			locals[l.Name] = v
		}
	}
	m.Grow(values.EntryBytes * len(locals))
	m.Step(len(locals))
	outer := m.where
	m.context, m.env = &context{values: m.context.values, locals: locals}, nil
	m.enterSource(included)
	m.Includes++
	m.run()
	m.Includes--
	m.goTo(outer)
	return goOn
}
