package template

import "strings"

// path returns the parts of an attribute's name. Those that are digits are indexes.
func (m *caller) path(attribute value) []value {
	s, ok := textOf(attribute)
	if !ok {
		if attribute == nil {
			return nil
		}
		return []value{attribute}
	}
	m.times(strings.Count(s, ".")+1, 3*wordBytes)
	var out []value
	for part := range strings.SplitSeq(s, ".") {
		if every(part, isDigitRune) {
			n, ok := parseInteger(part, 10)
			if !ok {
				m.fail("an attribute's index is not a number")
			}
			out = append(out, n)
			continue
		}
		out = append(out, part)
	}
	return out
}

// pickFilter returns the filters that pick items.
func pickFilter(name string) (*native, bool) {
	n := &native{name: name}
	switch name {
	case "first":
		n.call = func(m *caller, v value, _ *arguments) value {
			if g, ok := v.(*generator); ok && g.next < len(g.items) {
				g.next++
				return g.items[g.next-1]
			}
			if s, ok := v.(markup); ok {
				v = string(s) // the characters of markup are plain text
			}
			if d, ok := m.item(v, 0); ok && !isDict(v) {
				return d
			}
			if items := m.items(v); len(items) > 0 {
				return items[0]
			}
			return &undefined{name: "the first item of nothing"}
		}
	case "last":
		n.call = func(m *caller, v value, _ *arguments) value {
			if _, ok := v.(*generator); ok {
				m.fail("last needs a list; write |list|last")
			}
			if d, ok := m.item(v, -1); ok && !isDict(v) {
				return d
			}
			if items := m.items(v); len(items) > 0 {
				return items[len(items)-1]
			}
			return &undefined{name: "the last item of nothing"}
		}
	case "min", "max":
		n.params, n.most = "case_sensitive attribute", 2
		n.call = func(m *caller, v value, a *arguments) value {
			return m.extreme(name, v, m.folding(a.or(0, false), m.getter(a.or(1, nil), nil)))
		}
	case "unique":
		n.params, n.most = "case_sensitive attribute", 2
		n.call = func(m *caller, v value, a *arguments) value {
			get := m.folding(a.or(0, false), m.getter(a.or(1, nil), nil))
			return m.lazily(func(yield func(value)) {
				seen := &dict{}
				for _, item := range m.items(v) {
					key := get(item)
					if seen.find(m.hash(key)) < 0 {
						m.set(seen, key, nil)
						yield(item)
					}
				}
			})
		}
	case "select", "reject", "selectattr", "rejectattr":
		n.most, n.keywords = -1, true
		n.call = func(m *caller, v value, a *arguments) value { return m.selected(name, v, a) }
	default:
		return nil, false
	}
	return n, true
}

func isDict(v value) bool {
	_, ok := v.(*dict)
	return ok
}

// folding makes texts small, unless case matters.
func (m *caller) folding(matters value, get func(value) value) func(value) value {
	if truth(matters) {
		return get
	}
	return func(v value) value {
		v = get(v)
		if s, ok := textOf(v); ok {
			return like(v, m.changed(s, lower, caseCost))
		}
		return v
	}
}

func (m *caller) extreme(name string, v value, key func(value) value) value {
	items := m.items(v)
	if len(items) == 0 {
		return &undefined{name: "the " + name + " of nothing"}
	}
	best, bestKey := items[0], key(items[0])
	for _, item := range items[1:] {
		k := key(item)
		if name == "min" && m.less(k, bestKey) || name == "max" && m.less(bestKey, k) {
			best, bestKey = item, k
		}
	}
	return best
}

// selected picks the items for which a test holds, or does not.
func (m *caller) selected(name string, v value, a *arguments) value {
	return m.lazily(func(yield func(value)) {
		if !truth(v) {
			return
		}
		get := func(v value) value { return v }
		pos := a.pos
		if strings.HasSuffix(name, "attr") {
			if len(pos) == 0 {
				m.fail("%s needs an attribute", name)
			}
			get = m.getter(pos[0], nil)
			pos = pos[1:]
		}
		holds := truth
		if len(pos) > 0 {
			test := m.text(pos[0])
			with, ok := testOf(test)
			if !ok {
				m.fail("%s", noTest(test))
			}
			rest := &arguments{pos: pos[1:], names: a.names, named: a.named}
			holds = func(v value) bool { return truth(m.invoke(with, v, rest)) }
		}
		for _, item := range m.items(v) {
			m.step(1)
			if holds(get(item)) == strings.HasPrefix(name, "select") {
				yield(item)
			}
		}
	})
}
