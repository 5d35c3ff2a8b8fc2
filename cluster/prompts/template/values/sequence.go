package template

import (
	"slices"
	"unicode/utf8"
)

// runes returns the number of characters of a text.
func runes(s string) int { return utf8.RuneCountInString(s) }

// byteAt returns where the character i of a text begins.
func byteAt(s string, i int) int {
	if len(s) == runes(s) {
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
func (m *counter) characters(s string, of value) []value {
	n := runes(s)
	m.times(n, 2*wordBytes)
	m.step(n)
	out := make([]value, 0, n)
	for i, r := range s {
		out = append(out, like(of, s[i:i+max(1, utf8.RuneLen(r))]))
	}
	return out
}

// items returns what a value comes to when it is iterated over. The caller must not
// change the slice.
func (m *counter) items(v value) []value {
	items, ok := m.iterable(v)
	if !ok {
		m.fail("a %s cannot be iterated over", typeName(v))
	}
	return items
}

func (m *counter) iterable(v value) ([]value, bool) {
	switch v := v.(type) {
	case *undefined:
		return nil, true
	case *list:
		return v.items, true
	case *tuple:
		return v.items, true
	case *dict:
		return v.keys, true
	case *view:
		return v.items, true
	case string:
		return m.characters(v, v), true
	case markup:
		return m.characters(string(v), ""), true
	case *rangeOf:
		m.times(v.length, wordBytes+8)
		m.step(v.length / 8)
		out := make([]value, v.length)
		for i := range out {
			out[i] = v.start + i*v.step
		}
		return out, true
	case *generator:
		out := v.items[v.next:]
		v.next = len(v.items)
		if v.fault != nil {
			panic(v.fault)
		}
		return out, true
	}
	return nil, false
}

// isIterable reports whether items would succeed.
func isIterable(v value) bool {
	switch v.(type) {
	case *undefined, *list, *tuple, *dict, *view, string, markup, *rangeOf, *generator, sized:
		return true
	}
	return false
}

// lengthOf is Python's len.
func (m *counter) lengthOf(v value) (int, bool) {
	switch v := v.(type) {
	case *undefined:
		return 0, true
	case *list:
		return len(v.items), true
	case *tuple:
		return len(v.items), true
	case *dict:
		return v.len(), true
	case *view:
		return len(v.items), true
	case *rangeOf:
		return v.length, true
	case sized:
		return v.length(), true
	}
	if s, ok := textOf(v); ok {
		m.work(len(s))
		return runes(s), true
	}
	return 0, false
}

func (m *counter) length(v value) int {
	n, ok := m.lengthOf(v)
	if !ok {
		m.fail("a %s has no length", typeName(v))
	}
	return n
}

// lazily returns a generator of what produce yields. An error of a template ends it, when
// it is read that far.
func (m *counter) lazily(produce func(yield func(value))) *generator {
	g := &generator{}
	depth, out := m.depth, len(m.out)
	func() {
		defer func() {
			r := recover()
			if r == nil {
				return
			}
			f, ok := r.(*failure)
			if !ok || f.err.Code != "template_error" {
				panic(r)
			}
			g.fault = f
			m.depth, m.out = depth, m.out[:out]
		}()
		produce(func(v value) {
			m.step(1)
			m.grow(2 * wordBytes)
			g.items = append(g.items, v)
		})
	}()
	return g
}

// slice returns of[start:stop:step]. Bounds that are nil are open.
func (m *counter) slice(of value, bounds [3]value) value {
	if u, ok := of.(*undefined); ok {
		if u.strict {
			m.missing(u)
		}
		return u
	}
	length, ok := m.lengthOf(of)
	if !ok {
		m.fail("a %s cannot be sliced", typeName(of))
	}
	c := m.cut(bounds, length)
	switch of := of.(type) {
	case *list:
		return m.newList(m.picked(of.items, c))
	case *tuple:
		return m.newTuple(m.picked(of.items, c)...)
	case *rangeOf:
		return &rangeOf{of.start + c.start*of.step, of.start + c.stop*of.step, of.step * c.step, c.n}
	}
	s, ok := textOf(of)
	if !ok {
		m.fail("a %s cannot be sliced", typeName(of))
	}
	m.work(3 * len(s))
	if c.step == 1 {
		from := byteAt(s, c.start)
		return like(of, m.made(s[from:from+byteAt(s[from:], c.n)]))
	}
	m.times(runes(s), 4)
	all := []rune(s)
	out := make([]rune, c.n)
	for i := range out {
		out[i] = all[c.start+i*c.step]
	}
	return like(of, m.made(string(out)))
}

// picked returns the items of a slice. Those of a plain slice are shared.
func (m *counter) picked(items []value, c cut) []value {
	if c.step == 1 {
		return items[c.start : c.start+c.n : c.start+c.n]
	}
	m.times(c.n, wordBytes)
	m.step(c.n / 8)
	out := make([]value, c.n)
	for i := range out {
		out[i] = items[c.start+i*c.step]
	}
	return out
}

// cut is the elements of a slice: n of them from start on, and where they stop.
type cut struct{ start, stop, step, n int }

// cut returns which of length elements the bounds of a slice mean.
func (m *counter) cut(bounds [3]value, length int) cut {
	c := cut{step: 1}
	if bounds[2] != nil {
		c.step = m.sliceIndex(bounds[2])
	}
	if c.step == 0 {
		m.fail("the step of a slice is 0")
	}
	low, high := 0, length
	if c.step < 0 {
		low, high = -1, length-1
	}
	bound := func(v value, open int) int {
		if v == nil {
			return open
		}
		i := m.sliceIndex(v)
		if i < 0 {
			i += length
		}
		return max(low, min(high, i))
	}
	if c.step > 0 {
		c.start, c.stop = bound(bounds[0], low), bound(bounds[1], high)
		if c.stop > c.start {
			c.n = (c.stop-c.start-1)/c.step + 1
		}
		return c
	}
	c.start, c.stop = bound(bounds[0], high), bound(bounds[1], low)
	if c.start > c.stop {
		c.n = (c.start-c.stop-1)/-c.step + 1
	}
	return c
}

// sliceIndex returns a bound of a slice. Python cuts large ones down.
func (m *counter) sliceIndex(v value) int {
	const most = 1 << 40
	if b, ok := v.(interface{ Sign() int }); ok {
		return b.Sign() * most
	}
	return max(-most, min(most, m.integer(v)))
}

// contains is Python's `in`.
func (m *counter) contains(of, v value) bool {
	switch of := of.(type) {
	case *dict:
		m.hash(v)
		_, ok := m.get(of, v)
		return ok
	case string, markup:
		text, _ := textOf(of)
		part, ok := textOf(v)
		if !ok {
			m.fail("only text can be in text, not a %s", typeName(v))
		}
		m.work(len(text))
		return indexText(text, part) >= 0
	}
	return slices.ContainsFunc(m.items(of), func(item value) bool { return m.equal(item, v) })
}

// sorted is Python's sorted.
func (m *counter) sorted(items []value, key func(value) value, before func(a, b value) bool, reverse bool) []value { //nolint:revive // Python's flag
	type keyed struct{ item, key value }
	m.times(len(items), 4*wordBytes)
	all := make([]keyed, len(items))
	for i, item := range items {
		m.step(1)
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
	out := make([]value, len(items))
	for i, k := range all {
		out[i] = k.item
	}
	return out
}
