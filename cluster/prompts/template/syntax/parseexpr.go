package syntax

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// reserved reports whether a word has a meaning in expressions, and so is no name.
func reserved(word string) bool {
	switch word {
	case "and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "True", "False", "None", "self":
		return true
	}
	return false
}

func (p *parser) name(t token) *NameExpr {
	return &NameExpr{place: place{t.at}, Text: t.text, None: &values.Undefined{Name: t.text}}
}

// tupleOr reads an expression, or several with commas between them, which are a tuple.
// It ends before one of the words stop.
func (p *parser) tupleOr(stop []string) (Expr, error) { return p.tuple(p.expression, stop) }

// tupleWithoutIf is tupleOr for a place where `if` has another meaning.
func (p *parser) tupleWithoutIf(stop ...string) (Expr, error) { return p.tuple(p.either, stop) }

func (p *parser) tuple(one func() (Expr, error), stop []string) (Expr, error) {
	at := p.peek().at
	var items []Expr
	for comma := false; ; {
		t := p.peek()
		if t.kind == endsOutput || t.kind == endsTag || t.is(aSign, ")") || t.kind == aName && slices.Contains(stop, t.text) {
			if len(items) == 0 {
				return nil, p.wrong(t.at, "an expression is expected here")
			}
			return &ListExpr{place{at}, items, true}, nil
		}
		e, err := one()
		if err != nil {
			return nil, err
		}
		items = append(items, e)
		if !p.skip(aSign, ",") {
			if comma {
				return &ListExpr{place{at}, items, true}, nil
			}
			return e, nil
		}
		comma = true
	}
}

func (p *parser) expression() (Expr, error) {
	if err := p.deeper(p.peek().at); err != nil {
		return nil, err
	}
	defer p.higher()
	e, err := p.either()
	for err == nil && p.skip(aName, "if") {
		choose := &ChooseExpr{Yes: e, None: &values.Undefined{Strict: true}}
		if choose.Test, err = p.either(); err != nil {
			return nil, err
		}
		if p.skip(aName, "else") {
			choose.No, err = p.expression()
		}
		e = choose
	}
	return e, err
}

func (p *parser) either() (Expr, error) {
	left, err := p.both()
	for err == nil && p.skip(aName, "or") {
		var right Expr
		right, err = p.both()
		left = &OrExpr{left, right}
	}
	return left, err
}

func (p *parser) both() (Expr, error) {
	left, err := p.inverted()
	for err == nil && p.skip(aName, "and") {
		var right Expr
		right, err = p.inverted()
		left = &AndExpr{left, right}
	}
	return left, err
}

func (p *parser) inverted() (Expr, error) {
	if !p.word("not") {
		return p.compared()
	}
	if err := p.deeper(p.take().at); err != nil {
		return nil, err
	}
	defer p.higher()
	of, err := p.inverted()
	return &NotExpr{of}, err
}

func (p *parser) compared() (Expr, error) {
	first, err := p.sum()
	if err != nil {
		return nil, err
	}
	out := &CompareExpr{place: place{p.peek().at}, First: first}
	for {
		t := p.peek()
		sign := t.text
		switch {
		case t.kind == aSign && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, t.text), t.is(aName, "in"):
			p.next++
		case t.is(aName, "not") && p.look().is(aName, "in"):
			sign = "not in"
			p.next += 2
		case len(out.Rest) == 0:
			return first, nil
		default:
			return out, nil
		}
		operand, err := p.sum()
		if err != nil {
			return nil, err
		}
		out.Signs, out.Rest = append(out.Signs, sign), append(out.Rest, operand)
	}
}

// binary reads operands with operators of one precedence between them.
func (p *parser) binary(operand func() (Expr, error), signs ...string) (Expr, error) {
	left, err := operand()
	for err == nil {
		t := p.peek()
		if t.kind != aSign || !slices.Contains(signs, t.text) {
			return left, nil
		}
		p.next++
		var right Expr
		right, err = operand()
		left = &BinaryExpr{place{t.at}, t.text, left, right}
	}
	return left, err
}

func (p *parser) sum() (Expr, error) { return p.binary(p.concat, "+", "-") }

func (p *parser) concat() (Expr, error) {
	first, err := p.product()
	if err != nil || !p.sign("~") {
		return first, err
	}
	out := &ConcatExpr{Items: []Expr{first}}
	for p.skip(aSign, "~") {
		e, err := p.product()
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, e)
	}
	return out, nil
}

func (p *parser) product() (Expr, error) { return p.binary(p.power, "*", "/", "//", "%") }

func (p *parser) power() (Expr, error) { return p.binary(p.filtered, "**") }

