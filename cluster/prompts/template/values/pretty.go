package template

import (
	"slices"
	"strings"
)

// pretty is the filter pprint: Python's pprint with lines of 80 characters.
func (m *counter) pretty(v value) value {
	p := &printer{m: m}
	p.value(v, 0, 0, 0)
	return m.made(string(p.out))
}

const prettyWidth = 80

type printer struct {
	m   *counter
	out []byte
}

func (p *printer) write(s string) {
	p.m.room(len(p.out) + len(s))
	p.out = append(p.out, s...)
}

// value writes a value from a column on. What follows it on its line takes allowance
// characters.
func (p *printer) value(v value, indent, allowance, level int) {
	m := p.m
	m.step(1)
	m.deeper()
	defer m.higher()
	shown := m.made(string(p.repr(nil, v)))
	if runes(shown) <= prettyWidth-indent-allowance {
		p.write(shown)
		return
	}
	switch v := v.(type) {
	case *dict:
		p.write("{")
		p.entries(v, indent+1, allowance+1, level+1)
		p.write("}")
	case *list:
		p.write("[")
		p.items(v.items, indent+1, allowance+1, level+1)
		p.write("]")
	case *tuple:
		end := ")"
		if len(v.items) == 1 {
			end = ",)"
		}
		if v.group {
			p.write(shown)
			return
		}
		p.write("(")
		p.items(v.items, indent+1, allowance+len(end), level+1)
		p.write(end)
	case string:
		p.text(v, indent, allowance, level+1)
	default:
		p.write(shown)
	}
}

func (p *printer) newLine(indent int) { p.write("\n" + p.m.repeat(" ", indent)) }

func (p *printer) items(items []value, indent, allowance, level int) {
	for i, item := range items {
		after := 1
		if i == len(items)-1 {
			after = allowance
		}
		p.value(item, indent, after, level)
		if i < len(items)-1 {
			p.write(",")
			p.newLine(indent)
		}
	}
}

func (p *printer) entries(d *dict, indent, allowance, level int) {
	for i, entry := range p.ordered(d) {
		after := 1
		if i == d.len()-1 {
			after = allowance
		}
		key := string(p.repr(nil, entry[0]))
		p.write(key + ": ")
		p.value(entry[1], indent+runes(key)+2, after, level)
		if i < d.len()-1 {
			p.write(",")
			p.newLine(indent)
		}
	}
}

// ordered returns the entries of a dict by key. Keys that have no order go by the names
// of their types.
func (p *printer) ordered(d *dict) [][2]value {
	m := p.m
	m.times(d.len(), 2*wordBytes)
	out := make([][2]value, d.len())
	for i, k := range d.keys {
		out[i] = [2]value{k, d.values[i]}
	}
	slices.SortStableFunc(out, func(a, b [2]value) int {
		x, y := a[0], b[0]
		if isNumber(x) && isNumber(y) || isText(x) && isText(y) || typeName(x) == typeName(y) {
			switch {
			case m.less(x, y):
				return -1
			case m.less(y, x):
				return 1
			}
			return 0
		}
		m.step(1)
		return strings.Compare(className(x), className(y))
	})
	return out
}

// className is a type's name where pprint orders by it.
func className(v value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case markup:
		return "markupsafe.Markup"
	case *undefined:
		if v.strict {
			return "jinja2.runtime.Undefined"
		}
		return "jinja2.runtime.ChainableUndefined"
	}
	return typeName(v)
}

// repr is Python's repr, with the keys of dicts in order.
func (p *printer) repr(out []byte, v value) []byte {
	m := p.m
	m.step(1)
	m.room(len(out))
	m.deeper()
	defer m.higher()
	switch v := v.(type) {
	case *dict:
		out = append(out, '{')
		for i, entry := range p.ordered(v) {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = p.repr(append(p.repr(out, entry[0]), ": "...), entry[1])
		}
		return append(out, '}')
	case *list:
		return append(p.reprs(append(out, '['), v.items), ']')
	case *tuple:
		if v.group {
			return m.appendRepr(out, v)
		}
		out = p.reprs(append(out, '('), v.items)
		if len(v.items) == 1 {
			out = append(out, ',')
		}
		return append(out, ')')
	}
	return m.appendRepr(out, v)
}

func (p *printer) reprs(out []byte, items []value) []byte {
	for i, item := range items {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = p.repr(out, item)
	}
	return out
}

// text writes a long text as several, at its lines and words.
func (p *printer) text(s string, indent, allowance, level int) {
	if level == 1 {
		indent, allowance = indent+1, allowance+1
	}
	width := prettyWidth - indent
	var parts []string
	quoted := func(s string) string {
		p.m.times(len(s)+8, 3)
		return string(p.m.appendQuoted(nil, s))
	}
	lines := splitLines(s, true)
	p.m.times(len(s), 4)
	p.m.times(len(lines), wordBytes)
	for i, line := range lines {
		last := i == len(lines)-1
		first := width
		if last {
			first -= allowance
		}
		if q := quoted(line); runes(q) <= first {
			parts = append(parts, q)
			continue
		}
		most, current := width, ""
		words := prettyWords(line)
		p.m.times(len(words), wordBytes)
		for j, word := range words {
			if last && j == len(words)-1 {
				most -= allowance
			}
			candidate := current + word
			p.m.step(1)
			p.m.grow(len(candidate))
			if runes(quoted(candidate)) <= most {
				current = candidate
				continue
			}
			if current != "" {
				parts = append(parts, quoted(current))
			}
			current = word
		}
		if current != "" {
			parts = append(parts, quoted(current))
		}
	}
	if len(parts) == 1 {
		p.write(quoted(lines[len(lines)-1]))
		return
	}
	if level == 1 {
		p.write("(")
	}
	for i, part := range parts {
		if i > 0 {
			p.newLine(indent)
		}
		p.write(part)
	}
	if level == 1 {
		p.write(")")
	}
}

// prettyWords divides a line into words with the white space after each.
func prettyWords(s string) []string {
	var out []string
	for s != "" {
		n := strings.IndexFunc(s, isSpace)
		if n < 0 {
			n = len(s)
		}
		n = len(s) - len(trimLeftSpace(s[n:]))
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}
