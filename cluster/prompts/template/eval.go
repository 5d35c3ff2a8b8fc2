package template

// eval returns the value of an expression.
func (m *machine) eval(e expr) value {
	switch e := e.(type) {
	case *literalExpr:
		return e.value
	case *nameExpr:
		return m.evalName(e)
	case *listExpr:
		return m.evalList(e)
	case *dictExpr:
		return m.evalDict(e)
	case *memberExpr:
		return m.evalMember(e)
	case *sliceExpr:
		return m.evalSlice(e)
	case *callExpr:
		return m.callWith(e, nil)
	case *filterExpr:
		return m.evalFilter(e)
	case *testExpr:
		return m.evalTest(e)
	case *notExpr:
		return m.evalNot(e)
	case *signedExpr:
		return m.evalSigned(e)
	case *andExpr:
		return m.evalAnd(e)
	case *orExpr:
		return m.evalOr(e)
	case *binaryExpr:
		return m.evalBinary(e)
	case *concatExpr:
		return m.evalConcat(e)
	case *compareExpr:
		return m.evalCompare(e)
	case *chooseExpr:
		return m.evalChoose(e)
	}
	panic("an expression of an unknown kind")
}

func (m *machine) evalName(e *nameExpr) value {
	m.step(1)
	v := *m.slot(e.ref)
	if v == any(unset{}) {
		return e.none
	}
	return v
}

func (m *machine) evalList(e *listExpr) value {
	items := make([]value, len(e.items))
	for i, item := range e.items {
		items[i] = m.eval(item)
	}
	m.at = e.at
	m.step(1)
	if e.tuple {
		return m.newTuple(items...)
	}
	return m.newList(items)
}

func (m *machine) evalDict(e *dictExpr) value {
	m.step(1)
	m.grow(48)
	d := &dict{}
	for i, k := range e.keys {
		key := m.eval(k)
		v := m.eval(e.values[i])
		m.at = e.at
		m.set(d, key, v)
	}
	return d
}

func (m *machine) evalMember(e *memberExpr) value {
	of := m.eval(e.of)
	if e.key == nil {
		m.step(1)
		m.at = e.at
		return m.attribute(of, e.name, e.none)
	}
	key := m.eval(e.key)
	m.step(1)
	m.at = e.at
	return m.element(of, key, e.none)
}

func (m *machine) evalSlice(e *sliceExpr) value {
	of := m.eval(e.of)
	var bounds [3]value
	for i, b := range []expr{e.start, e.stop, e.step} {
		if b != nil {
			bounds[i] = m.eval(b)
		}
	}
	m.step(1)
	m.at = e.at
	return m.slice(of, bounds)
}

// callWith calls with the body of a call block, if caller is one.
func (m *machine) callWith(e *callExpr, caller *macro) value {
	m.step(1)
	if of, ok := e.of.(*memberExpr); ok && of.key == nil && caller == nil {
		self := m.eval(of.of)
		if n, ok := methodOf(self, of.name); ok {
			a := m.evaluate(&e.argumentsExpr)
			m.at = of.at
			return m.invoke(n, self, a)
		}
		m.at = of.at
		return m.called(e, m.attribute(self, of.name, of.none), caller)
	}
	return m.called(e, m.eval(e.of), caller)
}

func (m *machine) called(e *callExpr, f value, caller *macro) value {
	if u, ok := f.(*undefined); ok {
		m.at = e.at
		m.missing(u)
	}
	a := m.evaluate(&e.argumentsExpr)
	if caller != nil {
		a.names = append(append([]string(nil), a.names...), "caller")
		a.named = append(append([]value(nil), a.named...), caller)
	}
	m.at = e.at
	return m.callValue(f, a)
}

// callValue calls a value.
func (m *machine) callValue(f value, a *arguments) value {
	switch f := f.(type) {
	case *macro:
		return m.callMacro(f, a)
	case *native:
		return m.invoke(f, nil, a)
	case *method:
		return m.invoke(f.with, f.of, a)
	case *loop:
		if len(a.pos) != 1 || len(a.names) > 0 {
			m.fail("a loop is called with one value")
		}
		return m.again(f, a.pos[0])
	case *joiner:
		if len(a.pos)+len(a.names) > 0 {
			m.fail("a joiner is called without values")
		}
		if !f.used {
			f.used = true
			return ""
		}
		return f.between
	}
	m.fail("a %s cannot be called", typeName(f))
	return nil
}

func (m *machine) evalFilter(e *filterExpr) value {
	var v value = m.block
	if e.of != nil {
		v = m.eval(e.of)
	}
	m.step(1)
	if e.with.most == 0 {
		m.at = e.at
		return e.with.call(&m.caller, v, nil)
	}
	a := m.evaluate(&e.argumentsExpr)
	m.at = e.at
	return m.invoke(e.with, v, a)
}

func (m *machine) evalTest(e *testExpr) value {
	v := m.eval(e.of)
	m.step(1)
	m.at = e.at
	if e.with.most == 0 {
		return e.with.call(&m.caller, v, nil)
	}
	a := m.evaluate(&e.argumentsExpr)
	m.at = e.at
	return m.invoke(e.with, v, a)
}

func (m *machine) evalNot(e *notExpr) value {
	m.step(1)
	return !truth(m.eval(e.of))
}

func (m *machine) evalSigned(e *signedExpr) value {
	v := m.eval(e.of)
	m.step(1)
	m.at = e.at
	return m.signed(v, e.minus)
}

func (m *machine) evalAnd(e *andExpr) value {
	m.step(1)
	if v := m.eval(e.left); !truth(v) {
		return v
	}
	return m.eval(e.right)
}

func (m *machine) evalOr(e *orExpr) value {
	m.step(1)
	if v := m.eval(e.left); truth(v) {
		return v
	}
	return m.eval(e.right)
}

func (m *machine) evalBinary(e *binaryExpr) value {
	left := m.eval(e.left)
	right := m.eval(e.right)
	m.step(1)
	m.at = e.at
	return m.binary(e.sign, left, right)
}

func (m *machine) evalConcat(e *concatExpr) value {
	m.step(1)
	start := len(m.out)
	for _, item := range e.items {
		m.print(m.eval(item))
	}
	text := m.made(string(m.out[start:]))
	m.out = m.out[:start]
	return text
}

func (m *machine) evalCompare(e *compareExpr) value {
	left := m.eval(e.first)
	for i, sign := range e.signs {
		right := m.eval(e.rest[i])
		m.step(1)
		m.at = e.at
		if !m.compare(sign, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (m *machine) evalChoose(e *chooseExpr) value {
	m.step(1)
	switch {
	case truth(m.eval(e.test)):
		return m.eval(e.yes)
	case e.no != nil:
		return m.eval(e.no)
	}
	return e.none
}
