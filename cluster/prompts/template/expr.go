package template

import (
	"slices"
	"strconv"
	"strings"
)

// expr is an expression: one of the types below.
type expr any

type literal struct{ value any }

type name struct {
	text string
	at   int
}

// member is an attribute or an element.
type member struct {
	of  expr
	key expr
}

type filtered struct {
	of   expr
	with filter
	args []expr
}

// defined is `x is defined`, or not.
type defined struct {
	of  expr
	not bool
}

type negation struct{ of expr }

type binary struct {
	sign        string
	left, right expr
}

// reader reads the tokens of one expression.
type reader struct {
	p      *parser
	tokens []token
	depth  int
}

// whole reads tokens that are one expression and nothing else.
func (p *parser) whole(tokens []token) (expr, error) {
	r := &reader{p: p, tokens: tokens}
	e, err := r.either()
	if err != nil {
		return nil, err
	}
	if t := r.tokens[0]; t.kind != isEnd {
		return nil, p.wrong(t.at, "%q is not expected here", t.text)
	}
	return e, nil
}

func (r *reader) peek(words ...string) bool {
	t := r.tokens[0]
	if t.kind != isName && t.kind != isSign {
		return false
	}
	return slices.Contains(words, t.text)
}

func (r *reader) take() token {
	t := r.tokens[0]
	if t.kind != isEnd {
		r.tokens = r.tokens[1:]
	}
	return t
}

func (r *reader) expect(sign string) error {
	if !r.peek(sign) {
		return r.p.wrong(r.tokens[0].at, "%q is expected here", sign)
	}
	r.take()
	return nil
}

func (r *reader) either() (expr, error) { return r.chain(r.both, "or") }
func (r *reader) both() (expr, error)   { return r.chain(r.inverted, "and") }

// chain reads operands of one precedence with operators between them.
func (r *reader) chain(operand func() (expr, error), signs ...string) (expr, error) {
	left, err := operand()
	for err == nil && r.peek(signs...) {
		sign := r.take().text
		var right expr
		if right, err = operand(); err == nil {
			left = binary{sign, left, right}
		}
	}
	return left, err
}

func (r *reader) inverted() (expr, error) {
	if !r.peek("not") {
		return r.compared()
	}
	if err := r.deeper(); err != nil {
		return nil, err
	}
	defer r.higher()
	r.take()
	of, err := r.inverted()
	return negation{of}, err
}

func (r *reader) compared() (expr, error) {
	left, err := r.value()
	if err != nil {
		return nil, err
	}
	switch {
	case r.peek("is"):
		return r.test(left)
	case r.peek("not"):
		r.take()
		if err := r.expect("in"); err != nil {
			return nil, err
		}
		right, err := r.value()
		return negation{binary{"in", left, right}}, err
	case r.peek("==", "!=", "<", ">", "<=", ">=", "in"):
		sign := r.take().text
		right, err := r.value()
		return binary{sign, left, right}, err
	}
	return left, nil
}

// test reads `is defined` and the like.
func (r *reader) test(of expr) (expr, error) {
	r.take()
	not := r.peek("not")
	if not {
		r.take()
	}
	switch t := r.take(); t.text {
	case "defined":
		return defined{of, not}, nil
	case "undefined", "none":
		return defined{of, !not}, nil
	default:
		return nil, r.p.wrong(t.at, "there is no test %q; templates have defined, undefined and none", t.text)
	}
}

// value reads an operand with its members and filters.
func (r *reader) value() (expr, error) {
	if err := r.deeper(); err != nil {
		return nil, err
	}
	defer r.higher()
	e, err := r.operand()
	for err == nil {
		switch {
		case r.peek("."):
			r.take()
			t := r.take()
			switch {
			case t.kind != isName && t.kind != isNumber:
				return nil, r.p.wrong(t.at, "a name is expected after the point")
			case strings.HasPrefix(t.text, "_"):
				return nil, r.p.wrong(t.at, "names that begin with an underscore cannot be reached")
			case t.kind == isNumber:
				e = member{e, literal{number(t.text)}}
			default:
				e = member{e, literal{t.text}}
			}
		case r.peek("["):
			r.take()
			var key expr
			if key, err = r.either(); err == nil {
				e, err = member{e, key}, r.expect("]")
			}
		case r.peek("|"):
			r.take()
			e, err = r.filter(e)
		case r.peek("("):
			return nil, r.p.wrong(r.tokens[0].at, "nothing can be called")
		default:
			return e, nil
		}
	}
	return nil, err
}

func (r *reader) operand() (expr, error) {
	t := r.take()
	switch {
	case t.kind == isString:
		return literal{t.text}, nil
	case t.kind == isNumber:
		return literal{number(t.text)}, nil
	case t.text == "(" && t.kind == isSign:
		e, err := r.either()
		if err != nil {
			return nil, err
		}
		return e, r.expect(")")
	case t.kind != isName:
		return nil, r.p.wrong(t.at, "a variable, a text or a number is expected here")
	}
	switch t.text {
	case "true", "True":
		return literal{true}, nil
	case "false", "False":
		return literal{false}, nil
	case "none", "None":
		return literal{nil}, nil
	case "loop":
		if len(r.p.loops) == 0 {
			return nil, r.p.wrong(t.at, "loop means something within a loop only")
		}
		return name{t.text, t.at}, nil
	}
	switch {
	case reserved(t.text):
		return nil, r.p.wrong(t.at, "%q is not expected here", t.text)
	case strings.HasPrefix(t.text, "_"):
		return nil, r.p.wrong(t.at, "names that begin with an underscore cannot be reached")
	}
	r.p.uses(t.text)
	return name{t.text, t.at}, nil
}

// filter reads a filter and its arguments.
func (r *reader) filter(of expr) (expr, error) {
	t := r.take()
	f, ok := filterOf(t.text)
	if t.kind != isName || !ok {
		return nil, r.p.wrong(t.at, "there is no filter %q; templates have %s", t.text, filterNames())
	}
	out := filtered{of: of, with: f}
	if r.peek("(") {
		r.take()
		for !r.peek(")") {
			arg, err := r.either()
			if err != nil {
				return nil, err
			}
			out.args = append(out.args, arg)
			if !r.peek(",") {
				break
			}
			r.take()
		}
		if err := r.expect(")"); err != nil {
			return nil, err
		}
	}
	if len(out.args) < f.least || len(out.args) > f.most {
		return nil, r.p.wrong(t.at, "the filter %s takes %d to %d values", t.text, f.least, f.most)
	}
	return out, nil
}

func (r *reader) deeper() error {
	if r.depth++; r.depth > maxDepth {
		return r.p.wrong(r.tokens[0].at, "the expression is nested more than %d deep", maxDepth)
	}
	return nil
}

func (r *reader) higher() { r.depth-- }

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil { // out of range: the nearest there is
		return v
	}
	return v
}
