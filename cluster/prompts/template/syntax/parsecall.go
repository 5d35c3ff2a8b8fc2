package syntax

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
)

// arguments reads the arguments of a call from its bracket on.
func (p *parser) arguments() (ArgumentsExpr, error) {
	var out ArgumentsExpr
	p.next++
	err := p.separated(")", func() (err error) {
		t := p.peek()
		switch {
		case t.is(aSign, "**"):
			if out.Others != nil {
				return p.wrong(t.at, "only one ** is possible")
			}
			p.next++
			out.Others, err = p.expression()
		case out.Others != nil:
			return p.wrong(t.at, "nothing can follow the arguments after **")
		case t.is(aSign, "*"):
			if out.Rest != nil {
				return p.wrong(t.at, "only one * is possible")
			}
			p.next++
			out.Rest, err = p.expression()
		case t.kind == aName && p.look().is(aSign, "="):
			if slices.Contains(out.Names, t.text) {
				return p.wrong(t.at, "the argument %s is there twice", t.text)
			}
			p.next += 2
			var value Expr
			value, err = p.expression()
			out.Names, out.Named = append(out.Names, t.text), append(out.Named, value)
		default:
			if len(out.Names) > 0 || out.Rest != nil {
				return p.wrong(t.at, "arguments without a name come first")
			}
			var value Expr
			value, err = p.expression()
			out.Values = append(out.Values, value)
		}
		return err
	})
	return out, err
}

// fixed reports whether the number and the names of the arguments are known.
func (a *ArgumentsExpr) fixed() bool { return a.Rest == nil && a.Others == nil }

// misfit says what is wrong with the number and the names of arguments of a native, as far as
// it is known before they have values; empty for nothing.
func misfit(n *library.Native, a *ArgumentsExpr) string {
	if !a.fixed() {
		return ""
	}
	return n.Unfit(len(a.Values), a.Names)
}

func (p *parser) call(of Expr) (Expr, error) {
	at := p.peek().at
	if m, ok := of.(*MemberExpr); ok && m.Key == nil {
		at = m.At
		switch {
		case library.Changes(m.Name):
			return nil, p.wrong(m.At, "%s changes a list or a dict; templates cannot change values, write {%% set x = x + [y] %%}", m.Name)
		case missingMethod(m.Name):
			return nil, p.wrong(m.At, "the method %s is not supported", m.Name)
		}
	}
	arguments, err := p.arguments()
	return &CallExpr{place{at}, of, arguments}, err
}

// filters reads bars, each with a filter after it.
func (p *parser) filters(of Expr) (Expr, error) {
	var err error
	for err == nil && p.skip(aSign, "|") {
		of, err = p.oneFilter(of)
	}
	return of, err
}

func (p *parser) oneFilter(of Expr) (Expr, error) {
	t := p.take()
	if t.kind != aName {
		return nil, p.wrong(t.at, "a filter's name is expected here")
	}
	with, ok := library.FilterOf(t.text)
	if !ok {
		return nil, p.wrong(t.at, "%s", library.NoFilter(t.text))
	}
	out := &FilterExpr{place: place{t.at}, Of: of, With: with}
	if p.sign("(") {
		var err error
		if out.ArgumentsExpr, err = p.arguments(); err != nil {
			return nil, err
		}
	}
	if err := p.known(t, out.ArgumentsExpr); err != nil {
		return nil, err
	}
	if problem := misfit(with, &out.ArgumentsExpr); problem != "" {
		return nil, p.wrong(t.at, "%s", problem)
	}
	return out, nil
}

// known checks the names of filters and tests that are arguments of a filter.
func (p *parser) known(filter token, a ArgumentsExpr) error {
	at := -1
	switch filter.text {
	case "map", "select", "reject":
		at = 0
	case "selectattr", "rejectattr":
		at = 1
	}
	if at < 0 || len(a.Values) <= at {
		return nil
	}
	l, ok := a.Values[at].(*LiteralExpr)
	if !ok {
		return nil
	}
	name, ok := l.Value.(string)
	if !ok {
		return nil
	}
	if filter.text == "map" {
		if _, ok := library.FilterOf(name); !ok {
			return p.wrong(filter.at, "%s", library.NoFilter(name))
		}
		return nil
	}
	if _, ok := library.TestOf(name); !ok {
		return p.wrong(filter.at, "%s", library.NoTest(name))
	}
	return nil
}

// test reads `is name`, perhaps with arguments.
func (p *parser) test(of Expr) (Expr, error) {
	p.next++
	not := p.skip(aName, "not")
	t := p.take()
	if t.kind != aName {
		return nil, p.wrong(t.at, "a test's name is expected here")
	}
	with, ok := library.TestOf(t.text)
	if !ok {
		return nil, p.wrong(t.at, "%s", library.NoTest(t.text))
	}
	out := &TestExpr{place: place{t.at}, Of: of, With: with}
	var err error
	switch {
	case p.sign("("):
		out.ArgumentsExpr, err = p.arguments()
	case p.startsOperand():
		var e Expr
		if e, err = p.primary(); err == nil {
			e, err = p.postfix(e)
		}
		out.Values = []Expr{e}
	}
	if err != nil {
		return nil, err
	}
	if problem := misfit(with, &out.ArgumentsExpr); problem != "" {
		return nil, p.wrong(t.at, "%s", problem)
	}
	if t.text == "sameas" && !singleton(out.Values) {
		return nil, p.wrong(t.at, library.Sameas)
	}
	if not {
		return &NotExpr{out}, nil
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
func singleton(values []Expr) bool {
	if len(values) != 1 {
		return false
	}
	l, ok := values[0].(*LiteralExpr)
	if !ok {
		return false
	}
	_, isBool := l.Value.(bool)
	return isBool || l.Value == nil
}

// missingMethod reports whether Python has a method that templates do not.
func missingMethod(method string) bool {
	switch method {
	case "encode", "translate", "maketrans", "fromkeys", "to_bytes", "from_bytes", "hex", "fromhex", "as_integer_ratio":
		return true
	}
	return false
}
