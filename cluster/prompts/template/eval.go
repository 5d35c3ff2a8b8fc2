package template

func (e *literalExpr) eval(*machine) value { return e.value }

func (e *nameExpr) eval(m *machine) value {
	m.step(1)
	v := *m.slot(e.ref)
	if v == any(unset{}) {
		return e.none
	}
	return v
}

func (e *listExpr) eval(m *machine) value {
	items := make([]value, len(e.items))
	for i, item := range e.items {
		items[i] = item.eval(m)
	}
	m.at = e.at
	m.step(1)
	if e.tuple {
		return m.newTuple(items...)
	}
	return m.newList(items)
}

func (e *dictExpr) eval(m *machine) value {
	m.step(1)
	m.grow(48)
	d := &dict{}
	for i, k := range e.keys {
		key := k.eval(m)
		v := e.values[i].eval(m)
		m.at = e.at
		m.set(d, key, v)
	}
	return d
}

func (e *memberExpr) eval(m *machine) value {
	of := e.of.eval(m)
	if e.key == nil {
		m.step(1)
		m.at = e.at
		return m.attribute(of, e.name, e.none)
	}
	key := e.key.eval(m)
	m.step(1)
	m.at = e.at
	return m.element(of, key, e.none)
}

func (e *sliceExpr) eval(m *machine) value {
	of := e.of.eval(m)
	var bounds [3]value
	for i, b := range []expr{e.start, e.stop, e.step} {
		if b != nil {
			bounds[i] = b.eval(m)
		}
	}
	m.step(1)
	m.at = e.at
	return m.slice(of, bounds)
}

func (e *callExpr) eval(m *machine) value { return e.evalWith(m, nil) }

// evalWith calls with the body of a call block, if caller is one.
func (e *callExpr) evalWith(m *machine, caller *macro) value {
	m.step(1)
	if of, ok := e.of.(*memberExpr); ok && of.key == nil && caller == nil {
		self := of.of.eval(m)
		if n, ok := methodOf(self, of.name); ok {
			a := e.evaluate(m)
			m.at = of.at
			return m.invoke(n, self, a)
		}
		m.at = of.at
		return m.called(e, m.attribute(self, of.name, of.none), caller)
	}
	return m.called(e, e.of.eval(m), caller)
}

func (m *machine) called(e *callExpr, f value, caller *macro) value {
	if u, ok := f.(*undefined); ok {
		m.at = e.at
		m.missing(u)
	}
	a := e.evaluate(m)
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

func (e *filterExpr) eval(m *machine) value {
	var v value = m.block
	if e.of != nil {
		v = e.of.eval(m)
	}
	m.step(1)
	if e.with.most == 0 {
		m.at = e.at
		return e.with.call(m, v, nil)
	}
	a := e.evaluate(m)
	m.at = e.at
	return m.invoke(e.with, v, a)
}

func (e *testExpr) eval(m *machine) value {
	v := e.of.eval(m)
	m.step(1)
	m.at = e.at
	if e.with.most == 0 {
		return e.with.call(m, v, nil)
	}
	a := e.evaluate(m)
	m.at = e.at
	return m.invoke(e.with, v, a)
}

func (e *notExpr) eval(m *machine) value {
	m.step(1)
	return !truth(e.of.eval(m))
}

func (e *signedExpr) eval(m *machine) value {
	v := e.of.eval(m)
	m.step(1)
	m.at = e.at
	return m.signed(v, e.minus)
}

func (e *andExpr) eval(m *machine) value {
	m.step(1)
	if v := e.left.eval(m); !truth(v) {
		return v
	}
	return e.right.eval(m)
}

func (e *orExpr) eval(m *machine) value {
	m.step(1)
	if v := e.left.eval(m); truth(v) {
		return v
	}
	return e.right.eval(m)
}

func (e *binaryExpr) eval(m *machine) value {
	left := e.left.eval(m)
	right := e.right.eval(m)
	m.step(1)
	m.at = e.at
	return m.binary(e.sign, left, right)
}

func (e *concatExpr) eval(m *machine) value {
	m.step(1)
	start := len(m.out)
	for _, item := range e.items {
		m.print(item.eval(m))
	}
	text := m.made(string(m.out[start:]))
	m.out = m.out[:start]
	return text
}

func (e *compareExpr) eval(m *machine) value {
	left := e.first.eval(m)
	for i, sign := range e.signs {
		right := e.rest[i].eval(m)
		m.step(1)
		m.at = e.at
		if !m.compare(sign, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (e *chooseExpr) eval(m *machine) value {
	m.step(1)
	switch {
	case truth(e.test.eval(m)):
		return e.yes.eval(m)
	case e.no != nil:
		return e.no.eval(m)
	}
	return e.none
}
