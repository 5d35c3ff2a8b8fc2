package template

import "slices"

// arguments reads the arguments of a call from its bracket on.
func (p *parser) arguments() (argumentsExpr, error) {
	var out argumentsExpr
	p.next++
	err := p.separated(")", func() (err error) {
		t := p.peek()
		switch {
		case t.is(aSign, "**"):
			if out.others != nil {
				return p.wrong(t.at, "only one ** is possible")
			}
			p.next++
			out.others, err = p.expression()
		case out.others != nil:
			return p.wrong(t.at, "nothing can follow the arguments after **")
		case t.is(aSign, "*"):
			if out.rest != nil {
				return p.wrong(t.at, "only one * is possible")
			}
			p.next++
			out.rest, err = p.expression()
		case t.kind == aName && p.look().is(aSign, "="):
			if slices.Contains(out.names, t.text) {
				return p.wrong(t.at, "the argument %s is there twice", t.text)
			}
			p.next += 2
			var value expr
			value, err = p.expression()
			out.names, out.named = append(out.names, t.text), append(out.named, value)
		default:
			if len(out.names) > 0 || out.rest != nil {
				return p.wrong(t.at, "arguments without a name come first")
			}
			var value expr
			value, err = p.expression()
			out.values = append(out.values, value)
		}
		return err
	})
	return out, err
}

// fixed reports whether the number and the names of the arguments are known.
func (a *argumentsExpr) fixed() bool { return a.rest == nil && a.others == nil }

// misfit says what is wrong with the number and the names of arguments of a native, as far as
// it is known before they have values; empty for nothing.
func misfit(n *native, a *argumentsExpr) string {
	if !a.fixed() {
		return ""
	}
	return n.unfit(len(a.values), a.names)
}

func (p *parser) call(of expr) (expr, error) {
	at := p.peek().at
	if m, ok := of.(*memberExpr); ok && m.key == nil {
		at = m.at
		switch {
		case changes(m.name):
			return nil, p.wrong(m.at, "%s changes a list or a dict; templates cannot change values, write {%% set x = x + [y] %%}", m.name)
		case missingMethod(m.name):
			return nil, p.wrong(m.at, "the method %s is not supported", m.name)
		}
	}
	arguments, err := p.arguments()
	return &callExpr{place{at}, of, arguments}, err
}

// filters reads bars, each with a filter after it.
func (p *parser) filters(of expr) (expr, error) {
	var err error
	for err == nil && p.skip(aSign, "|") {
		of, err = p.oneFilter(of)
	}
	return of, err
}

func (p *parser) oneFilter(of expr) (expr, error) {
	t := p.take()
	if t.kind != aName {
		return nil, p.wrong(t.at, "a filter's name is expected here")
	}
	with, ok := filterOf(t.text)
	if !ok {
		return nil, p.wrong(t.at, "%s", noFilter(t.text))
	}
	out := &filterExpr{place: place{t.at}, of: of, with: with}
	if p.sign("(") {
		var err error
		if out.argumentsExpr, err = p.arguments(); err != nil {
			return nil, err
		}
	}
	if err := p.known(t, out.argumentsExpr); err != nil {
		return nil, err
	}
	if problem := misfit(with, &out.argumentsExpr); problem != "" {
		return nil, p.wrong(t.at, "%s", problem)
	}
	return out, nil
}

// known checks the names of filters and tests that are arguments of a filter.
func (p *parser) known(filter token, a argumentsExpr) error {
	at := -1
	switch filter.text {
	case "map", "select", "reject":
		at = 0
	case "selectattr", "rejectattr":
		at = 1
	}
	if at < 0 || len(a.values) <= at {
		return nil
	}
	l, ok := a.values[at].(*literalExpr)
	if !ok {
		return nil
	}
	name, ok := l.value.(string)
	if !ok {
		return nil
	}
	if filter.text == "map" {
		if _, ok := filterOf(name); !ok {
			return p.wrong(filter.at, "%s", noFilter(name))
		}
		return nil
	}
	if _, ok := testOf(name); !ok {
		return p.wrong(filter.at, "%s", noTest(name))
	}
	return nil
}

// test reads `is name`, perhaps with arguments.
func (p *parser) test(of expr) (expr, error) {
	p.next++
	not := p.skip(aName, "not")
	t := p.take()
	if t.kind != aName {
		return nil, p.wrong(t.at, "a test's name is expected here")
	}
	with, ok := testOf(t.text)
	if !ok {
		return nil, p.wrong(t.at, "%s", noTest(t.text))
	}
	out := &testExpr{place: place{t.at}, of: of, with: with}
	var err error
	switch {
	case p.sign("("):
		out.argumentsExpr, err = p.arguments()
	case p.startsOperand():
		var e expr
		if e, err = p.primary(); err == nil {
			e, err = p.postfix(e)
		}
		out.values = []expr{e}
	}
	if err != nil {
		return nil, err
	}
	if problem := misfit(with, &out.argumentsExpr); problem != "" {
		return nil, p.wrong(t.at, "%s", problem)
	}
	if t.text == "sameas" && !singleton(out.values) {
		return nil, p.wrong(t.at, sameas)
	}
	if not {
		return &notExpr{out}, nil
	}
	return out, nil
}

// startsOperand reports whether the argument of a test without brackets comes next.
func (p *parser) startsOperand() bool {
	switch t := p.peek(); t.kind {
	case aString, anInteger, aFloat:
		return true
	case aName:
		return t.text != "else" && t.text != "or" && t.text != "and"
	case aSign:
		return t.text == "[" || t.text == "{"
	case atEnd, aText, beginsOutput, endsOutput, beginsTag, endsTag:
	}
	return false
}

// singleton reports whether there is one value and it is a constant of which there is
// only one, so that it is the same wherever it is equal.
func singleton(values []expr) bool {
	if len(values) != 1 {
		return false
	}
	l, ok := values[0].(*literalExpr)
	if !ok {
		return false
	}
	_, isBool := l.value.(bool)
	return isBool || l.value == nil
}

// missingMethod reports whether Python has a method that templates do not.
func missingMethod(method string) bool {
	switch method {
	case "encode", "translate", "maketrans", "fromkeys", "to_bytes", "from_bytes", "hex", "fromhex", "as_integer_ratio":
		return true
	}
	return false
}
