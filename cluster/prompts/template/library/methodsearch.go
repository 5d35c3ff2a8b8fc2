package library

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// searchMethod returns the methods of texts that look for other texts, divide them and
// put them together.
func searchMethod(name string) (*Native, bool) {
	n := &Native{Name: name, params: "sub start end", least: 1, Most: 3, positional: true}
	switch name {
	case "find", "rfind", "index", "rindex", "count":
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value { return m.found(name, self, a) }
	case "startswith", "endswith":
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value { return m.bordered(name, self, a) }
	case "split", "rsplit":
		n.params, n.least, n.Most, n.positional = "sep maxsplit", 0, 2, false
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value { return m.split(name, self, a) }
	case "splitlines":
		n.params, n.least, n.Most, n.positional = "keepends", 0, 1, false
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value {
			s, _ := values.TextOf(self)
			return m.texts(self, s, values.SplitLines(s, values.Truth(a.or(0, false))))
		}
	case "partition", "rpartition":
		n.params, n.Most = "sep", 1
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value { return m.parted(name, self, a) }
	case "replace":
		n.params, n.least = "old new count", 2
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value {
			s, _ := values.TextOf(self)
			with := m.Text(a.Pos[1])
			if _, ok := self.(values.Markup); ok {
				with = string(m.Escaped(a.Pos[1]))
			}
			return values.Like(self, m.replaced(s, m.Text(a.Pos[0]), with, m.Integer(a.or(2, -1))))
		}
	case "join":
		n.params, n.Most = "iterable", 1
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value { return m.joinedBy(self, a.Pos[0]) }
	case "format", "format_map":
		n.least, n.Most, n.keywords = 0, -1, true
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value { return m.formatted(name, self, a) }
	default:
		return nil, false
	}
	return n, true
}

// joinedBy is str.join. Markup escapes the items.
func (m *Caller) joinedBy(self, list values.Value) values.Value {
	between, _ := values.TextOf(self)
	_, safe := self.(values.Markup)
	items := m.Items(list)
	parts := make([]string, len(items))
	m.Grow(values.WordBytes * len(items))
	for i, item := range items {
		m.Step(1)
		if safe {
			parts[i] = string(m.Escaped(item))
			continue
		}
		parts[i] = m.Text(item)
	}
	return values.Like(self, m.JoinTexts(parts, between))
}

// within returns the part of a text between two optional bounds, and at which character
// it starts. It is false if the part ends before it starts.
func (m *Caller) within(s string, a *Arguments) (part string, start int, ok bool) {
	m.Work(len(s))
	if !a.given(1) && !a.given(2) {
		return s, 0, true
	}
	length := values.Runes(s)
	bounds := [3]values.Value{a.or(1, nil), a.or(2, nil)}
	c := m.Cut(bounds, length)
	if b := bounds[0]; b != nil {
		if i := m.SliceIndex(b); i > length {
			return "", 0, false
		}
	}
	if c.N == 0 && bounds[1] != nil {
		stop := m.SliceIndex(bounds[1])
		if stop < 0 {
			stop += length
		}
		if stop < c.Start {
			return "", 0, false
		}
	}
	from := values.ByteAt(s, c.Start)
	return s[from : from+values.ByteAt(s[from:], c.N)], c.Start, true
}

func (m *Caller) found(name string, self values.Value, a *Arguments) values.Value {
	s, _ := values.TextOf(self)
	sub := m.Text(a.Pos[0])
	part, start, ok := m.within(s, a)
	if name == "count" {
		if !ok {
			return 0
		}
		return strings.Count(part, sub)
	}
	i := -1
	if ok && strings.HasPrefix(name, "r") {
		i = strings.LastIndex(part, sub)
	} else if ok {
		i = strings.Index(part, sub)
	}
	if i < 0 {
		if strings.HasSuffix(name, "index") {
			m.Fail("the text is not found")
		}
		return -1
	}
	return start + values.Runes(part[:i])
}

