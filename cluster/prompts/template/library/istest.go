package library

import (
	"math/big"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

const testNames = "boolean, callable, defined, divisibleby, eq, equalto, escaped, even, false, filter, float, ge, greaterthan, gt, in, integer, iterable, le, " +
	"lessthan, lower, lt, mapping, ne, none, number, odd, sameas, sequence, string, test, true, undefined, upper"

// Sameas is the problem of the test with values of which there can be several.
const Sameas = "sameas takes true, false or none only; write == for equal values"

// NoTest says why there is no test of a name.
func NoTest(name string) string {
	return "there is no test " + values.Quote(name) + "; templates have " + testNames
}

// TestOf returns a test, which stands after `is`.
func TestOf(name string) (*Native, bool) {
	if n, ok := kindTest(name); ok {
		return n, true
	}
	n := &Native{Name: name, params: "other", least: 1, Most: 1, positional: true}
	sign := ""
	switch name {
	case "eq", "equalto", "==":
		sign = "=="
	case "ne", "!=":
		sign = "!="
	case "gt", "greaterthan", ">":
		sign = ">"
	case "ge", ">=":
		sign = ">="
	case "lt", "lessthan", "<":
		sign = "<"
	case "le", "<=":
		sign = "<="
	case "in":
		sign, n.params, n.positional = "in", "seq", false
	case "sameas":
		n.positional = false
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			other := a.Pos[0]
			if other != nil && !values.IsBool(other) {
				m.Fail(Sameas)
			}
			return (values.IsBool(v) || v == nil) && v == other
		}
		return n, true
	case "divisibleby":
		n.params, n.positional = "num", false
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			return m.Equal(m.Binary("%", v, a.Pos[0]), 0)
		}
		return n, true
	default:
		return nil, false
	}
	n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.Compare(sign, v, a.Pos[0]) }
	return n, true
}

// kindTest returns the tests that take no value.
func kindTest(name string) (*Native, bool) {
	var is func(v values.Value) bool
	switch name {
	case "defined":
		is = func(v values.Value) bool { return !values.IsUndefined(v) }
	case "undefined":
		is = values.IsUndefined
	case "none":
		is = func(v values.Value) bool { return v == nil }
	case "boolean":
		is = values.IsBool
	case "true":
		is = func(v values.Value) bool { return v == true }
	case "false":
		is = func(v values.Value) bool { return v == false }
	case "integer":
		is = func(v values.Value) bool { return values.IsNumber(v) && !values.IsBool(v) && !values.IsFloatValue(v) }
	case "float":
		is = values.IsFloatValue
	case "number":
		is = values.IsNumber
	case "string":
		is = values.IsText
	case "mapping":
		is = isDict
	case "sequence":
		is = func(v values.Value) bool {
			switch v.(type) {
			case *values.List, *values.Tuple, *values.Dict, *values.RangeOf, *values.Undefined:
				return true
			}
			return values.IsText(v)
		}
	case "iterable":
		is = values.IsIterable
	case "callable":
		is = isCallable
	case "escaped":
		is = func(v values.Value) bool {
			switch v := v.(type) {
			case values.Markup:
				return true
			case *values.Undefined:
				return !v.Strict
			}
			return false
		}
	default:
		return contentTest(name)
	}
	return &Native{Name: name, Call: func(_ *Caller, v values.Value, _ *Arguments) values.Value { return is(v) }}, true
}

// contentTest returns the tests that look at what a value is.
func contentTest(name string) (*Native, bool) {
	n := &Native{Name: name}
	switch name {
	case "odd":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value { return m.Equal(m.Binary("%", v, 2), 1) }
	case "even":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value { return m.Equal(m.Binary("%", v, 2), 0) }
	case "lower":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			return values.InCase(m.Str(v), values.IsUpperRune)
		}
	case "upper":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			return values.InCase(m.Str(v), values.IsLowerRune)
		}
	case "filter":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			m.Hash(v)
			name, ok := values.TextOf(v)
			_, known := FilterOf(name)
			return ok && (known || name == "random" || name == "urlize")
		}
	case "test":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			m.Hash(v)
			name, ok := values.TextOf(v)
			_, known := TestOf(name)
			return ok && known
		}
	default:
		return nil, false
	}
	return n, true
}

func isCallable(v values.Value) bool {
	switch v.(type) {
	case nil, bool, int, *big.Int, float64, string, values.Markup, *values.List, *values.Tuple, *values.Dict, *values.RangeOf, *values.View, *values.Generator, *values.Namespace, *values.Cycler:
		return false
	}
	return true
}
