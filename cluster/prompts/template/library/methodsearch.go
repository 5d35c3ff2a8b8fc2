package template

import "strings"

// searchMethod returns the methods of texts that look for other texts, divide them and
// put them together.
func searchMethod(name string) (*native, bool) {
	n := &native{name: name, params: "sub start end", least: 1, most: 3, positional: true}
	switch name {
	case "find", "rfind", "index", "rindex", "count":
		n.call = func(m *caller, self value, a *arguments) value { return m.found(name, self, a) }
	case "startswith", "endswith":
		n.call = func(m *caller, self value, a *arguments) value { return m.bordered(name, self, a) }
	case "split", "rsplit":
		n.params, n.least, n.most, n.positional = "sep maxsplit", 0, 2, false
		n.call = func(m *caller, self value, a *arguments) value { return m.split(name, self, a) }
	case "splitlines":
		n.params, n.least, n.most, n.positional = "keepends", 0, 1, false
		n.call = func(m *caller, self value, a *arguments) value {
			s, _ := textOf(self)
			return m.texts(self, s, splitLines(s, truth(a.or(0, false))))
		}
	case "partition", "rpartition":
		n.params, n.most = "sep", 1
		n.call = func(m *caller, self value, a *arguments) value { return m.parted(name, self, a) }
	case "replace":
		n.params, n.least = "old new count", 2
		n.call = func(m *caller, self value, a *arguments) value {
			s, _ := textOf(self)
			with := m.text(a.pos[1])
			if _, ok := self.(markup); ok {
				with = string(m.escaped(a.pos[1]))
			}
			return like(self, m.replaced(s, m.text(a.pos[0]), with, m.integer(a.or(2, -1))))
		}
	case "join":
		n.params, n.most = "iterable", 1
		n.call = func(m *caller, self value, a *arguments) value { return m.joinedBy(self, a.pos[0]) }
	case "format", "format_map":
		n.least, n.most, n.keywords = 0, -1, true
		n.call = func(m *caller, self value, a *arguments) value { return m.formatted(name, self, a) }
	default:
		return nil, false
	}
	return n, true
}

// joinedBy is str.join. Markup escapes the items.
func (m *caller) joinedBy(self, list value) value {
	between, _ := textOf(self)
	_, safe := self.(markup)
	items := m.items(list)
	parts := make([]string, len(items))
	m.grow(wordBytes * len(items))
	for i, item := range items {
		m.step(1)
		if safe {
			parts[i] = string(m.escaped(item))
			continue
		}
		parts[i] = m.text(item)
	}
	return like(self, m.joinTexts(parts, between))
}

// within returns the part of a text between two optional bounds, and at which character
// it starts. It is false if the part ends before it starts.
func (m *caller) within(s string, a *arguments) (part string, start int, ok bool) {
	m.work(len(s))
	if !a.given(1) && !a.given(2) {
		return s, 0, true
	}
	length := runes(s)
	bounds := [3]value{a.or(1, nil), a.or(2, nil)}
	c := m.cut(bounds, length)
	if b := bounds[0]; b != nil {
		if i := m.sliceIndex(b); i > length {
			return "", 0, false
		}
	}
	if c.n == 0 && bounds[1] != nil {
		stop := m.sliceIndex(bounds[1])
		if stop < 0 {
			stop += length
		}
		if stop < c.start {
			return "", 0, false
		}
	}
	from := byteAt(s, c.start)
	return s[from : from+byteAt(s[from:], c.n)], c.start, true
}

func (m *caller) found(name string, self value, a *arguments) value {
	s, _ := textOf(self)
	sub := m.text(a.pos[0])
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
			m.fail("the text is not found")
		}
		return -1
	}
	return start + runes(part[:i])
}

func (m *caller) bordered(name string, self value, a *arguments) value {
	s, _ := textOf(self)
	part, _, ok := m.within(s, a)
	choices := []value{a.pos[0]}
	if t, isTuple := a.pos[0].(*tuple); isTuple {
		choices = t.items
	}
	m.step(len(choices))
	for _, c := range choices {
		text := m.text(c)
		if ok && (name == "startswith" && strings.HasPrefix(part, text) || name == "endswith" && strings.HasSuffix(part, text)) {
			return true
		}
	}
	return false
}

// texts returns parts of a text as a list.
func (m *caller) texts(self value, s string, parts []string) value {
	m.work(len(s))
	m.times(len(parts), 3*wordBytes)
	m.step(len(parts))
	items := make([]value, len(parts))
	for i, p := range parts {
		items[i] = like(self, p)
	}
	return m.newList(items)
}

func (m *caller) split(name string, self value, a *arguments) value {
	s, _ := textOf(self)
	most := m.integer(a.or(1, -1))
	sep := a.or(0, nil)
	m.times(len(s)/4, 1)
	if sep == nil {
		return m.texts(self, s, splitSpace(s, most, name == "rsplit"))
	}
	by := m.text(sep)
	if by == "" {
		m.fail("a text cannot be split at nothing")
	}
	m.times(strings.Count(s, by), wordBytes)
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
		s = trimLeftSpace(s)
		for s != "" {
			i := strings.IndexFunc(s, isSpace)
			if i < 0 || most >= 0 && len(out) >= most {
				out = append(out, s)
				break
			}
			out = append(out, s[:i])
			s = trimLeftSpace(s[i:])
		}
		return out
	}
	s = trimRightSpace(s)
	for s != "" {
		i := strings.LastIndexFunc(s, isSpace)
		if i < 0 || most >= 0 && len(out) >= most {
			out = append(out, s)
			break
		}
		next := i + len(firstRune(s[i:]))
		out = append(out, s[next:])
		s = trimRightSpace(s[:i])
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

func (m *caller) parted(name string, self value, a *arguments) value {
	s, _ := textOf(self)
	sep := m.text(a.pos[0])
	if sep == "" {
		m.fail("a text cannot be parted at nothing")
	}
	m.work(len(s))
	parts := func(one, two, three string) value {
		return m.newTuple(like(self, one), like(self, two), like(self, three))
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
func (m *caller) replaced(s, old, with string, count int) string {
	m.work(len(s))
	n := strings.Count(s, old)
	if count >= 0 {
		n = min(n, count)
	}
	m.times(n, len(with))
	m.grow(len(s))
	m.work(len(s) + n*len(with))
	return strings.Replace(s, old, with, count)
}
