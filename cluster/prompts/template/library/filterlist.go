package library

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// listFilter returns the filters that make something of all items.
func listFilter(name string) (*Native, bool) {
	n := &Native{Name: name}
	switch name {
	case "length", "count":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value { return m.Length(v) }
	case "list":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			if l, ok := v.(*values.List); ok {
				return l
			}
			return m.NewList(m.Items(v))
		}
	case "join":
		n.params, n.Most = "d attribute", 2
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			between := m.Str(a.or(0, ""))
			items := m.Items(v)
			get := m.getter(a.or(1, nil), nil)
			parts := make([]string, len(items))
			m.Times(len(items), values.WordBytes)
			for i, item := range items {
				m.Step(1)
				parts[i] = m.Str(get(item))
			}
			return m.JoinTexts(parts, between)
		}
	case "sum":
		n.params, n.Most = "attribute start", 2
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			get, sum := m.getter(a.or(0, nil), nil), a.or(1, 0)
			if _, ok := values.TextOf(sum); ok {
				m.Fail("texts have no sum; use join")
			}
			for _, item := range m.Items(v) {
				m.Step(1)
				sum = m.Binary("+", sum, get(item))
			}
			return sum
		}
	case "reverse":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value { return m.reversed(v) }
	case "items":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			switch v := v.(type) {
			case *values.Undefined:
				return &values.Generator{}
			case *values.Dict:
				return &values.Generator{Items: m.Entries(v).Items}
			}
			return m.Lazily(func(func(values.Value)) { m.Fail("only a dict has items, not a %s", values.TypeName(v)) })
		}
	default:
		return nil, false
	}
	return n, true
}

// rowFilter returns the filters that make something of each item, or rows of items.
func rowFilter(name string) (*Native, bool) {
	n := &Native{Name: name}
	switch name {
	case "map":
		n.Most, n.keywords = -1, true
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.mapped(v, a) }
	case "batch":
		n.params, n.least, n.Most = "linecount fill_with", 1, 2
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			return m.batches(v, a.Pos[0], a.or(1, nil))
		}
	case "slice":
		n.params, n.least, n.Most = "slices fill_with", 1, 2
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.slices(v, a.Pos[0], a.or(1, nil)) }
	default:
		return nil, false
	}
	return n, true
}

func (m *Caller) reversed(v values.Value) values.Value {
	if s, ok := values.TextOf(v); ok {
		m.Times(len(s), 4)
		out := []rune(s)
		slices.Reverse(out)
		return values.Like(v, m.Made(string(out)))
	}
	_, isGenerator := v.(*values.Generator)
	items := m.Items(v)
	m.Times(len(items), values.WordBytes)
	m.Step(len(items) / 8)
	out := slices.Clone(items)
	slices.Reverse(out)
	if isGenerator {
		return &values.List{Items: out}
	}
	return &values.Generator{Items: out}
}

// mapped applies a filter, or looks up an attribute, for each item.
func (m *Caller) mapped(v values.Value, a *Arguments) values.Value {
	return m.Lazily(func(yield func(values.Value)) {
		if !values.Truth(v) {
			return
		}
		apply := m.mapping(a)
		for _, item := range m.Items(v) {
			yield(apply(item))
		}
	})
}

func (m *Caller) mapping(a *Arguments) func(values.Value) values.Value {
	if attribute, ok := a.keyword("attribute"); ok && len(a.Pos) == 0 {
		other, _ := a.keyword("default")
		for _, name := range a.Names {
			if name != "attribute" && name != "default" {
				m.Fail("map has no parameter %s", name)
			}
		}
		return m.getter(attribute, other)
	}
	if len(a.Pos) == 0 {
		m.Fail("map needs the name of a filter")
	}
	name := m.Text(a.Pos[0])
	with, ok := FilterOf(name)
	if !ok {
		m.Fail("%s", NoFilter(name))
	}
	rest := &Arguments{Pos: a.Pos[1:], Names: a.Names, Named: a.Named}
	return func(item values.Value) values.Value { return m.Invoke(with, item, rest) }
}

func (m *Caller) batches(v, size, fill values.Value) values.Value {
	return m.Lazily(func(yield func(values.Value)) {
		var row []values.Value
		for _, item := range m.Items(v) {
			m.Step(1)
			if m.Equal(len(row), size) {
				yield(m.NewList(row))
				row = nil
			}
			m.Grow(values.WordBytes)
			row = append(row, item)
		}
		if len(row) == 0 {
			return
		}
		if fill != nil && m.Less(len(row), size) {
			missing := m.Integer(size) - len(row)
			m.Times(missing, values.WordBytes)
			m.Step(missing / 8)
			for range missing {
				row = append(row, fill)
			}
		}
		yield(m.NewList(row))
	})
}

func (m *Caller) slices(v, count, fill values.Value) values.Value {
	return m.Lazily(func(yield func(values.Value)) {
		items := m.Items(v)
		n := m.Integer(count)
		if n == 0 {
			m.Fail("division by zero")
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
			yield(m.NewList(part))
			at = end
		}
	})
}

// getter returns a function that looks up a path of attributes, such as a.b.0. It
// returns other for what is not there, unless other is nil.
func (m *Caller) getter(attribute, other values.Value) func(values.Value) values.Value {
	parts := m.path(attribute)
	return func(v values.Value) values.Value {
		for _, part := range parts {
			m.Step(1)
			v = m.Element(v, part, &values.Undefined{})
			if _, ok := v.(*values.Undefined); ok && other != nil {
				v = other
			}
		}
		return v
	}
}
