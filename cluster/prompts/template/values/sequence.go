package values

import (
	"slices"
	"unicode/utf8"
)

// Runes returns the number of characters of a text.
func Runes(s string) int { return utf8.RuneCountInString(s) }

// ByteAt returns where the character i of a text begins.
func ByteAt(s string, i int) int {
	if len(s) == Runes(s) {
		return min(i, len(s))
	}
	for at := range s {
		if i == 0 {
			return at
		}
		i--
	}
	return len(s)
}

// characters returns the characters of a text as texts.
func (m *Counter) characters(s string, of Value) []Value {
	n := Runes(s)
	m.Times(n, 2*WordBytes)
	m.Step(n)
	out := make([]Value, 0, n)
	for i, r := range s {
		out = append(out, Like(of, s[i:i+max(1, utf8.RuneLen(r))]))
	}
	return out
}

// Items returns what a value comes to when it is iterated over. The caller must not
// change the slice.
func (m *Counter) Items(v Value) []Value {
	items, ok := m.iterable(v)
	if !ok {
		m.Fail("a %s cannot be iterated over", TypeName(v))
	}
	return items
}

func (m *Counter) iterable(v Value) ([]Value, bool) {
	switch v := v.(type) {
	case *Undefined:
		return nil, true
	case *List:
		return v.Items, true
	case *Tuple:
		return v.Items, true
	case *Dict:
		return v.Keys, true
	case *View:
		return v.Items, true
	case string:
		return m.characters(v, v), true
	case Markup:
		return m.characters(string(v), ""), true
	case *RangeOf:
		m.Times(v.Length, WordBytes+8)
		m.Step(v.Length / 8)
		out := make([]Value, v.Length)
		for i := range out {
			out[i] = v.Start + i*v.Step
		}
		return out, true
	case *Generator:
		out := v.Items[v.Next:]
		v.Next = len(v.Items)
		if v.fault != nil {
			panic(v.fault)
		}
		return out, true
	}
	return nil, false
}

// IsIterable reports whether items would succeed.
func IsIterable(v Value) bool {
	switch v.(type) {
	case *Undefined, *List, *Tuple, *Dict, *View, string, Markup, *RangeOf, *Generator, sized:
		return true
	}
	return false
}

// lengthOf is Python's len.
func (m *Counter) lengthOf(v Value) (int, bool) {
	switch v := v.(type) {
	case *Undefined:
		return 0, true
	case *List:
		return len(v.Items), true
	case *Tuple:
		return len(v.Items), true
	case *Dict:
		return v.Len(), true
	case *View:
		return len(v.Items), true
	case *RangeOf:
		return v.Length, true
	case sized:
		return v.Length(), true
	}
	if s, ok := TextOf(v); ok {
		m.Work(len(s))
		return Runes(s), true
	}
	return 0, false
}

// Length is Python's len; a value without a length ends the rendering.
func (m *Counter) Length(v Value) int {
	n, ok := m.lengthOf(v)
	if !ok {
		m.Fail("a %s has no length", TypeName(v))
	}
	return n
}

// Lazily returns a generator of what produce yields. An error of a template ends it, when
// it is read that far.
func (m *Counter) Lazily(produce func(yield func(Value))) *Generator {
	g := &Generator{}
	depth, out := m.depth, len(m.Out)
	func() {
		defer func() {
			r := recover()
			if r == nil {
				return
			}
			f, ok := r.(*Failure)
			if !ok || f.Err.Code != "template_error" {
				panic(r)
			}
			g.fault = f
			m.depth, m.Out = depth, m.Out[:out]
		}()
		produce(func(v Value) {
			m.Step(1)
			m.Grow(2 * WordBytes)
			g.Items = append(g.Items, v)
		})
	}()
	return g
}

