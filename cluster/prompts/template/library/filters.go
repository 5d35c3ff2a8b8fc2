package library

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// FilterOf returns a filter.
func FilterOf(name string) (*Native, bool) {
	for _, of := range []func(string) (*Native, bool){textFilter, cutFilter, listFilter, rowFilter, pickFilter, orderFilter, numberFilter, markupFilter, formFilter} {
		if n, ok := of(name); ok {
			return n, true
		}
	}
	return nil, false
}

const filterNames = "abs, attr, batch, capitalize, center, count, d, default, dictsort, e, escape, filesizeformat, first, float, forceescape, format, " +
	"groupby, indent, int, items, join, last, length, list, lower, map, max, min, pprint, reject, rejectattr, replace, reverse, round, safe, select, " +
	"selectattr, slice, sort, string, striptags, sum, title, tojson, trim, truncate, unique, upper, urlencode, wordcount, wordwrap, xmlattr"

// NoFilter says why there is no filter of a name.
func NoFilter(name string) string {
	switch name {
	case "random":
		return "the filter random is not supported, because a template renders the same each time"
	case "urlize":
		return "the filter urlize is not supported; a prompt has no links"
	}
	return "there is no filter " + values.Quote(name) + "; templates have " + filterNames
}

// textFilter returns the filters that change a text.
func textFilter(name string) (*Native, bool) {
	n := &Native{Name: name}
	change := func(f func(string) string) func(*Caller, values.Value, *Arguments) values.Value {
		return func(m *Caller, v values.Value, _ *Arguments) values.Value {
			s, of := m.SoftText(v)
			return values.Like(of, m.changed(s, f, caseCost))
		}
	}
	switch name {
	case "upper":
		n.Call = change(values.Upper)
	case "lower":
		n.Call = change(values.Lower)
	case "capitalize":
		n.Call = change(values.Capitalized)
	case "title":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			return m.changed(m.Str(v), titledWords, titleCost)
		}
	case "string":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			_, out := m.SoftText(v)
			return out
		}
	case "trim":
		n.params, n.Most = "chars", 1
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			s, of := m.SoftText(v)
			return values.Like(of, m.stripped("strip", s, a.or(0, nil)))
		}
	case "center":
		n.params, n.Most = "width", 1
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			s, of := m.SoftText(v)
			return values.Like(of, m.padded(name, s, m.Integer(a.or(0, 80)), " "))
		}
	case "replace":
		n.params, n.least, n.Most = "old new count", 2, 3
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			count := a.or(2, nil)
			if count == nil {
				count = -1
			}
			return m.replaced(m.Str(v), m.Str(a.Pos[0]), m.Str(a.Pos[1]), m.Integer(count))
		}
	case "wordcount":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			s := m.Str(v)
			m.Step(len(s) / 8)
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
		word := values.IsWordRune(r)
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
	begin := func(r rune) bool { return values.IsSpace(r) || strings.ContainsRune("-({[<", r) }
	for s != "" {
		n := strings.IndexFunc(s, begin)
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			first := values.FirstRune(s)
			out.WriteString(values.Upper(first))
			out.WriteString(values.Lower(s[len(first):n]))
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
func formFilter(name string) (*Native, bool) {
	n := &Native{Name: name}
	switch name {
	case "default", "d":
		n.params, n.Most = "default_value boolean", 2
		n.Call = func(_ *Caller, v values.Value, a *Arguments) values.Value {
			if _, ok := v.(*values.Undefined); ok || values.Truth(a.or(1, false)) && !values.Truth(v) {
				return a.or(0, "")
			}
			return v
		}
	case "tojson":
		n.params, n.Most = "indent", 1
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.JSON(v, a.or(0, nil)) }
	case "pprint":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value { return m.Pretty(v) }
	case "attr":
		n.params, n.least, n.Most = "name", 1, 1
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			name := m.Text(a.Pos[0])
			none := &values.Undefined{Name: name}
			if Hidden(name) {
				m.Fail(Unreachable)
			}
			if _, ok := v.(*values.Undefined); !ok {
				if v, ok := m.ownAttribute(v, name); ok {
					return v
				}
				return none
			}
			return m.absent(v, none)
		}
	case "format":
		n.Most, n.keywords = -1, true
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			s, of := m.SoftText(v)
			if len(a.Pos) > 0 && len(a.Names) > 0 {
				m.Fail("format takes values with names or without, not both")
			}
			if len(a.Names) == 0 {
				return values.Like(of, m.Percent(s, of, m.NewTuple(a.Pos...)))
			}
			d := &values.Dict{}
			for i, name := range a.Names {
				m.Set(d, name, a.Named[i])
			}
			return values.Like(of, m.Percent(s, of, d))
		}
	case "urlencode":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value { return m.URLEncoded(v) }
	case "xmlattr":
		n.params, n.Most = "autospace", 1
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			return m.XMLAttributes(v, values.Truth(a.or(0, true)))
		}
	default:
		return nil, false
	}
	return n, true
}

// markupFilter returns the filters about HTML.
func markupFilter(name string) (*Native, bool) {
	n := &Native{Name: name}
	switch name {
	case "escape", "e":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value { return m.Escaped(v) }
	case "forceescape":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value { return m.EscapedText(m.Str(v)) }
	case "safe":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value { return values.Markup(m.Str(v)) }
	case "striptags":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value { return m.WithoutTags(m.Str(v)) }
	default:
		return nil, false
	}
	return n, true
}
