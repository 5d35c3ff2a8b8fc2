package template

import (
	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/syntax"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// eval returns the value of an expression.
func (m *machine) eval(e syntax.Expr) values.Value {
	switch e := e.(type) {
	case *syntax.LiteralExpr:
		return e.Value
	case *syntax.NameExpr:
		return m.evalName(e)
	case *syntax.ListExpr:
		return m.evalList(e)
	case *syntax.DictExpr:
		return m.evalDict(e)
	case *syntax.MemberExpr:
		return m.evalMember(e)
	case *syntax.SliceExpr:
		return m.evalSlice(e)
	case *syntax.CallExpr:
		return m.callWith(e, nil)
	case *syntax.FilterExpr:
		return m.evalFilter(e)
	case *syntax.TestExpr:
		return m.evalTest(e)
	case *syntax.NotExpr:
		return m.evalNot(e)
	case *syntax.SignedExpr:
		return m.evalSigned(e)
	case *syntax.AndExpr:
		return m.evalAnd(e)
	case *syntax.OrExpr:
		return m.evalOr(e)
	case *syntax.BinaryExpr:
		return m.evalBinary(e)
	case *syntax.ConcatExpr:
		return m.evalConcat(e)
	case *syntax.CompareExpr:
		return m.evalCompare(e)
	case *syntax.ChooseExpr:
		return m.evalChoose(e)
	}
	panic("an expression of an unknown kind")
}

func (m *machine) evalName(e *syntax.NameExpr) values.Value {
	m.Step(1)
	v := *m.slot(e.Ref)
	if v == any(values.Unset{}) {
		return e.None
	}
	return v
}

func (m *machine) evalList(e *syntax.ListExpr) values.Value {
	items := make([]values.Value, len(e.Items))
	for i, item := range e.Items {
		items[i] = m.eval(item)
	}
	m.At = e.At
	m.Step(1)
	if e.Tuple {
		return m.NewTuple(items...)
	}
	return m.NewList(items)
}

func (m *machine) evalDict(e *syntax.DictExpr) values.Value {
	m.Step(1)
	m.Grow(48)
	d := &values.Dict{}
	for i, k := range e.Keys {
		key := m.eval(k)
		v := m.eval(e.Values[i])
		m.At = e.At
		m.Set(d, key, v)
	}
	return d
}

func (m *machine) evalMember(e *syntax.MemberExpr) values.Value {
	of := m.eval(e.Of)
	if e.Key == nil {
		m.Step(1)
		m.At = e.At
		return m.Attribute(of, e.Name, e.None)
	}
	key := m.eval(e.Key)
	m.Step(1)
	m.At = e.At
	return m.Element(of, key, e.None)
}

func (m *machine) evalSlice(e *syntax.SliceExpr) values.Value {
	of := m.eval(e.Of)
	var bounds [3]values.Value
	for i, b := range []syntax.Expr{e.Start, e.Stop, e.Step} {
		if b != nil {
			bounds[i] = m.eval(b)
		}
	}
	m.Step(1)
	m.At = e.At
	return m.Slice(of, bounds)
}

// callWith calls with the body of a call block, if caller is one.
func (m *machine) callWith(e *syntax.CallExpr, caller *macro) values.Value {
	m.Step(1)
	if of, ok := e.Of.(*syntax.MemberExpr); ok && of.Key == nil && caller == nil {
		self := m.eval(of.Of)
		if n, ok := library.MethodOf(self, of.Name); ok {
			a := m.evaluate(&e.ArgumentsExpr, n.Most)
			m.At = of.At
			return m.Invoke(n, self, a)
		}
		m.At = of.At
		return m.called(e, m.Attribute(self, of.Name, of.None), caller)
	}
	return m.called(e, m.eval(e.Of), caller)
}

func (m *machine) called(e *syntax.CallExpr, f values.Value, caller *macro) values.Value {
	if u, ok := f.(*values.Undefined); ok {
		m.At = e.At
		m.Missing(u)
	}
	a := m.evaluate(&e.ArgumentsExpr, 0)
	if caller != nil {
		a.Names = append(append([]string(nil), a.Names...), "caller")
		a.Named = append(append([]values.Value(nil), a.Named...), caller)
	}
	m.At = e.At
	return m.callValue(f, a)
}

// callValue calls a value.
func (m *machine) callValue(f values.Value, a *library.Arguments) values.Value {
	switch f := f.(type) {
	case *macro:
		return m.callMacro(f, a)
	case *library.Native:
		return m.Invoke(f, nil, a)
	case *library.Method:
		return m.Invoke(f.With, f.Of, a)
	case *loop:
		if len(a.Pos) != 1 || len(a.Names) > 0 {
			m.Fail("a loop is called with one value")
		}
		return m.again(f, a.Pos[0])
	case *values.Joiner:
		if len(a.Pos)+len(a.Names) > 0 {
			m.Fail("a joiner is called without values")
		}
		if !f.Used {
			f.Used = true
			return ""
		}
		return f.Between
	}
	m.Fail("a %s cannot be called", values.TypeName(f))
	return nil
}

func (m *machine) evalFilter(e *syntax.FilterExpr) values.Value {
	var v values.Value = m.block
	if e.Of != nil {
		v = m.eval(e.Of)
	}
	m.Step(1)
	if e.With.Most == 0 {
		m.At = e.At
		return e.With.Call(&m.Caller, v, nil)
	}
	a := m.evaluate(&e.ArgumentsExpr, e.With.Most)
	m.At = e.At
	return m.Invoke(e.With, v, a)
}

func (m *machine) evalTest(e *syntax.TestExpr) values.Value {
	v := m.eval(e.Of)
	m.Step(1)
	m.At = e.At
	if e.With.Most == 0 {
		return e.With.Call(&m.Caller, v, nil)
	}
	a := m.evaluate(&e.ArgumentsExpr, e.With.Most)
	m.At = e.At
	return m.Invoke(e.With, v, a)
}

func (m *machine) evalNot(e *syntax.NotExpr) values.Value {
	m.Step(1)
	return !values.Truth(m.eval(e.Of))
}

func (m *machine) evalSigned(e *syntax.SignedExpr) values.Value {
	v := m.eval(e.Of)
	m.Step(1)
	m.At = e.At
	return m.Signed(v, e.Minus)
}

func (m *machine) evalAnd(e *syntax.AndExpr) values.Value {
	m.Step(1)
	if v := m.eval(e.Left); !values.Truth(v) {
		return v
	}
	return m.eval(e.Right)
}

func (m *machine) evalOr(e *syntax.OrExpr) values.Value {
	m.Step(1)
	if v := m.eval(e.Left); values.Truth(v) {
		return v
	}
	return m.eval(e.Right)
}

func (m *machine) evalBinary(e *syntax.BinaryExpr) values.Value {
	left := m.eval(e.Left)
	right := m.eval(e.Right)
	m.Step(1)
	m.At = e.At
	return m.Binary(e.Sign, left, right)
}

func (m *machine) evalConcat(e *syntax.ConcatExpr) values.Value {
	m.Step(1)
	start := len(m.Out)
	for _, item := range e.Items {
		m.Print(m.eval(item))
	}
	text := m.Made(string(m.Out[start:]))
	m.Out = m.Out[:start]
	return text
}

func (m *machine) evalCompare(e *syntax.CompareExpr) values.Value {
	left := m.eval(e.First)
	for i, sign := range e.Signs {
		right := m.eval(e.Rest[i])
		m.Step(1)
		m.At = e.At
		if !m.Compare(sign, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (m *machine) evalChoose(e *syntax.ChooseExpr) values.Value {
	m.Step(1)
	switch {
	case values.Truth(m.eval(e.Test)):
		return m.eval(e.Yes)
	case e.No != nil:
		return m.eval(e.No)
	}
	return e.None
}
