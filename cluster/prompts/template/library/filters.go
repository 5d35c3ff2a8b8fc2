package template

import "strings"

// filterOf returns a filter.
func filterOf(name string) (*native, bool) {
	for _, of := range []func(string) (*native, bool){textFilter, cutFilter, listFilter, rowFilter, pickFilter, orderFilter, numberFilter, markupFilter, formFilter} {
		if n, ok := of(name); ok {
			return n, true
		}
	}
	return nil, false
}

const filterNames = "abs, attr, batch, capitalize, center, count, d, default, dictsort, e, escape, filesizeformat, first, float, forceescape, format, " +
	"groupby, indent, int, items, join, last, length, list, lower, map, max, min, pprint, reject, rejectattr, replace, reverse, round, safe, select, " +
	"selectattr, slice, sort, string, striptags, sum, title, tojson, trim, truncate, unique, upper, urlencode, wordcount, wordwrap, xmlattr"

// noFilter says why there is no filter of a name.
func noFilter(name string) string {
	switch name {
	case "random":
		return "the filter random is not supported, because a template renders the same each time"
	case "urlize":
		return "the filter urlize is not supported; a prompt has no links"
	}
	return "there is no filter " + quote(name) + "; templates have " + filterNames
}

// textFilter returns the filters that change a text.
func textFilter(name string) (*native, bool) {
	n := &native{name: name}
	change := func(f func(string) string) func(*caller, value, *arguments) value {
		return func(m *caller, v value, _ *arguments) value {
			s, of := m.softText(v)
			return like(of, m.changed(s, f, caseCost))
		}
	}
	switch name {
	case "upper":
		n.call = change(upper)
	case "lower":
		n.call = change(lower)
	case "capitalize":
		n.call = change(capitalized)
	case "title":
		n.call = func(m *caller, v value, _ *arguments) value { return m.changed(m.str(v), titledWords, titleCost) }
	case "string":
		n.call = func(m *caller, v value, _ *arguments) value {
			_, out := m.softText(v)
			return out
		}
	case "trim":
		n.params, n.most = "chars", 1
		n.call = func(m *caller, v value, a *arguments) value {
			s, of := m.softText(v)
			return like(of, m.stripped("strip", s, a.or(0, nil)))
		}
	case "center":
		n.params, n.most = "width", 1
		n.call = func(m *caller, v value, a *arguments) value {
			s, of := m.softText(v)
			return like(of, m.padded(name, s, m.integer(a.or(0, 80)), " "))
		}
	case "replace":
		n.params, n.least, n.most = "old new count", 2, 3
		n.call = func(m *caller, v value, a *arguments) value {
			count := a.or(2, nil)
			if count == nil {
				count = -1
			}
			return m.replaced(m.str(v), m.str(a.pos[0]), m.str(a.pos[1]), m.integer(count))
		}
	case "wordcount":
		n.call = func(m *caller, v value, _ *arguments) value {
			s := m.str(v)
			m.step(len(s) / 8)
			return countWords(s)
		}
	default:
		return nil, false
	}
	return n, true
}

// countWords counts the runs of letters, digits and underscores.
func countWords(s string) int {
	n, inWord := 0, false
	for _, r := range s {
		word := isWordRune(r)
		if word && !inWord {
			n++
		}
		inWord = word
	}
	return n
}

// titledWords is the filter title: unlike the method, it leaves letters after an
// apostrophe or a digit small.
func titledWords(s string) string {
	var out strings.Builder
	begin := func(r rune) bool { return isSpace(r) || strings.ContainsRune("-({[<", r) }
	for s != "" {
		n := strings.IndexFunc(s, begin)
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			first := firstRune(s)
			out.WriteString(upper(first))
			out.WriteString(lower(s[len(first):n]))
			s = s[n:]
			continue
		}
		n = strings.IndexFunc(s, func(r rune) bool { return !begin(r) })
		if n < 0 {
			n = len(s)
		}
		out.WriteString(s[:n])
		s = s[n:]
	}
	return out.String()
}

// formFilter returns the filters that give a value another form.
func formFilter(name string) (*native, bool) {
	n := &native{name: name}
	switch name {
	case "default", "d":
		n.params, n.most = "default_value boolean", 2
		n.call = func(_ *caller, v value, a *arguments) value {
			if _, ok := v.(*undefined); ok || truth(a.or(1, false)) && !truth(v) {
				return a.or(0, "")
			}
			return v
		}
	case "tojson":
		n.params, n.most = "indent", 1
		n.call = func(m *caller, v value, a *arguments) value { return m.json(v, a.or(0, nil)) }
	case "pprint":
		n.call = func(m *caller, v value, _ *arguments) value { return m.pretty(v) }
	case "attr":
		n.params, n.least, n.most = "name", 1, 1
		n.call = func(m *caller, v value, a *arguments) value {
			name := m.text(a.pos[0])
			none := &undefined{name: name}
			if hidden(name) {
				m.fail(unreachable)
			}
			if _, ok := v.(*undefined); !ok {
				if v, ok := m.ownAttribute(v, name); ok {
					return v
				}
				return none
			}
			return m.absent(v, none)
		}
	case "format":
		n.most, n.keywords = -1, true
		n.call = func(m *caller, v value, a *arguments) value {
			s, of := m.softText(v)
			if len(a.pos) > 0 && len(a.names) > 0 {
				m.fail("format takes values with names or without, not both")
			}
			if len(a.names) == 0 {
				return like(of, m.percent(s, of, m.newTuple(a.pos...)))
			}
			d := &dict{}
			for i, name := range a.names {
				m.set(d, name, a.named[i])
			}
			return like(of, m.percent(s, of, d))
		}
	case "urlencode":
		n.call = func(m *caller, v value, _ *arguments) value { return m.urlEncoded(v) }
	case "xmlattr":
		n.params, n.most = "autospace", 1
		n.call = func(m *caller, v value, a *arguments) value { return m.xmlAttributes(v, truth(a.or(0, true))) }
	default:
		return nil, false
	}
	return n, true
}

// markupFilter returns the filters about HTML.
func markupFilter(name string) (*native, bool) {
	n := &native{name: name}
	switch name {
	case "escape", "e":
		n.call = func(m *caller, v value, _ *arguments) value { return m.escaped(v) }
	case "forceescape":
		n.call = func(m *caller, v value, _ *arguments) value { return m.escapedText(m.str(v)) }
	case "safe":
		n.call = func(m *caller, v value, _ *arguments) value { return markup(m.str(v)) }
	case "striptags":
		n.call = func(m *caller, v value, _ *arguments) value { return m.withoutTags(m.str(v)) }
	default:
		return nil, false
	}
	return n, true
}