// Slice returns of[start:stop:step]. Bounds that are nil are open.
func (m *Counter) Slice(of Value, bounds [3]Value) Value {
	if u, ok := of.(*Undefined); ok {
		if u.Strict {
			m.Missing(u)
		}
		return u
	}
	length, ok := m.lengthOf(of)
	if !ok {
		m.Fail("a %s cannot be sliced", TypeName(of))
	}
	c := m.Cut(bounds, length)
	switch of := of.(type) {
	case *List:
		return m.NewList(m.picked(of.Items, c))
	case *Tuple:
		return m.NewTuple(m.picked(of.Items, c)...)
	case *RangeOf:
		return &RangeOf{of.Start + c.Start*of.Step, of.Start + c.stop*of.Step, of.Step * c.step, c.N}
	}
	s, ok := TextOf(of)
	if !ok {
		m.Fail("a %s cannot be sliced", TypeName(of))
	}
	m.Work(3 * len(s))
	if c.step == 1 {
		from := ByteAt(s, c.Start)
		return Like(of, m.Made(s[from:from+ByteAt(s[from:], c.N)]))
	}
	m.Times(Runes(s), 4)
	all := []rune(s)
	out := make([]rune, c.N)
	for i := range out {
		out[i] = all[c.Start+i*c.step]
	}
	return Like(of, m.Made(string(out)))
}

// picked returns the items of a slice. Those of a plain slice are shared.
func (m *Counter) picked(items []Value, c cut) []Value {
	if c.step == 1 {
		return items[c.Start : c.Start+c.N : c.Start+c.N]
	}
	m.Times(c.N, WordBytes)
	m.Step(c.N / 8)
	out := make([]Value, c.N)
	for i := range out {
		out[i] = items[c.Start+i*c.step]
	}
	return out
}

// cut is the elements of a slice: n of them from start on, and where they stop.
type cut struct{ Start, stop, step, N int }

// Cut returns which of length elements the bounds of a slice mean.
func (m *Counter) Cut(bounds [3]Value, length int) cut {
	c := cut{step: 1}
	if bounds[2] != nil {
		c.step = m.SliceIndex(bounds[2])
	}
	if c.step == 0 {
		m.Fail("the step of a slice is 0")
	}
	low, high := 0, length
	if c.step < 0 {
		low, high = -1, length-1
	}
	bound := func(v Value, open int) int {
		if v == nil {
			return open
		}
		i := m.SliceIndex(v)
		if i < 0 {
			i += length
		}
		return max(low, min(high, i))
	}
	if c.step > 0 {
		c.Start, c.stop = bound(bounds[0], low), bound(bounds[1], high)
		if c.stop > c.Start {
			c.N = (c.stop-c.Start-1)/c.step + 1
		}
		return c
	}
	c.Start, c.stop = bound(bounds[0], high), bound(bounds[1], low)
	if c.Start > c.stop {
		c.N = (c.Start-c.stop-1)/-c.step + 1
	}
	return c
}

// SliceIndex returns a bound of a slice. Python cuts large ones down.
func (m *Counter) SliceIndex(v Value) int {
	const most = 1 << 40
	if b, ok := v.(interface{ Sign() int }); ok {
		return b.Sign() * most
	}
	return max(-most, min(most, m.Integer(v)))
}

// contains is Python's `in`.
func (m *Counter) contains(of, v Value) bool {
	switch of := of.(type) {
	case *Dict:
		m.Hash(v)
		_, ok := m.Get(of, v)
		return ok
	case string, Markup:
		text, _ := TextOf(of)
		part, ok := TextOf(v)
		if !ok {
			m.Fail("only text can be in text, not a %s", TypeName(v))
		}
		m.Work(len(text))
		return indexText(text, part) >= 0
	}
	return slices.ContainsFunc(m.Items(of), func(item Value) bool { return m.Equal(item, v) })
}

// Sorted is Python's sorted.
func (m *Counter) Sorted(items []Value, key func(Value) Value, before func(a, b Value) bool, reverse bool) []Value { //nolint:revive // Python's flag
	type keyed struct{ item, key Value }
	m.Times(len(items), 4*WordBytes)
	all := make([]keyed, len(items))
	for i, item := range items {
		m.Step(1)
		all[i] = keyed{item, key(item)}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		if reverse {
			a, b = b, a
		}
		switch {
		case before(a.key, b.key):
			return -1
		case before(b.key, a.key):
			return 1
		}
		return 0
	})
	out := make([]Value, len(items))
	for i, k := range all {
		out[i] = k.item
	}
	return out
}
