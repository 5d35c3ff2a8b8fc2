package syntax

import (
	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// target reads what a value is assigned to. Attributes of namespaces are allowed where
// spaces is true.
func (p *parser) target(spaces bool, stop string) (*Target, error) {
	out := &Target{place: place{p.peek().at}, Tuple: true}
	comma := false
	for {
		if t := p.peek(); t.kind == endsTag || t.is(aName, stop) || t.is(aSign, ")") {
			break
		}
		one, err := p.oneTarget(spaces)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, one)
		if !p.skip(aSign, ",") {
			break
		}
		comma = true
	}
	switch {
	case len(out.Items) == 0:
		return nil, p.wrong(out.At, "a name is expected here")
	case !comma:
		return out.Items[0], nil
	}
	return out, nil
}

func (p *parser) oneTarget(spaces bool) (*Target, error) { //nolint:revive // the flag is the grammar's
	t := p.take()
	if t.is(aSign, "(") {
		if err := p.deeper(t.at); err != nil {
			return nil, err
		}
		defer p.higher()
		inner, err := p.target(spaces, "")
		if err == nil {
			err = p.expect(aSign, ")")
		}
		return inner, err
	}
	if t.kind != aName {
		return nil, p.wrong(t.at, "%s is not a name that can be assigned to", t.shown())
	}
	if reserved(t.text) {
		return nil, p.wrong(t.at, "%s cannot be a name", values.Quote(t.text))
	}
	name := p.name(t)
	out := &Target{place: place{t.at}, Name: name}
	if !spaces || !p.skip(aSign, ".") {
		p.stored[t.text] = true
		return out, nil
	}
	attr := p.take()
	if attr.kind != aName {
		return nil, p.wrong(attr.at, "a name is expected after the point")
	}
	if library.Hidden(attr.text) {
		return nil, p.wrong(attr.at, library.Unreachable)
	}
	out.Attr = attr.text
	return out, nil
}

func (p *parser) setTag(word token) (Node, error) {
	to, err := p.target(true, "")
	if err != nil {
		return nil, err
	}
	if p.skip(aSign, "=") {
		value, err := p.tupleOr(nil)
		return &SetNode{place{word.at}, to, value}, err
	}
	out := &SetBlockNode{place: place{word.at}, Target: to}
	if p.sign("|") {
		if out.Filter, err = p.filters(nil); err != nil {
			return nil, err
		}
	}
	out.Body, _, err = p.body(word, "endset")
	return out, err
}

func (p *parser) withTag(word token) (Node, error) {
	out := &WithNode{place: place{word.at}}
	for p.peek().kind != endsTag {
		if len(out.Targets) > 0 {
			if err := p.expect(aSign, ","); err != nil {
				return nil, err
			}
		}
		to, err := p.target(false, "")
		if err != nil {
			return nil, err
		}
		if err := p.expect(aSign, "="); err != nil {
			return nil, err
		}
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		out.Targets, out.Values = append(out.Targets, to), append(out.Values, value)
	}
	var err error
	out.Body, _, err = p.body(word, "endwith")
	return out, err
}

func (p *parser) macroTag(word token) (Node, error) {
	t := p.take()
	if t.kind != aName || reserved(t.text) {
		return nil, p.wrong(t.at, "the macro's name is expected here")
	}
	p.stored[t.text] = true
	out := &MacroNode{place: place{word.at}, Name: t.text}
	if err := p.signature(out); err != nil {
		return nil, err
	}
	err := p.ownLoops(func() (err error) {
		out.Body, _, err = p.body(word, "endmacro")
		return err
	})
	return out, err
}

// signature reads the parameters of a macro.
func (p *parser) signature(out *MacroNode) error {
	if err := p.expect(aSign, "("); err != nil {
		return err
	}
	for !p.sign(")") {
		if len(out.Params) > 0 {
			if err := p.expect(aSign, ","); err != nil {
				return err
			}
		}
		t := p.take()
		if t.kind != aName || reserved(t.text) {
			return p.wrong(t.at, "a parameter's name is expected here")
		}
		for _, other := range out.Params {
			if other.Text == t.text {
				return p.wrong(t.at, "there are two parameters %s", t.text)
			}
		}
		p.stored[t.text] = true
		out.Params = append(out.Params, p.name(t))
		if p.skip(aSign, "=") {
			value, err := p.expression()
			if err != nil {
				return err
			}
			out.Defaults = append(out.Defaults, value)
		} else if len(out.Defaults) > 0 {
			return p.wrong(t.at, "the parameter %s needs a default, like the one before it", t.text)
		}
	}
	return p.expect(aSign, ")")
}

func (p *parser) callTag(word token) (Node, error) {
	body := &MacroNode{place: place{word.at}}
	if p.sign("(") {
		if err := p.signature(body); err != nil {
			return nil, err
		}
	}
	at := p.peek().at
	called, err := p.expression()
	if err != nil {
		return nil, err
	}
	call, ok := called.(*CallExpr)
	if !ok {
		return nil, p.wrong(at, "the call of a macro is expected here")
	}
	err = p.ownLoops(func() (err error) {
		body.Body, _, err = p.body(word, "endcall")
		return err
	})
	return &CallNode{place{word.at}, call, body}, err
}

func (p *parser) filterTag(word token) (Node, error) {
	filter, err := p.oneFilter(nil)
	if err == nil && p.sign("|") {
		filter, err = p.filters(filter)
	}
	if err != nil {
		return nil, err
	}
	out := &FilterNode{place: place{word.at}, Filter: filter}
	out.Body, _, err = p.body(word, "endfilter")
	return out, err
}

func (p *parser) printTag(word token) (Node, error) {
	out := &OutputNode{place: place{word.at}}
	for p.peek().kind != endsTag {
		if len(out.Values) > 0 {
			if err := p.expect(aSign, ","); err != nil {
				return nil, err
			}
		}
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		out.Values = append(out.Values, value)
	}
	return out, nil
}

// includeTag reads the name of another prompt. Nothing else can be included.
func (p *parser) includeTag(word token) (Node, error) {
	t := p.take()
	if t.kind != aString {
		return nil, p.wrong(t.at, `include takes a prompt's name in quotes: "prompt:NAME"`)
	}
	reference, problem := parseReference(t.text)
	if problem != "" {
		return nil, p.wrong(t.at, "%s", problem)
	}
	switch {
	case p.word("ignore"):
		return nil, p.wrong(p.peek().at, "ignore missing is not supported; a prompt that is included exists")
	case p.word("without"):
		return nil, p.wrong(p.peek().at, "without context is not supported")
	case p.word("with") && p.look().is(aName, "context"):
		p.next += 2
	}
	known := false
	for _, r := range p.includes {
		known = known || r == reference
	}
	if !known {
		p.includes = append(p.includes, reference)
	}
	return &IncludeNode{place: place{word.at}, Reference: reference}, nil
}