func (m *Caller) bordered(name string, self values.Value, a *Arguments) values.Value {
	s, _ := values.TextOf(self)
	part, _, ok := m.within(s, a)
	choices := []values.Value{a.Pos[0]}
	if t, isTuple := a.Pos[0].(*values.Tuple); isTuple {
		choices = t.Items
	}
	m.Step(len(choices))
	for _, c := range choices {
		text := m.Text(c)
		if ok && (name == "startswith" && strings.HasPrefix(part, text) || name == "endswith" && strings.HasSuffix(part, text)) {
			return true
		}
	}
	return false
}

// texts returns parts of a text as a list.
func (m *Caller) texts(self values.Value, s string, parts []string) values.Value {
	m.Work(len(s))
	m.Times(len(parts), 3*values.WordBytes)
	m.Step(len(parts))
	items := make([]values.Value, len(parts))
	for i, p := range parts {
		items[i] = values.Like(self, p)
	}
	return m.NewList(items)
}

func (m *Caller) split(name string, self values.Value, a *Arguments) values.Value {
	s, _ := values.TextOf(self)
	most := m.Integer(a.or(1, -1))
	sep := a.or(0, nil)
	m.Times(len(s)/4, 1)
	if sep == nil {
		return m.texts(self, s, splitSpace(s, most, name == "rsplit"))
	}
	by := m.Text(sep)
	if by == "" {
		m.Fail("a text cannot be split at nothing")
	}
	m.Times(strings.Count(s, by), values.WordBytes)
	if most < 0 || name == "split" {
		if most < 0 {
			most = -2
		}
		return m.texts(self, s, strings.SplitN(s, by, most+1))
	}
	var parts []string
	for len(parts) < most {
		i := strings.LastIndex(s, by)
		if i < 0 {
			break
		}
		parts = append(parts, s[i+len(by):])
		s = s[:i]
	}
	parts = append(parts, s)
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return m.texts(self, s, parts)
}

// splitSpace divides a text at white space, most times at most, or any number of times if
// most is negative.
func splitSpace(s string, most int, fromRight bool) []string { //nolint:revive // both directions are one rule
	var out []string
	if !fromRight {
		s = values.TrimLeftSpace(s)
		for s != "" {
			i := strings.IndexFunc(s, values.IsSpace)
			if i < 0 || most >= 0 && len(out) >= most {
				out = append(out, s)
				break
			}
			out = append(out, s[:i])
			s = values.TrimLeftSpace(s[i:])
		}
		return out
	}
	s = values.TrimRightSpace(s)
	for s != "" {
		i := strings.LastIndexFunc(s, values.IsSpace)
		if i < 0 || most >= 0 && len(out) >= most {
			out = append(out, s)
			break
		}
		next := i + len(values.FirstRune(s[i:]))
		out = append(out, s[next:])
		s = values.TrimRightSpace(s[:i])
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

func (m *Caller) parted(name string, self values.Value, a *Arguments) values.Value {
	s, _ := values.TextOf(self)
	sep := m.Text(a.Pos[0])
	if sep == "" {
		m.Fail("a text cannot be parted at nothing")
	}
	m.Work(len(s))
	parts := func(one, two, three string) values.Value {
		return m.NewTuple(values.Like(self, one), values.Like(self, two), values.Like(self, three))
	}
	if name == "partition" {
		if before, after, ok := strings.Cut(s, sep); ok {
			return parts(before, sep, after)
		}
		return parts(s, "", "")
	}
	if i := strings.LastIndex(s, sep); i >= 0 {
		return parts(s[:i], sep, s[i+len(sep):])
	}
	return parts("", "", s)
}

// replaced is str.replace. A negative count is no limit.
func (m *Caller) replaced(s, old, with string, count int) string {
	m.Work(len(s))
	n := strings.Count(s, old)
	if count >= 0 {
		n = min(n, count)
	}
	m.Times(n, len(with))
	m.Grow(len(s))
	m.Work(len(s) + n*len(with))
	return strings.Replace(s, old, with, count)
}
