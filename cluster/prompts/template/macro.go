package template

import (
	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/syntax"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// macro is a macro, or the body of a call block, with the frame that it was defined in.
type macro struct {
	m       *machine
	node    *syntax.MacroNode
	env     *env
	tpl     *Template
	context *context
}

func (m *machine) define(n *syntax.MacroNode) *macro {
	m.Grow(48)
	return &macro{m, n, m.env, m.tpl, m.context}
}

// callMacro runs a macro and returns what it writes.
func (m *machine) callMacro(c *macro, a *library.Arguments) values.Value {
	n := c.node
	m.Deeper()
	at := m.At
	e := &env{outer: c.env}
	m.prepare(e, n.Frame)
	m.bindMacro(n, a, e)
	outer := m.where
	m.env, m.context = e, c.context
	m.enterSource(c.tpl)
	m.start(n.Frame)
	for i, index := range n.Slots {
		if e.slots[index] != any(values.Unset{}) {
			continue
		}
		if d := i - (len(n.Params) - len(n.Defaults)); d >= 0 {
			e.slots[index] = m.eval(n.Defaults[d])
		} else {
			e.slots[index] = n.Params[i].None
		}
	}
	text, _ := m.captured(func() control { return m.nodes(n.Body) })
	m.leave()
	m.goTo(outer)
	m.At = at
	m.Higher()
	return text
}

// bindMacro gives the parameters of a macro their arguments.
func (m *machine) bindMacro(n *syntax.MacroNode, a *library.Arguments, e *env) {
	given := min(len(a.Pos), len(n.Params))
	for i := range given {
		e.slots[n.Slots[i]] = a.Pos[i]
	}
	used := make([]bool, len(a.Names))
	take := func(name string) (values.Value, bool) {
		for i, other := range a.Names {
			if other == name && !used[i] {
				used[i] = true
				return a.Named[i], true
			}
		}
		return nil, false
	}
	callerGiven := given == len(n.Params) && hasParam(n, "caller")
	for i := given; i < len(n.Params); i++ {
		v, ok := take(n.Params[i].Text)
		if !ok {
			v = values.Unset{}
		}
		callerGiven = callerGiven || n.Params[i].Text == "caller"
		e.slots[n.Slots[i]] = v
	}
	if n.Caller != nil && !callerGiven {
		v, ok := take("caller")
		if !ok || v == nil {
			v = &values.Undefined{Name: "caller"}
		}
		e.slots[n.Caller.Index] = v
	}
	if n.Kwargs != nil {
		rest := &values.Dict{}
		for i, name := range a.Names {
			if !used[i] {
				m.Set(rest, name, a.Named[i])
			}
		}
		e.slots[n.Kwargs.Index] = rest
	} else {
		for i, name := range a.Names {
			if !used[i] {
				m.Fail("the macro %s has no parameter %s", n.Name, name)
			}
		}
	}
	switch {
	case n.Varargs != nil:
		e.slots[n.Varargs.Index] = m.NewTuple(append([]values.Value(nil), a.Pos[given:]...)...)
	case len(a.Pos) > len(n.Params):
		m.Fail("the macro %s takes at most %d values", n.Name, len(n.Params))
	}
}

func hasParam(n *syntax.MacroNode, name string) bool {
	for _, p := range n.Params {
		if p.Text == name {
			return true
		}
	}
	return false
}

func (*macro) TypeName() string { return "macro" }

func (c *macro) AppendTo(out []byte) []byte {
	if c.node.Name == "" {
		return append(out, "<Macro anonymous>"...)
	}
	return append(c.m.AppendQuoted(append(out, "<Macro "...), c.node.Name), '>')
}

func (*macro) Method(string) (*library.Native, bool) { return nil, false }

// Attribute returns an attribute of a macro.
func (c *macro) Attribute(name string) (values.Value, bool) {
	switch name {
	case "name":
		if c.node.Name == "" {
			return nil, true
		}
		return c.node.Name, true
	case "arguments":
		out := make([]values.Value, len(c.node.Params))
		for i, p := range c.node.Params {
			out[i] = p.Text
		}
		return c.m.NewTuple(out...), true
	case "catch_kwargs":
		return c.node.Kwargs != nil, true
	case "catch_varargs":
		return c.node.Varargs != nil, true
	case "caller":
		return c.node.Caller != nil, true
	}
	return nil, false
}
