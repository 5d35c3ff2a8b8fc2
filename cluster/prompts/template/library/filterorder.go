package template

import (
	"strings"
)

// orderFilter returns the filters that order items.
func orderFilter(name string) (*native, bool) {
	n := &native{name: name}
	switch name {
	case "sort":
		n.params, n.most = "reverse case_sensitive attribute", 3
		n.call = func(m *caller, v value, a *arguments) value {
			key := m.multiKey(a.or(2, nil), a.or(1, false))
			before := func(a, b value) bool { return !m.equal(a, b) && m.less(a, b) } // as lists of keys are compared
			return m.newList(m.sorted(m.items(v), key, before, truth(a.or(0, false))))
		}
	case "dictsort":
		n.params, n.most = "case_sensitive by reverse", 3
		n.call = func(m *caller, v value, a *arguments) value { return m.dictSorted(v, a) }
	case "groupby":
		n.params, n.least, n.most = "attribute default case_sensitive", 1, 3
		n.call = func(m *caller, v value, a *arguments) value { return m.grouped(v, a) }
	default:
		return nil, false
	}
	return n, true
}

// multiKey returns the key to sort by: a list with the value of each of the attributes,
// which have commas between them.
func (m *caller) multiKey(attribute, matters value) func(value) value {
	names := []value{attribute}
	if s, ok := textOf(attribute); ok {
		names = nil
		m.times(strings.Count(s, ",")+1, 3*wordBytes)
		for part := range strings.SplitSeq(s, ",") {
			names = append(names, part)
		}
	}
	gets := make([]func(value) value, len(names))
	for i, name := range names {
		gets[i] = m.folding(matters, m.getter(name, nil))
	}
	if len(gets) == 1 {
		return gets[0]
	}
	return func(v value) value {
		keys := make([]value, len(gets))
		for i, get := range gets {
			keys[i] = get(v)
		}
		return m.newList(keys)
	}
}

func (m *caller) dictSorted(v value, a *arguments) value {
	d, ok := v.(*dict)
	if !ok {
		if u, isUndefined := v.(*undefined); isUndefined {
			m.missing(u)
		}
		m.fail("dictsort needs a dict, not a %s", typeName(v))
	}
	part := 0
	switch by, _ := textOf(a.or(1, "key")); by {
	case "key":
	case "value":
		part = 1
	default:
		m.fail("dictsort sorts by key or value")
	}
	key := m.folding(a.or(0, false), func(v value) value { return v.(*tuple).items[part] })
	return m.newList(m.sorted(m.entries(d).items, key, m.less, truth(a.or(2, false))))
}

// grouped sorts items by an attribute and groups those with the same one.
func (m *caller) grouped(v value, a *arguments) value {
	get := m.getter(a.pos[0], a.or(1, nil))
	matters := a.or(2, false)
	key := m.folding(matters, get)
	items := m.sorted(m.items(v), key, m.less, false)
	var groups []value
	for start := 0; start < len(items); {
		first := key(items[start])
		end := start + 1
		for end < len(items) && m.equal(first, key(items[end])) {
			end++
		}
		name := first
		if !truth(matters) {
			name = get(items[start])
		}
		m.grow(4 * wordBytes)
		group := m.newTuple(name, m.newList(items[start:end:end]))
		group.group = true
		groups = append(groups, group)
		start = end
	}
	return m.newList(groups)
}
