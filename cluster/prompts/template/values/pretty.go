package values

import (
	"slices"
	"strings"
)

// Pretty is the filter pprint: Python's pprint with lines of 80 characters.
func (m *Counter) Pretty(v Value) Value {
	p := &printer{m: m}
	p.value(v, 0, 0, 0)
	return m.Made(string(p.out))
}

const prettyWidth = 80

type printer struct {
	m   *Counter
	out []byte
}

func (p *printer) write(s string) {
	p.m.Room(len(p.out) + len(s))
	p.out = append(p.out, s...)
}

// value writes a value from a column on. What follows it on its line takes allowance
// characters.
func (p *printer) value(v Value, indent, allowance, level int) {
	m := p.m
	m.Step(1)
	m.Deeper()
	defer m.Higher()
	shown := m.Made(string(p.repr(nil, v)))
	if Runes(shown) <= prettyWidth-indent-allowance {
		p.write(shown)
		return
	}
	switch v := v.(type) {
	case *Dict:
		p.write("{")
		p.entries(v, indent+1, allowance+1, level+1)
		p.write("}")
	case *List:
		p.write("[")
		p.items(v.Items, indent+1, allowance+1, level+1)
		p.write("]")
	case *Tuple:
		end := ")"
		if len(v.Items) == 1 {
			end = ",)"
		}
		if v.Group {
			p.write(shown)
			return
		}
		p.write("(")
		p.items(v.Items, indent+1, allowance+len(end), level+1)
		p.write(end)
	case string:
		p.text(v, indent, allowance, level+1)
	default:
		p.write(shown)
	}
}

func (p *printer) newLine(indent int) { p.write("\n" + p.m.Repeat(" ", indent)) }

func (p *printer) items(items []Value, indent, allowance, level int) {
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

func (p *printer) entries(d *Dict, indent, allowance, level int) {
	for i, entry := range p.ordered(d) {
		after := 1
		if i == d.Len()-1 {
			after = allowance
		}
		key := string(p.repr(nil, entry[0]))
		p.write(key + ": ")
		p.value(entry[1], indent+Runes(key)+2, after, level)
		if i < d.Len()-1 {
			p.write(",")
			p.newLine(indent)
		}
	}
}

// ordered returns the entries of a dict by key. Keys that have no order go by the names
// of their types.
func (p *printer) ordered(d *Dict) [][2]Value {
	m := p.m
	m.Times(d.Len(), 2*WordBytes)
	out := make([][2]Value, d.Len())
	for i, k := range d.Keys {
		out[i] = [2]Value{k, d.Values[i]}
	}
	slices.SortStableFunc(out, func(a, b [2]Value) int {
		x, y := a[0], b[0]
		if IsNumber(x) && IsNumber(y) || IsText(x) && IsText(y) || TypeName(x) == TypeName(y) {
			switch {
			case m.Less(x, y):
				return -1
			case m.Less(y, x):
				return 1
			}
			return 0
		}
		m.Step(1)
		return strings.Compare(className(x), className(y))
	})
	return out
}

// className is a type's name where pprint orders by it.
func className(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case Markup:
		return "markupsafe.Markup"
	case *Undefined:
		if v.Strict {
			return "jinja2.runtime.Undefined"
		}
		return "jinja2.runtime.ChainableUndefined"
	}
	return TypeName(v)
}

// repr is Python's repr, with the keys of dicts in order.
func (p *printer) repr(out []byte, v Value) []byte {
	m := p.m
	m.Step(1)
	m.Room(len(out))
	m.Deeper()
	defer m.Higher()
	switch v := v.(type) {
	case *Dict:
		out = append(out, '{')
		for i, entry := range p.ordered(v) {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = p.repr(append(p.repr(out, entry[0]), ": "...), entry[1])
		}
		return append(out, '}')
	case *List:
		return append(p.reprs(append(out, '['), v.Items), ']')
	case *Tuple:
		if v.Group {
			return m.AppendRepr(out, v)
		}
		out = p.reprs(append(out, '('), v.Items)
		if len(v.Items) == 1 {
			out = append(out, ',')
		}
		return append(out, ')')
	}
	return m.AppendRepr(out, v)
}

func (p *printer) reprs(out []byte, items []Value) []byte {
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
		p.m.Times(len(s)+8, 3)
		return string(p.m.AppendQuoted(nil, s))
	}
	lines := SplitLines(s, true)
	p.m.Times(len(s), 4)
	p.m.Times(len(lines), WordBytes)
	for i, line := range lines {
		last := i == len(lines)-1
		first := width
		if last {
			first -= allowance
		}
		if q := quoted(line); Runes(q) <= first {
			parts = append(parts, q)
			continue
		}
		most, current := width, ""
		words := prettyWords(line)
		p.m.Times(len(words), WordBytes)
		for j, word := range words {
			if last && j == len(words)-1 {
				most -= allowance
			}
			candidate := current + word
			p.m.Step(1)
			p.m.Grow(len(candidate))
			if Runes(quoted(candidate)) <= most {
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
		n := strings.IndexFunc(s, IsSpace)
		if n < 0 {
			n = len(s)
		}
		n = len(s) - len(TrimLeftSpace(s[n:]))
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}
