package template

import "math/big"

const testNames = "boolean, callable, defined, divisibleby, eq, equalto, escaped, even, false, filter, float, ge, greaterthan, gt, in, integer, iterable, le, " +
	"lessthan, lower, lt, mapping, ne, none, number, odd, sameas, sequence, string, test, true, undefined, upper"

// sameas is the problem of the test with values of which there can be several.
const sameas = "sameas takes true, false or none only; write == for equal values"

func noTest(name string) string {
	return "there is no test " + quote(name) + "; templates have " + testNames
}

// testOf returns a test, which stands after `is`.
func testOf(name string) (*native, bool) {
	if n, ok := kindTest(name); ok {
		return n, true
	}
	n := &native{name: name, params: "other", least: 1, most: 1, positional: true}
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
		n.call = func(m *caller, v value, a *arguments) value {
			other := a.pos[0]
			if other != nil && !isBool(other) {
				m.fail(sameas)
			}
			return (isBool(v) || v == nil) && v == other
		}
		return n, true
	case "divisibleby":
		n.params, n.positional = "num", false
		n.call = func(m *caller, v value, a *arguments) value { return m.equal(m.binary("%", v, a.pos[0]), 0) }
		return n, true
	default:
		return nil, false
	}
	n.call = func(m *caller, v value, a *arguments) value { return m.compare(sign, v, a.pos[0]) }
	return n, true
}

// kindTest returns the tests that take no value.
func kindTest(name string) (*native, bool) {
	var is func(v value) bool
	switch name {
	case "defined":
		is = func(v value) bool { return !isUndefined(v) }
	case "undefined":
		is = isUndefined
	case "none":
		is = func(v value) bool { return v == nil }
	case "boolean":
		is = isBool
	case "true":
		is = func(v value) bool { return v == true }
	case "false":
		is = func(v value) bool { return v == false }
	case "integer":
		is = func(v value) bool { return isNumber(v) && !isBool(v) && !isFloatValue(v) }
	case "float":
		is = isFloatValue
	case "number":
		is = isNumber
	case "string":
		is = isText
	case "mapping":
		is = isDict
	case "sequence":
		is = func(v value) bool {
			switch v.(type) {
			case *list, *tuple, *dict, *rangeOf, *undefined:
				return true
			}
			return isText(v)
		}
	case "iterable":
		is = isIterable
	case "callable":
		is = isCallable
	case "escaped":
		is = func(v value) bool {
			switch v := v.(type) {
			case markup:
				return true
			case *undefined:
				return !v.strict
			}
			return false
		}
	default:
		return contentTest(name)
	}
	return &native{name: name, call: func(_ *caller, v value, _ *arguments) value { return is(v) }}, true
}

// contentTest returns the tests that look at what a value is.
func contentTest(name string) (*native, bool) {
	n := &native{name: name}
	switch name {
	case "odd":
		n.call = func(m *caller, v value, _ *arguments) value { return m.equal(m.binary("%", v, 2), 1) }
	case "even":
		n.call = func(m *caller, v value, _ *arguments) value { return m.equal(m.binary("%", v, 2), 0) }
	case "lower":
		n.call = func(m *caller, v value, _ *arguments) value { return inCase(m.str(v), isUpperRune) }
	case "upper":
		n.call = func(m *caller, v value, _ *arguments) value { return inCase(m.str(v), isLowerRune) }
	case "filter":
		n.call = func(m *caller, v value, _ *arguments) value {
			m.hash(v)
			name, ok := textOf(v)
			_, known := filterOf(name)
			return ok && (known || name == "random" || name == "urlize")
		}
	case "test":
		n.call = func(m *caller, v value, _ *arguments) value {
			m.hash(v)
			name, ok := textOf(v)
			_, known := testOf(name)
			return ok && known
		}
	default:
		return nil, false
	}
	return n, true
}

func isCallable(v value) bool {
	switch v.(type) {
	case nil, bool, int, *big.Int, float64, string, markup, *list, *tuple, *dict, *rangeOf, *view, *generator, *namespace, *cycler:
		return false
	}
	return true
}
