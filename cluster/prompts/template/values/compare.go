package values

import (
	"math/big"
	"strings"
)

// Compare says whether two values are in a relation.
func (m *Counter) Compare(sign string, a, b Value) bool {
	switch sign {
	case "==":
		return m.Equal(a, b)
	case "!=":
		return !m.Equal(a, b)
	case "in":
		return m.contains(b, a)
	case "not in":
		return !m.contains(b, a)
	case "<":
		return m.Less(a, b)
	case ">":
		return m.Less(b, a)
	}
	if order, ok := m.numbers(a, b); ok {
		return order != unordered && (order == 0 || (order < 0) == (sign == "<="))
	}
	if sign == "<=" {
		return m.Less(a, b) || m.Equal(a, b)
	}
	return m.Less(b, a) || m.Equal(a, b)
}

// unordered is how a number that is none is to others.
const unordered = 2

// numbers compares two values if both are numbers.
func (m *Counter) numbers(a, b Value) (int, bool) {
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
	if !IsNumber(a) || !IsNumber(b) {
		return 0, false
	}
	return compareNumbers(a, b), true
}

// Equal is Python's ==.
func (m *Counter) Equal(a, b Value) bool {
	m.Step(1)
	if order, ok := m.numbers(a, b); ok {
		return order == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case string, Markup:
		s, _ := TextOf(a)
		t, ok := TextOf(b)
		if !ok || len(s) != len(t) {
			return false
		}
		m.Work(len(s))
		return s == t
	case *Undefined:
		u, ok := b.(*Undefined)
		return ok && u.Strict == a.Strict
	case *List:
		b, ok := b.(*List)
		return ok && m.EqualLists(a.Items, b.Items)
	case *Tuple:
		b, ok := b.(*Tuple)
		return ok && m.EqualLists(a.Items, b.Items)
	case *Dict:
		b, ok := b.(*Dict)
		return ok && m.equalDicts(a, b)
	case *RangeOf:
		b, ok := b.(*RangeOf)
		return ok && a.Length == b.Length && (a.Length == 0 || a.Start == b.Start && (a.Length == 1 || a.Step == b.Step))
	case *View:
		if _, ok := b.(*View); ok && a != b && a.Kind != "values" {
			m.Fail("keys and items of dicts cannot be compared; make lists of them")
		}
		return a == b
	case bound:
		m.Fail("methods cannot be compared")
	case bool, int, float64, *big.Int:
		return false
	}
	return a == b
}

// EqualLists reports whether two lists have equal items.
func (m *Counter) EqualLists(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	m.Deeper()
	defer m.Higher()
	for i := range a {
		if !m.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (m *Counter) equalDicts(a, b *Dict) bool {
	if a.Len() != b.Len() {
		return false
	}
	m.Deeper()
	defer m.Higher()
	for i, k := range a.Keys {
		v, ok := m.Get(b, k)
		if !ok || !m.Equal(a.Values[i], v) {
			return false
		}
	}
	return true
}

// Less is Python's <.
func (m *Counter) Less(a, b Value) bool {
	m.Step(1)
	if order, ok := m.numbers(a, b); ok {
		return order == -1
	}
	for _, v := range []Value{a, b} {
		if u, ok := v.(*Undefined); ok {
			m.Missing(u)
		}
	}
	s, ok1 := TextOf(a)
	t, ok2 := TextOf(b)
	if ok1 && ok2 {
		m.Work(min(len(s), len(t)))
		return strings.Compare(s, t) < 0
	}
	switch a := a.(type) {
	case *List:
		if b, ok := b.(*List); ok {
			return m.lessLists(a.Items, b.Items)
		}
	case *Tuple:
		if b, ok := b.(*Tuple); ok {
			return m.lessLists(a.Items, b.Items)
		}
	}
	m.Fail("a %s and a %s have no order", TypeName(a), TypeName(b))
	return false
}

func (m *Counter) lessLists(a, b []Value) bool {
	m.Deeper()
	defer m.Higher()
	for i := range min(len(a), len(b)) {
		if !m.Equal(a[i], b[i]) {
			return m.Less(a[i], b[i])
		}
	}
	return len(a) < len(b)
}
