package template

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/syntax"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// evaluate evaluates arguments, with room for most of them.
func (m *machine) evaluate(e *syntax.ArgumentsExpr, most int) *library.Arguments {
	a := library.NewArguments(len(e.Values), most)
	for i, v := range e.Values {
		a.Pos[i] = m.eval(v)
	}
	if len(e.Named) > 0 {
		a.Names, a.Named = e.Names, make([]values.Value, len(e.Named))
		for i, v := range e.Named {
			a.Named[i] = m.eval(v)
		}
	}
	if e.Rest != nil {
		items := m.Items(m.eval(e.Rest))
		m.Grow(values.WordBytes * len(items))
		a.Pos = append(slices.Clip(a.Pos), items...)
	}
	if e.Others != nil {
		m.others(a, m.eval(e.Others))
	}
	m.Grow(values.WordBytes*(len(a.Pos)+len(a.Named)) + 32)
	return a
}

// others adds the entries of a dict as arguments with names.
func (m *machine) others(a *library.Arguments, v values.Value) {
	d, ok := v.(*values.Dict)
	if !ok {
		m.Fail("** needs a dict, not a %s", values.TypeName(v))
	}
	m.Grow(2 * values.WordBytes * d.Len())
	a.Names, a.Named = append([]string(nil), a.Names...), append([]values.Value(nil), a.Named...)
	for i, k := range d.Keys {
		name, ok := values.TextOf(k)
		if !ok {
			m.Fail("the names of arguments are texts")
		}
		m.Step(1 + len(a.Names)/16)
		if library.IndexOf(a.Names, name) >= 0 {
			m.Fail("an argument is there twice")
		}
		a.Names, a.Named = append(a.Names, name), append(a.Named, d.Values[i])
	}
}
