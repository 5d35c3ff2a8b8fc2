package values

import "math/big"

// Value is what an expression has: nil for None, bool, int, *big.Int for what an int
// cannot hold, float64, string, markup, or one of the types of pointers below. Lists,
// tuples and dicts are never changed once they are made, so templates can share them.
type Value = any

// Markup is a text that is safe in HTML, Python's Markup: other text that is added to
// it is escaped.
type Markup string

// List is Python's list.
type List struct{ Items []Value }

// Tuple is Python's tuple.
type Tuple struct {
	Items []Value
	Group bool // of groupby, whose parts have the names grouper and list
}

// Undefined is the value of what has none.
type Undefined struct {
	Name   string // for error texts; may be empty
	Strict bool   // of an `if` without `else`: it has no attributes either
}

// missing says in error texts what is not defined.
func (u *Undefined) missing() string {
	if u.Name == "" {
		return "a value that is used here"
	}
	return u.Name
}

// Unset is an argument that is not given, and a slot without a value.
type Unset struct{}

// RangeOf is Python's range. It is not a list: it counts while it is read.
type RangeOf struct{ Start, Stop, Step, Length int }

// View is what keys(), values() and items() of a dict return.
type View struct {
	Kind  string // keys, values, items
	Items []Value
}

// Generator is what filters like map and select return: it can be read once.
type Generator struct {
	Items []Value
	Next  int
	fault *Failure // what the items end with; nil for none
}

// Namespace has attributes that a template can set.
type Namespace struct{ Attrs *Dict }

// Cycler is what the function cycler returns.
type Cycler struct {
	Items []Value
	At    int
}

// Joiner is what the function joiner returns.
type Joiner struct {
	Between Value
	Used    bool
}

// object is a value whose nature is outside of this package: a loop or a macro.
type object interface {
	TypeName() string
	AppendTo(out []byte) []byte // what Python's repr shows
}

// sized is an object with a length, which can be iterated over.
type sized interface {
	object
	Length() int
}

// bound is a method of a value that was not called yet.
type bound interface{ IsMethod() }

// TypeName is Python's name of a value's type, for error texts.
func TypeName(v Value) string {
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
	case Markup:
		return "Markup"
	case *List:
		return "list"
	case *Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case *Undefined:
		return "undefined"
	case *RangeOf:
		return "range"
	case *View:
		return "dict_" + v.Kind
	case *Generator:
		return "generator"
	case *Namespace:
		return "namespace"
	case *Cycler:
		return "cycler"
	case *Joiner:
		return "joiner"
	case object:
		return v.TypeName()
	}
	return "function"
}

// Truth is Python's bool().
func Truth(v Value) bool {
	switch v := v.(type) {
	case nil, *Undefined:
		return false
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case Markup:
		return v != ""
	case *List:
		return len(v.Items) > 0
	case *Tuple:
		return len(v.Items) > 0
	case *Dict:
		return v.Len() > 0
	case *View:
		return len(v.Items) > 0
	case *RangeOf:
		return v.Length > 0
	}
	return true
}

// TextOf returns the characters of a text.
func TextOf(v Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Markup:
		return string(v), true
	}
	return "", false
}

// Like returns text as the same kind of text as v.
func Like(v Value, text string) Value {
	if _, ok := v.(Markup); ok {
		return Markup(text)
	}
	return text
}

// IsText reports whether a value is a text, perhaps Markup.
func IsText(v Value) bool {
	_, ok := TextOf(v)
	return ok
}

// IsFloatValue reports whether a value is a float.
func IsFloatValue(v Value) bool {
	_, ok := v.(float64)
	return ok
}

// IsUndefined reports whether a value is that of what has none.
func IsUndefined(v Value) bool {
	_, ok := v.(*Undefined)
	return ok
}

// IsBool reports whether a value is True or False.
func IsBool(v Value) bool {
	_, ok := v.(bool)
	return ok
}
