package template

import (
	"maps"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// renderer is one rendering.
type renderer struct {
	values map[string]any
	scope  []binding // of the loops that are open, the innermost last
	out    []byte
	steps  int
	size   int // bytes that were made on the way, which may be thrown away
}

type binding struct {
	name  string
	value any
}

func tooMuch() error {
	return fault.Field("", "template_too_costly", "With these values the template does more than %d steps, or comes to more than %d bytes. Make it or the values shorter.", maxSteps, MaxOutput)
}

// step counts a step.
func (r *renderer) step() error {
	if r.steps++; r.steps > maxSteps || len(r.out)+r.size > MaxOutput {
		return tooMuch()
	}
	return nil
}

func (r *renderer) nodes(list []node) error {
	for _, n := range list {
		if err := r.step(); err != nil {
			return err
		}
		var err error
		switch n := n.(type) {
		case textNode:
			r.out = append(r.out, n...)
		case outputNode:
			var v any
			if v, err = r.eval(n.value); err == nil {
				r.out = appendText(r.out, v)
			}
		case ifNode:
			err = r.conditional(n)
		case forNode:
			err = r.loop(n)
		}
		if err != nil {
			return err
		}
		if len(r.out) > MaxOutput {
			return tooMuch()
		}
	}
	return nil
}

func (r *renderer) conditional(n ifNode) error {
	for _, b := range n.branches {
		v, err := r.eval(b.condition)
		if err != nil {
			return err
		}
		if truth(v) {
			return r.nodes(b.body)
		}
	}
	return r.nodes(n.last)
}

// loop repeats its body for each element of a list, or each name of an object, in
// order. Anything else is an empty list.
func (r *renderer) loop(n forNode) error {
	v, err := r.eval(n.list)
	if err != nil {
		return err
	}
	list, ok := v.([]any)
	if object, is := v.(map[string]any); is {
		list, ok = namesOf(object), true
	}
	if !ok || len(list) == 0 {
		return r.nodes(n.last)
	}
	at := len(r.scope)
	defer func() { r.scope = r.scope[:at] }()
	for i, e := range list {
		if err := r.step(); err != nil {
			return err
		}
		r.scope = append(r.scope[:at], binding{n.name, e}, binding{"loop", loopState{i, len(list)}})
		if err := r.nodes(n.body); err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) eval(e expr) (any, error) {
	if err := r.step(); err != nil {
		return nil, err
	}
	switch e := e.(type) {
	case literal:
		return e.value, nil
	case name:
		return r.lookUp(e.text), nil
	case member:
		return r.both(e.of, e.key, memberOf)
	case negation:
		v, err := r.eval(e.of)
		return !truth(v), err
	case defined:
		v, err := r.eval(e.of)
		there := v != nil && v != any(absent{})
		return there != e.not, err
	case binary:
		return r.binary(e)
	case filtered:
		return r.filter(e)
	}
	return absent{}, nil
}

func (r *renderer) both(a, b expr, with func(a, b any) any) (any, error) {
	left, err := r.eval(a)
	if err != nil {
		return nil, err
	}
	right, err := r.eval(b)
	if err != nil {
		return nil, err
	}
	return with(left, right), nil
}

func (r *renderer) binary(e binary) (any, error) {
	switch e.sign {
	case "and", "or":
		left, err := r.eval(e.left)
		if err != nil || truth(left) == (e.sign == "or") {
			return left, err
		}
		return r.eval(e.right)
	}
	return r.both(e.left, e.right, func(a, b any) any { return compare(e.sign, a, b) })
}

func (r *renderer) filter(e filtered) (any, error) {
	v, err := r.eval(e.of)
	if err != nil {
		return nil, err
	}
	args := make([]any, len(e.args))
	for i, arg := range e.args {
		if args[i], err = r.eval(arg); err != nil {
			return nil, err
		}
	}
	if e.with.name == "replace" { // the one filter whose outcome may be much longer than what it gets
		if grown := len(textOf(v)) * (1 + len(textOf(args[1]))); grown > MaxOutput {
			return nil, tooMuch()
		}
	}
	out := e.with.apply(v, args)
	if s, ok := out.(string); ok {
		r.size += len(s)
	}
	return out, r.step()
}

func (r *renderer) lookUp(name string) any {
	for _, b := range slices.Backward(r.scope) {
		if b.name == name {
			return b.value
		}
	}
	if v, ok := r.values[name]; ok {
		return v
	}
	return absent{}
}

// namesOf returns the names of an object's members, in order.
func namesOf(object map[string]any) []any {
	out := make([]any, 0, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		out = append(out, name)
	}
	return out
}
