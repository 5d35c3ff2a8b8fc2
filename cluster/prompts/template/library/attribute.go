package library

import (
	"math/big"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// attributed is a value that has attributes and methods of its own: a loop or a macro.
type attributed interface {
	Attribute(name string) (values.Value, bool)
	Method(name string) (*Native, bool)
}

// Attribute returns of.name: an attribute or a method, else the element of that name,
// else none.
func (m *Caller) Attribute(of values.Value, name string, none *values.Undefined) values.Value {
	if v, ok := m.ownAttribute(of, name); ok {
		return v
	}
	if d, ok := of.(*values.Dict); ok {
		if v, ok := d.Text(name); ok {
			return v
		}
	}
	return m.absent(of, none)
}

// absent is what a value without an attribute has there.
func (m *Caller) absent(of values.Value, none *values.Undefined) values.Value {
	if u, ok := of.(*values.Undefined); ok {
		if u.Strict {
			m.Missing(u)
		}
		return u
	}
	return none
}

// ownAttribute returns an attribute that Python gives a value of its kind.
func (m *Caller) ownAttribute(of values.Value, name string) (values.Value, bool) {
	if n, ok := MethodOf(of, name); ok {
		m.Grow(48)
		return &Method{of, n}, true
	}
	switch of := of.(type) {
	case *values.Namespace:
		return of.Attrs.Text(name)
	case attributed:
		return of.Attribute(name)
	case *values.Cycler:
		switch name {
		case "current":
			return of.Items[of.At], true
		case "pos":
			return of.At, true
		case "items":
			return m.NewTuple(of.Items...), true
		}
	case *values.Joiner:
		switch name {
		case "sep":
			return of.Between, true
		case "used":
			return of.Used, true
		}
	case *values.Tuple:
		if of.Group && name == "grouper" {
			return of.Items[0], true
		}
		if of.Group && name == "list" {
			return of.Items[1], true
		}
	case *values.RangeOf:
		switch name {
		case "start":
			return of.Start, true
		case "stop":
			return of.Stop, true
		case "step":
			return of.Step, true
		}
	case bool, int, *big.Int, float64:
		return numberAttribute(of, name)
	}
	if foreign(of, name) {
		m.Fail("the attribute %s of a %s is not supported", name, values.TypeName(of))
	}
	return nil, false
}

func numberAttribute(of values.Value, name string) (values.Value, bool) {
	_, isFloat := of.(float64)
	switch name {
	case "real":
		if b, ok := of.(bool); ok {
			return values.AsInt(b), true
		}
		return of, true
	case "imag":
		if isFloat {
			return 0.0, true
		}
		return 0, true
	case "numerator", "denominator":
		if isFloat {
			return nil, false
		}
		if name == "denominator" {
			return 1, true
		}
		return numberAttribute(of, "real")
	}
	return nil, false
}

// foreign reports whether Python has an attribute that templates do not have.
func foreign(of values.Value, name string) bool {
	switch of.(type) {
	case string, values.Markup:
		switch name {
		case "encode", "translate", "maketrans", "unescape", "striptags", "escape":
			_, isMarkup := of.(values.Markup)
			return isMarkup || name == "encode" || name == "translate" || name == "maketrans"
		}
	case *values.List:
		return Changes(name) && name != "popitem" && name != "setdefault" && name != "update"
	case *values.Dict:
		switch name {
		case "clear", "pop", "popitem", "setdefault", "update", "fromkeys":
			return true
		}
	case bool, int, *big.Int:
		switch name {
		case "to_bytes", "from_bytes", "as_integer_ratio":
			return true
		}
	case float64:
		switch name {
		case "hex", "fromhex", "as_integer_ratio":
			return true
		}
	case *values.View:
		switch name {
		case "mapping", "isdisjoint":
			return true
		}
	case *values.Generator:
		switch name {
		case "close", "send", "throw", "gi_code", "gi_frame", "gi_running", "gi_suspended", "gi_yieldfrom":
			return true
		}
	case *Native, *Method:
		return true
	}
	return false
}

// Element returns of[key]: an element, else the attribute of that name, else none.
func (m *Caller) Element(of, key values.Value, none *values.Undefined) values.Value {
	if v, ok := m.item(of, key); ok {
		return v
	}
	name, ok := values.TextOf(key)
	if !ok {
		return m.absent(of, none)
	}
	if _, ok := of.(*values.Undefined); !ok && Hidden(name) {
		m.Fail(Unreachable)
	}
	if v, ok := m.ownAttribute(of, name); ok {
		return v
	}
	return m.absent(of, none)
}

// item returns an element of a dict or a sequence.
func (m *Caller) item(of, key values.Value) (values.Value, bool) {
	if d, ok := of.(*values.Dict); ok {
		return m.Get(d, key)
	}
	i, ok := key.(int)
	if b, isBool := key.(bool); isBool {
		i, ok = values.AsInt(b), true
	}
	if !ok {
		return nil, false
	}
	switch of := of.(type) {
	case *values.List:
		return at(of.Items, i)
	case *values.Tuple:
		return at(of.Items, i)
	case *values.RangeOf:
		if i < 0 {
			i += of.Length
		}
		if i < 0 || i >= of.Length {
			return nil, false
		}
		return of.Start + i*of.Step, true
	case string:
		return m.character(of, i)
	case values.Markup:
		c, ok := m.character(string(of), i)
		if !ok {
			return nil, false
		}
		return values.Markup(c.(string)), true
	}
	return nil, false
}

func at(items []values.Value, i int) (values.Value, bool) {
	if i < 0 {
		i += len(items)
	}
	if i < 0 || i >= len(items) {
		return nil, false
	}
	return items[i], true
}

// character returns the character i of a text.
func (m *Caller) character(s string, i int) (values.Value, bool) {
	m.Work(4 * len(s))
	length := values.Runes(s)
	if i < 0 {
		i += length
	}
	if i < 0 || i >= length {
		return nil, false
	}
	from := values.ByteAt(s, i)
	return m.Made(s[from : from+values.ByteAt(s[from:], 1)]), true
}

// Changes reports whether a method changes what it is a method of, which the sandbox
// forbids.
func Changes(method string) bool {
	switch method {
	case "append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update":
		return true
	}
	return false
}

// Unreachable is the problem of a name that hidden is true for.
const Unreachable = "names that begin with an underscore cannot be reached"

// Hidden reports whether templates cannot reach a name.
func Hidden(name string) bool { return strings.HasPrefix(name, "_") }
