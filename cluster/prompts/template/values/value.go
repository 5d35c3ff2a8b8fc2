package template

import "math/big"

// value is what an expression has: nil for None, bool, int, *big.Int for what an int
// cannot hold, float64, string, markup, or one of the types of pointers below. Lists,
// tuples and dicts are never changed once they are made, so templates can share them.
type value = any

// markup is a text that is safe in HTML, Python's Markup: other text that is added to
// it is escaped.
type markup string

type list struct{ items []value }

type tuple struct {
	items []value
	group bool // of groupby, whose parts have the names grouper and list
}

// undefined is the value of what has none.
type undefined struct {
	name   string // for error texts; may be empty
	strict bool   // of an `if` without `else`: it has no attributes either
}

// missing says in error texts what is not defined.
func (u *undefined) missing() string {
	if u.name == "" {
		return "a value that is used here"
	}
	return u.name
}

// unset is an argument that is not given, and a slot without a value.
type unset struct{}

// rangeOf is Python's range. It is not a list: it counts while it is read.
type rangeOf struct{ start, stop, step, length int }

// view is what keys(), values() and items() of a dict return.
type view struct {
	kind  string // keys, values, items
	items []value
}

// generator is what filters like map and select return: it can be read once.
type generator struct {
	items []value
	next  int
	fault *failure // what the items end with; nil for none
}

// namespace has attributes that a template can set.
type namespace struct{ attrs *dict }

type cycler struct {
	items []value
	at    int
}

type joiner struct {
	between value
	used    bool
}

// object is a value whose nature is outside of this package: a loop or a macro.
type object interface {
	typeName() string
	appendTo(out []byte) []byte // what Python's repr shows
}

// sized is an object with a length, which can be iterated over.
type sized interface {
	object
	length() int
}

// bound is a method of a value that was not called yet.
type bound interface{ isMethod() }

// typeName is Python's name of a value's type, for error texts.
func typeName(v value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case markup:
		return "Markup"
	case *list:
		return "list"
	case *tuple:
		return "tuple"
	case *dict:
		return "dict"
	case *undefined:
		return "undefined"
	case *rangeOf:
		return "range"
	case *view:
		return "dict_" + v.kind
	case *generator:
		return "generator"
	case *namespace:
		return "namespace"
	case *cycler:
		return "cycler"
	case *joiner:
		return "joiner"
	case object:
		return v.typeName()
	}
	return "function"
}

// truth is Python's bool().
func truth(v value) bool {
	switch v := v.(type) {
	case nil, *undefined:
		return false
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case markup:
		return v != ""
	case *list:
		return len(v.items) > 0
	case *tuple:
		return len(v.items) > 0
	case *dict:
		return v.len() > 0
	case *view:
		return len(v.items) > 0
	case *rangeOf:
		return v.length > 0
	}
	return true
}

// textOf returns the characters of a text.
func textOf(v value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case markup:
		return string(v), true
	}
	return "", false
}

// like returns text as the same kind of text as v.
func like(v value, text string) value {
	if _, ok := v.(markup); ok {
		return markup(text)
	}
	return text
}

func isText(v value) bool {
	_, ok := textOf(v)
	return ok
}

func isFloatValue(v value) bool {
	_, ok := v.(float64)
	return ok
}

func isUndefined(v value) bool {
	_, ok := v.(*undefined)
	return ok
}

func isBool(v value) bool {
	_, ok := v.(bool)
	return ok
}
