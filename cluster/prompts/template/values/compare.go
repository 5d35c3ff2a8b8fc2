package template

import (
	"math/big"
	"strings"
)

// compare says whether two values are in a relation.
func (m *counter) compare(sign string, a, b value) bool {
	switch sign {
	case "==":
		return m.equal(a, b)
	case "!=":
		return !m.equal(a, b)
	case "in":
		return m.contains(b, a)
	case "not in":
		return !m.contains(b, a)
	case "<":
		return m.less(a, b)
	case ">":
		return m.less(b, a)
	}
	if order, ok := m.numbers(a, b); ok {
		return order != unordered && (order == 0 || (order < 0) == (sign == "<="))
	}
	if sign == "<=" {
		return m.less(a, b) || m.equal(a, b)
	}
	return m.less(b, a) || m.equal(a, b)
}

// unordered is how a number that is none is to others.
const unordered = 2

// numbers compares two values if both are numbers.
func (m *counter) numbers(a, b value) (int, bool) {
	if a, ok := a.(int); ok {
		if b, ok := b.(int); ok {
			switch {
			case a < b:
				return -1, true
			case a > b:
				return 1, true
			}
			return 0, true
		}
	}
	if !isNumber(a) || !isNumber(b) {
		return 0, false
	}
	return compareNumbers(a, b), true
}

// equal is Python's ==.
func (m *counter) equal(a, b value) bool {
	m.step(1)
	if order, ok := m.numbers(a, b); ok {
		return order == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case string, markup:
		s, _ := textOf(a)
		t, ok := textOf(b)
		if !ok || len(s) != len(t) {
			return false
		}
		m.work(len(s))
		return s == t
	case *undefined:
		u, ok := b.(*undefined)
		return ok && u.strict == a.strict
	case *list:
		b, ok := b.(*list)
		return ok && m.equalLists(a.items, b.items)
	case *tuple:
		b, ok := b.(*tuple)
		return ok && m.equalLists(a.items, b.items)
	case *dict:
		b, ok := b.(*dict)
		return ok && m.equalDicts(a, b)
	case *rangeOf:
		b, ok := b.(*rangeOf)
		return ok && a.length == b.length && (a.length == 0 || a.start == b.start && (a.length == 1 || a.step == b.step))
	case *view:
		if _, ok := b.(*view); ok && a != b && a.kind != "values" {
			m.fail("keys and items of dicts cannot be compared; make lists of them")
		}
		return a == b
	case bound:
		m.fail("methods cannot be compared")
	case bool, int, float64, *big.Int:
		return false
	}
	return a == b
}

func (m *counter) equalLists(a, b []value) bool {
	if len(a) != len(b) {
		return false
	}
	m.deeper()
	defer m.higher()
	for i := range a {
		if !m.equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (m *counter) equalDicts(a, b *dict) bool {
	if a.len() != b.len() {
		return false
	}
	m.deeper()
	defer m.higher()
	for i, k := range a.keys {
		v, ok := m.get(b, k)
		if !ok || !m.equal(a.values[i], v) {
			return false
		}
	}
	return true
}

// less is Python's <.
func (m *counter) less(a, b value) bool {
	m.step(1)
	if order, ok := m.numbers(a, b); ok {
		return order == -1
	}
	for _, v := range []value{a, b} {
		if u, ok := v.(*undefined); ok {
			m.missing(u)
		}
	}
	s, ok1 := textOf(a)
	t, ok2 := textOf(b)
	if ok1 && ok2 {
		m.work(min(len(s), len(t)))
		return strings.Compare(s, t) < 0
	}
	switch a := a.(type) {
	case *list:
		if b, ok := b.(*list); ok {
			return m.lessLists(a.items, b.items)
		}
	case *tuple:
		if b, ok := b.(*tuple); ok {
			return m.lessLists(a.items, b.items)
		}
	}
	m.fail("a %s and a %s have no order", typeName(a), typeName(b))
	return false
}

func (m *counter) lessLists(a, b []value) bool {
	m.deeper()
	defer m.higher()
	for i := range min(len(a), len(b)) {
		if !m.equal(a[i], b[i]) {
			return m.less(a[i], b[i])
		}
	}
	return len(a) < len(b)
}