// filtered reads an operand with the filters and tests after it.
func (p *parser) filtered() (Expr, error) {
	e, err := p.signed()
	for err == nil {
		switch {
		case p.sign("|"):
			e, err = p.filters(e)
		case p.word("is"):
			e, err = p.test(e)
		case p.sign("("):
			e, err = p.call(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

// signed reads an operand with the signs before it. Its members and calls bind tighter,
// its filters do not.
func (p *parser) signed() (Expr, error) {
	t := p.peek()
	if !t.is(aSign, "-") && !t.is(aSign, "+") {
		e, err := p.primary()
		if err != nil {
			return nil, err
		}
		return p.postfix(e)
	}
	if err := p.deeper(t.at); err != nil {
		return nil, err
	}
	defer p.higher()
	p.next++
	of, err := p.signed()
	if err != nil {
		return nil, err
	}
	return p.postfix(&SignedExpr{place{t.at}, of, t.text == "-"})
}

func (p *parser) primary() (Expr, error) {
	t := p.take()
	switch {
	case t.kind == aName:
		return p.constant(t)
	case t.kind == aString:
		parts := []string{t.text}
		for p.peek().kind == aString {
			parts = append(parts, p.take().text)
		}
		return &LiteralExpr{strings.Join(parts, "")}, nil
	case t.kind == anInteger:
		return p.integer(t)
	case t.kind == aFloat:
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil || math.IsInf(f, 0) {
			return nil, p.wrong(t.at, "this number is too large")
		}
		return &LiteralExpr{f}, nil
	case t.is(aSign, "("):
		if p.skip(aSign, ")") {
			return &ListExpr{place: place{t.at}, Tuple: true}, nil
		}
		e, err := p.tupleOr(nil)
		if err == nil {
			err = p.expect(aSign, ")")
		}
		return e, err
	case t.is(aSign, "["):
		out := &ListExpr{place: place{t.at}}
		err := p.separated("]", func() error {
			e, err := p.expression()
			out.Items = append(out.Items, e)
			return err
		})
		return out, err
	case t.is(aSign, "{"):
		out := &DictExpr{place: place{t.at}}
		err := p.separated("}", func() error {
			key, err := p.expression()
			if err == nil {
				err = p.expect(aSign, ":")
			}
			if err != nil {
				return err
			}
			value, err := p.expression()
			out.Keys, out.Values = append(out.Keys, key), append(out.Values, value)
			return err
		})
		return out, err
	}
	return nil, p.wrong(t.at, "a variable or a literal is expected here, not %s", t.shown())
}

// separated reads items with commas between them up to a bracket.
func (p *parser) separated(bracket string, item func() error) error {
	for first := true; ; first = false {
		if !first && !p.sign(bracket) {
			if err := p.expect(aSign, ","); err != nil {
				return err
			}
		}
		if p.skip(aSign, bracket) {
			return nil
		}
		if err := item(); err != nil {
			return err
		}
	}
}

// constant is an operand that is a word: a constant or a name.
func (p *parser) constant(t token) (Expr, error) {
	switch t.text {
	case "true", "True":
		return &LiteralExpr{true}, nil
	case "false", "False":
		return &LiteralExpr{false}, nil
	case "none", "None":
		return &LiteralExpr{nil}, nil
	}
	switch {
	case reserved(t.text):
		return nil, p.wrong(t.at, "%s is not expected here", values.Quote(t.text))
	case library.Hidden(t.text) && !p.stored[t.text]:
		return nil, p.wrong(t.at, library.Unreachable)
	}
	return p.name(t), nil
}

func (p *parser) integer(t token) (Expr, error) {
	const most = 1000 // digits
	v, ok := new(big.Int).SetString(t.text, 0)
	if !ok || len(t.text) > most {
		return nil, p.wrong(t.at, "this number is too large")
	}
	return &LiteralExpr{values.Normal(v)}, nil
}

func (p *parser) postfix(e Expr) (Expr, error) {
	var err error
	for err == nil {
		switch {
		case p.sign("."), p.sign("["):
			e, err = p.member(e)
		case p.sign("("):
			e, err = p.call(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

// member reads .name, .1, [key] or a slice.
func (p *parser) member(of Expr) (Expr, error) {
	at := p.take().at
	if p.tokens[p.next-1].text == "." {
		t := p.take()
		switch {
		case t.kind == anInteger:
			index, err := p.integer(t)
			return &MemberExpr{place{at}, of, "", index, &values.Undefined{Name: t.text}}, err
		case t.kind != aName:
			return nil, p.wrong(t.at, "a name is expected after the point")
		case library.Hidden(t.text):
			return nil, p.wrong(t.at, library.Unreachable)
		}
		return &MemberExpr{place{t.at}, of, t.text, nil, &values.Undefined{Name: t.text}}, nil
	}
	if p.sign(":") {
		return p.slice(at, of, nil)
	}
	key, err := p.expression()
	if err != nil {
		return nil, err
	}
	if p.sign(":") {
		return p.slice(at, of, key)
	}
	none := &values.Undefined{}
	if l, ok := key.(*LiteralExpr); ok {
		if text, ok := l.Value.(string); ok {
			if library.Hidden(text) {
				return nil, p.wrong(at, library.Unreachable)
			}
			none.Name = text
		}
	}
	return &MemberExpr{place{at}, of, "", key, none}, p.expect(aSign, "]")
}

// slice reads the rest of a slice from its first colon.
func (p *parser) slice(at int, of, start Expr) (Expr, error) {
	out := &SliceExpr{place: place{at}, Of: of, Start: start}
	p.next++
	var err error
	if !p.sign(":") && !p.sign("]") {
		if out.Stop, err = p.expression(); err != nil {
			return nil, err
		}
	}
	if p.skip(aSign, ":") && !p.sign("]") {
		if out.Step, err = p.expression(); err != nil {
			return nil, err
		}
	}
	return out, p.expect(aSign, "]")
}
