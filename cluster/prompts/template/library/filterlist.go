package template

import "slices"

// listFilter returns the filters that make something of all items.
func listFilter(name string) (*native, bool) {
	n := &native{name: name}
	switch name {
	case "length", "count":
		n.call = func(m *caller, v value, _ *arguments) value { return m.length(v) }
	case "list":
		n.call = func(m *caller, v value, _ *arguments) value {
			if l, ok := v.(*list); ok {
				return l
			}
			return m.newList(m.items(v))
		}
	case "join":
		n.params, n.most = "d attribute", 2
		n.call = func(m *caller, v value, a *arguments) value {
			between := m.str(a.or(0, ""))
			items := m.items(v)
			get := m.getter(a.or(1, nil), nil)
			parts := make([]string, len(items))
			m.times(len(items), wordBytes)
			for i, item := range items {
				m.step(1)
				parts[i] = m.str(get(item))
			}
			return m.joinTexts(parts, between)
		}
	case "sum":
		n.params, n.most = "attribute start", 2
		n.call = func(m *caller, v value, a *arguments) value {
			get, sum := m.getter(a.or(0, nil), nil), a.or(1, 0)
			if _, ok := textOf(sum); ok {
				m.fail("texts have no sum; use join")
			}
			for _, item := range m.items(v) {
				m.step(1)
				sum = m.binary("+", sum, get(item))
			}
			return sum
		}
	case "reverse":
		n.call = func(m *caller, v value, _ *arguments) value { return m.reversed(v) }
	case "items":
		n.call = func(m *caller, v value, _ *arguments) value {
			switch v := v.(type) {
			case *undefined:
				return &generator{}
			case *dict:
				return &generator{items: m.entries(v).items}
			}
			return m.lazily(func(func(value)) { m.fail("only a dict has items, not a %s", typeName(v)) })
		}
	default:
		return nil, false
	}
	return n, true
}

// rowFilter returns the filters that make something of each item, or rows of items.
func rowFilter(name string) (*native, bool) {
	n := &native{name: name}
	switch name {
	case "map":
		n.most, n.keywords = -1, true
		n.call = func(m *caller, v value, a *arguments) value { return m.mapped(v, a) }
	case "batch":
		n.params, n.least, n.most = "linecount fill_with", 1, 2
		n.call = func(m *caller, v value, a *arguments) value { return m.batches(v, a.pos[0], a.or(1, nil)) }
	case "slice":
		n.params, n.least, n.most = "slices fill_with", 1, 2
		n.call = func(m *caller, v value, a *arguments) value { return m.slices(v, a.pos[0], a.or(1, nil)) }
	default:
		return nil, false
	}
	return n, true
}

func (m *caller) reversed(v value) value {
	if s, ok := textOf(v); ok {
		m.times(len(s), 4)
		out := []rune(s)
		slices.Reverse(out)
		return like(v, m.made(string(out)))
	}
	_, isGenerator := v.(*generator)
	items := m.items(v)
	m.times(len(items), wordBytes)
	m.step(len(items) / 8)
	out := slices.Clone(items)
	slices.Reverse(out)
	if isGenerator {
		return &list{out}
	}
	return &generator{items: out}
}

// mapped applies a filter, or looks up an attribute, for each item.
func (m *caller) mapped(v value, a *arguments) value {
	return m.lazily(func(yield func(value)) {
		if !truth(v) {
			return
		}
		apply := m.mapping(a)
		for _, item := range m.items(v) {
			yield(apply(item))
		}
	})
}

func (m *caller) mapping(a *arguments) func(value) value {
	if attribute, ok := a.keyword("attribute"); ok && len(a.pos) == 0 {
		other, _ := a.keyword("default")
		for _, name := range a.names {
			if name != "attribute" && name != "default" {
				m.fail("map has no parameter %s", name)
			}
		}
		return m.getter(attribute, other)
	}
	if len(a.pos) == 0 {
		m.fail("map needs the name of a filter")
	}
	name := m.text(a.pos[0])
	with, ok := filterOf(name)
	if !ok {
		m.fail("%s", noFilter(name))
	}
	rest := &arguments{pos: a.pos[1:], names: a.names, named: a.named}
	return func(item value) value { return m.invoke(with, item, rest) }
}

func (m *caller) batches(v, size, fill value) value {
	return m.lazily(func(yield func(value)) {
		var row []value
		for _, item := range m.items(v) {
			m.step(1)
			if m.equal(len(row), size) {
				yield(m.newList(row))
				row = nil
			}
			m.grow(wordBytes)
			row = append(row, item)
		}
		if len(row) == 0 {
			return
		}
		if fill != nil && m.less(len(row), size) {
			missing := m.integer(size) - len(row)
			m.times(missing, wordBytes)
			m.step(missing / 8)
			for range missing {
				row = append(row, fill)
			}
		}
		yield(m.newList(row))
	})
}

func (m *caller) slices(v, count, fill value) value {
	return m.lazily(func(yield func(value)) {
		items := m.items(v)
		n := m.integer(count)
		if n == 0 {
			m.fail("division by zero")
		}
		if n < 0 {
			return
		}
		size, longer := len(items)/n, len(items)%n
		at := 0
		for i := range n {
			end := at + size
			if i < longer {
				end++
			}
			part := slices.Clone(items[at:end])
			if fill != nil && i >= longer {
				part = append(part, fill)
			}
			yield(m.newList(part))
			at = end
		}
	})
}

// getter returns a function that looks up a path of attributes, such as a.b.0. It
// returns other for what is not there, unless other is nil.
func (m *caller) getter(attribute, other value) func(value) value {
	parts := m.path(attribute)
	return func(v value) value {
		for _, part := range parts {
			m.step(1)
			v = m.element(v, part, &undefined{})
			if _, ok := v.(*undefined); ok && other != nil {
				v = other
			}
		}
		return v
	}
}
