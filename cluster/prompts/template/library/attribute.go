package template

import (
	"math/big"
	"strings"
)

// attributed is a value that has attributes and methods of its own: a loop or a macro.
type attributed interface {
	attribute(name string) (value, bool)
	method(name string) (*native, bool)
}

// attribute returns of.name: an attribute or a method, else the element of that name,
// else none.
func (m *caller) attribute(of value, name string, none *undefined) value {
	if v, ok := m.ownAttribute(of, name); ok {
		return v
	}
	if d, ok := of.(*dict); ok {
		if v, ok := d.text(name); ok {
			return v
		}
	}
	return m.absent(of, none)
}

// absent is what a value without an attribute has there.
func (m *caller) absent(of value, none *undefined) value {
	if u, ok := of.(*undefined); ok {
		if u.strict {
			m.missing(u)
		}
		return u
	}
	return none
}

// ownAttribute returns an attribute that Python gives a value of its kind.
func (m *caller) ownAttribute(of value, name string) (value, bool) {
	if n, ok := methodOf(of, name); ok {
		m.grow(48)
		return &method{of, n}, true
	}
	switch of := of.(type) {
	case *namespace:
		return of.attrs.text(name)
	case attributed:
		return of.attribute(name)
	case *cycler:
		switch name {
		case "current":
			return of.items[of.at], true
		case "pos":
			return of.at, true
		case "items":
			return m.newTuple(of.items...), true
		}
	case *joiner:
		switch name {
		case "sep":
			return of.between, true
		case "used":
			return of.used, true
		}
	case *tuple:
		if of.group && name == "grouper" {
			return of.items[0], true
		}
		if of.group && name == "list" {
			return of.items[1], true
		}
	case *rangeOf:
		switch name {
		case "start":
			return of.start, true
		case "stop":
			return of.stop, true
		case "step":
			return of.step, true
		}
	case bool, int, *big.Int, float64:
		return numberAttribute(of, name)
	}
	if foreign(of, name) {
		m.fail("the attribute %s of a %s is not supported", name, typeName(of))
	}
	return nil, false
}

func numberAttribute(of value, name string) (value, bool) {
	_, isFloat := of.(float64)
	switch name {
	case "real":
		if b, ok := of.(bool); ok {
			return asInt(b), true
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
func foreign(of value, name string) bool {
	switch of.(type) {
	case string, markup:
		switch name {
		case "encode", "translate", "maketrans", "unescape", "striptags", "escape":
			_, isMarkup := of.(markup)
			return isMarkup || name == "encode" || name == "translate" || name == "maketrans"
		}
	case *list:
		return changes(name) && name != "popitem" && name != "setdefault" && name != "update"
	case *dict:
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
	case *view:
		switch name {
		case "mapping", "isdisjoint":
			return true
		}
	case *generator:
		switch name {
		case "close", "send", "throw", "gi_code", "gi_frame", "gi_running", "gi_suspended", "gi_yieldfrom":
			return true
		}
	case *native, *method:
		return true
	}
	return false
}

// element returns of[key]: an element, else the attribute of that name, else none.
func (m *caller) element(of, key value, none *undefined) value {
	if v, ok := m.item(of, key); ok {
		return v
	}
	name, ok := textOf(key)
	if !ok {
		return m.absent(of, none)
	}
	if _, ok := of.(*undefined); !ok && hidden(name) {
		m.fail(unreachable)
	}
	if v, ok := m.ownAttribute(of, name); ok {
		return v
	}
	return m.absent(of, none)
}

// item returns an element of a dict or a sequence.
func (m *caller) item(of, key value) (value, bool) {
	if d, ok := of.(*dict); ok {
		return m.get(d, key)
	}
	i, ok := key.(int)
	if b, isBool := key.(bool); isBool {
		i, ok = asInt(b), true
	}
	if !ok {
		return nil, false
	}
	switch of := of.(type) {
	case *list:
		return at(of.items, i)
	case *tuple:
		return at(of.items, i)
	case *rangeOf:
		if i < 0 {
			i += of.length
		}
		if i < 0 || i >= of.length {
			return nil, false
		}
		return of.start + i*of.step, true
	case string:
		return m.character(of, i)
	case markup:
		c, ok := m.character(string(of), i)
		if !ok {
			return nil, false
		}
		return markup(c.(string)), true
	}
	return nil, false
}

func at(items []value, i int) (value, bool) {
	if i < 0 {
		i += len(items)
	}
	if i < 0 || i >= len(items) {
		return nil, false
	}
	return items[i], true
}

// character returns the character i of a text.
func (m *caller) character(s string, i int) (value, bool) {
	m.work(4 * len(s))
	length := runes(s)
	if i < 0 {
		i += length
	}
	if i < 0 || i >= length {
		return nil, false
	}
	from := byteAt(s, i)
	return m.made(s[from : from+byteAt(s[from:], 1)]), true
}

// changes reports whether a method changes what it is a method of, which the sandbox
// forbids.
func changes(method string) bool {
	switch method {
	case "append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update":
		return true
	}
	return false
}

// unreachable is the problem of a name that hidden is true for.
const unreachable = "names that begin with an underscore cannot be reached"

func hidden(name string) bool { return strings.HasPrefix(name, "_") }
