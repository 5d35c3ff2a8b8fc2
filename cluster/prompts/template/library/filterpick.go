package library

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// path returns the parts of an attribute's name. Those that are digits are indexes.
func (m *Caller) path(attribute values.Value) []values.Value {
	s, ok := values.TextOf(attribute)
	if !ok {
		if attribute == nil {
			return nil
		}
		return []values.Value{attribute}
	}
	m.Times(strings.Count(s, ".")+1, 3*values.WordBytes)
	var out []values.Value
	for part := range strings.SplitSeq(s, ".") {
		if values.Every(part, isDigitRune) {
			n, ok := values.ParseInteger(part, 10)
			if !ok {
				m.Fail("an attribute's index is not a number")
			}
			out = append(out, n)
			continue
		}
		out = append(out, part)
	}
	return out
}

// pickFilter returns the filters that pick items.
func pickFilter(name string) (*Native, bool) {
	n := &Native{Name: name}
	switch name {
	case "first":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			if g, ok := v.(*values.Generator); ok && g.Next < len(g.Items) {
				g.Next++
				return g.Items[g.Next-1]
			}
			if s, ok := v.(values.Markup); ok {
				v = string(s) // the characters of markup are plain text
			}
			if d, ok := m.item(v, 0); ok && !isDict(v) {
				return d
			}
			if items := m.Items(v); len(items) > 0 {
				return items[0]
			}
			return &values.Undefined{Name: "the first item of nothing"}
		}
	case "last":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			if _, ok := v.(*values.Generator); ok {
				m.Fail("last needs a list; write |list|last")
			}
			if d, ok := m.item(v, -1); ok && !isDict(v) {
				return d
			}
			if items := m.Items(v); len(items) > 0 {
				return items[len(items)-1]
			}
			return &values.Undefined{Name: "the last item of nothing"}
		}
	case "min", "max":
		n.params, n.Most = "case_sensitive attribute", 2
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			return m.extreme(name, v, m.folding(a.or(0, false), m.getter(a.or(1, nil), nil)))
		}
	case "unique":
		n.params, n.Most = "case_sensitive attribute", 2
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			get := m.folding(a.or(0, false), m.getter(a.or(1, nil), nil))
			return m.Lazily(func(yield func(values.Value)) {
				seen := &values.Dict{}
				for _, item := range m.Items(v) {
					key := get(item)
					if seen.Find(m.Hash(key)) < 0 {
						m.Set(seen, key, nil)
						yield(item)
					}
				}
			})
		}
	case "select", "reject", "selectattr", "rejectattr":
		n.Most, n.keywords = -1, true
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.selected(name, v, a) }
	default:
		return nil, false
	}
	return n, true
}

func isDict(v values.Value) bool {
	_, ok := v.(*values.Dict)
	return ok
}

// folding makes texts small, unless case matters.
func (m *Caller) folding(matters values.Value, get func(values.Value) values.Value) func(values.Value) values.Value {
	if values.Truth(matters) {
		return get
	}
	return func(v values.Value) values.Value {
		v = get(v)
		if s, ok := values.TextOf(v); ok {
			return values.Like(v, m.changed(s, values.Lower, caseCost))
		}
		return v
	}
}

func (m *Caller) extreme(name string, v values.Value, key func(values.Value) values.Value) values.Value {
	items := m.Items(v)
	if len(items) == 0 {
		return &values.Undefined{Name: "the " + name + " of nothing"}
	}
	best, bestKey := items[0], key(items[0])
	for _, item := range items[1:] {
		k := key(item)
		if name == "min" && m.Less(k, bestKey) || name == "max" && m.Less(bestKey, k) {
			best, bestKey = item, k
		}
	}
	return best
}

// selected picks the items for which a test holds, or does not.
func (m *Caller) selected(name string, v values.Value, a *Arguments) values.Value {
	return m.Lazily(func(yield func(values.Value)) {
		if !values.Truth(v) {
			return
		}
		get := func(v values.Value) values.Value { return v }
		pos := a.Pos
		if strings.HasSuffix(name, "attr") {
			if len(pos) == 0 {
				m.Fail("%s needs an attribute", name)
			}
			get = m.getter(pos[0], nil)
			pos = pos[1:]
		}
		holds := values.Truth
		if len(pos) > 0 {
			test := m.Text(pos[0])
			with, ok := TestOf(test)
			if !ok {
				m.Fail("%s", NoTest(test))
			}
			rest := &Arguments{Pos: pos[1:], Names: a.Names, Named: a.Named}
			holds = func(v values.Value) bool { return values.Truth(m.Invoke(with, v, rest)) }
		}
		for _, item := range m.Items(v) {
			m.Step(1)
			if holds(get(item)) == strings.HasPrefix(name, "select") {
				yield(item)
			}
		}
	})
}
