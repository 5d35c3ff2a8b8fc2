package library

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// orderFilter returns the filters that order items.
func orderFilter(name string) (*Native, bool) {
	n := &Native{Name: name}
	switch name {
	case "sort":
		n.params, n.Most = "reverse case_sensitive attribute", 3
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			key := m.multiKey(a.or(2, nil), a.or(1, false))
			before := func(a, b values.Value) bool { return !m.Equal(a, b) && m.Less(a, b) } // as lists of keys are compared
			return m.NewList(m.Sorted(m.Items(v), key, before, values.Truth(a.or(0, false))))
		}
	case "dictsort":
		n.params, n.Most = "case_sensitive by reverse", 3
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.dictSorted(v, a) }
	case "groupby":
		n.params, n.least, n.Most = "attribute default case_sensitive", 1, 3
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.grouped(v, a) }
	default:
		return nil, false
	}
	return n, true
}

// multiKey returns the key to sort by: a list with the value of each of the attributes,
// which have commas between them.
func (m *Caller) multiKey(attribute, matters values.Value) func(values.Value) values.Value {
	names := []values.Value{attribute}
	if s, ok := values.TextOf(attribute); ok {
		names = nil
		m.Times(strings.Count(s, ",")+1, 3*values.WordBytes)
		for part := range strings.SplitSeq(s, ",") {
			names = append(names, part)
		}
	}
	gets := make([]func(values.Value) values.Value, len(names))
	for i, name := range names {
		gets[i] = m.folding(matters, m.getter(name, nil))
	}
	if len(gets) == 1 {
		return gets[0]
	}
	return func(v values.Value) values.Value {
		keys := make([]values.Value, len(gets))
		for i, get := range gets {
			keys[i] = get(v)
		}
		return m.NewList(keys)
	}
}

func (m *Caller) dictSorted(v values.Value, a *Arguments) values.Value {
	d, ok := v.(*values.Dict)
	if !ok {
		if u, isUndefined := v.(*values.Undefined); isUndefined {
			m.Missing(u)
		}
		m.Fail("dictsort needs a dict, not a %s", values.TypeName(v))
	}
	part := 0
	switch by, _ := values.TextOf(a.or(1, "key")); by {
	case "key":
	case "value":
		part = 1
	default:
		m.Fail("dictsort sorts by key or value")
	}
	key := m.folding(a.or(0, false), func(v values.Value) values.Value { return v.(*values.Tuple).Items[part] })
	return m.NewList(m.Sorted(m.Entries(d).Items, key, m.Less, values.Truth(a.or(2, false))))
}

// grouped sorts items by an attribute and groups those with the same one.
func (m *Caller) grouped(v values.Value, a *Arguments) values.Value {
	get := m.getter(a.Pos[0], a.or(1, nil))
	matters := a.or(2, false)
	key := m.folding(matters, get)
	items := m.Sorted(m.Items(v), key, m.Less, false)
	var groups []values.Value
	for start := 0; start < len(items); {
		first := key(items[start])
		end := start + 1
		for end < len(items) && m.Equal(first, key(items[end])) {
			end++
		}
		name := first
		if !values.Truth(matters) {
			name = get(items[start])
		}
		m.Grow(4 * values.WordBytes)
		group := m.NewTuple(name, m.NewList(items[start:end:end]))
		group.Group = true
		groups = append(groups, group)
		start = end
	}
	return m.NewList(groups)
}
