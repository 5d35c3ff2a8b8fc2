package main

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed templates.txt
var templateLines string

// template is a text with slots, and says which names in it are no names of persons or places.
type template struct {
	text              string
	noPerson, noPlace bool
	except            string // the number of a person whose name is none, "others" for all but the first
}

func templates() []template {
	var out []template
	for line := range strings.SplitSeq(templateLines, "\n") {
		if line == "" || strings.HasPrefix(line, "# ") && !strings.Contains(line, "{") {
			continue
		}
		var t template
		for _, option := range []struct {
			suffix string
			set    *bool
		}{{" -person", &t.noPerson}, {" -place", &t.noPlace}} {
			if cut, ok := strings.CutSuffix(line, option.suffix); ok {
				line, *option.set = cut, true
			}
		}
		for _, except := range []string{"1", "3", "others"} {
			if cut, ok := strings.CutSuffix(line, " -"+except); ok {
				line, t.except = cut, except
			}
		}
		t.text = strings.ReplaceAll(line, `\n`, "\n")
		out = append(out, t)
	}
	return out
}

// generator makes labelled texts from templates.
type generator struct {
	p         *pool
	templates []template
	slots     *regexp.Regexp
}

func newGenerator(p *pool) *generator {
	return &generator{p: p, templates: templates(), slots: regexp.MustCompile(`\{([A-Za-z]+)(\d?)\}`)}
}

// documents makes n texts.
func (g *generator) documents(n int) []document {
	out := make([]document, 0, n)
	for range n {
		out = append(out, g.document())
	}
	return out
}

func (g *generator) document() document {
	count := 1
	if g.p.chance(60) {
		count = 2 + g.p.r.IntN(4)
	}
	persons := map[string]personName{}
	between := g.p.one([]string{" ", " ", "\n", "\n\n"})
	var d document
	for i := range count {
		if i > 0 {
			d.text += between
			if g.p.chance(35) {
				clear(persons)
			}
		}
		g.fill(&d, &g.templates[g.p.r.IntN(len(g.templates))], persons)
	}
	switch k := g.p.r.IntN(100); {
	case k < 12 && strings.ToLower(d.text) != d.text && len(strings.ToLower(d.text)) == len(d.text):
		d.text = strings.ToLower(d.text)
	case k < 14 && len(strings.ToUpper(d.text)) == len(d.text):
		d.text = strings.ToUpper(d.text)
	}
	return d
}

// fill adds the text of a template.
func (g *generator) fill(d *document, t *template, persons map[string]personName) {
	at := 0
	for _, m := range g.slots.FindAllStringSubmatchIndex(t.text, -1) {
		d.text += t.text[at:m[0]]
		at = m[1]
		name, number := t.text[m[2]:m[3]], t.text[m[4]:m[5]]
		if number == "" {
			number = "1"
		}
		text, kind := "", 0
		switch name {
		case "person", "given", "family":
			text = g.name(name, number, persons)
			if !t.noPerson && t.except != number && (t.except != "others" || number == "1") {
				kind = spanPerson
			}
		case "initial":
			text, _ = g.p.slot(name)
			if !t.noPerson {
				kind = spanPerson
			}
		default:
			var place bool
			if text, place = g.p.slot(name); place && !t.noPlace {
				kind = spanPlace
			}
		}
		if kind != 0 && text != "" {
			start := len(d.text)
			if strings.HasPrefix(text, "the ") {
				start += 4
			}
			d.add(span{start, len(d.text) + len(text), kind})
		}
		d.text += text
	}
	d.text += t.text[at:]
}

// add adds a span. Parts of one name, with nothing but a space or an initial's period between them, become one span.
func (d *document) add(s span) {
	if n := len(d.spans); n > 0 && s.kind == spanPerson && d.spans[n-1].kind == spanPerson {
		if between := d.text[d.spans[n-1].end:]; between == " " || between == ". " && d.spans[n-1].end-d.spans[n-1].start < 5 {
			d.spans[n-1].end = s.end
			return
		}
	}
	d.spans = append(d.spans, s)
}

func (g *generator) name(slot, number string, persons map[string]personName) string {
	n, ok := persons[number]
	if !ok {
		n = g.p.person()
		persons[number] = n
	}
	switch slot {
	case "given":
		return n.given
	case "family":
		return n.family
	}
	return n.full()
}

// exchange returns a document with other names in the place of its own.
func (g *generator) exchange(d *document) document {
	out := document{}
	words := map[string]string{}
	at := 0
	for i := range d.spans {
		s := d.spans[i]
		out.text += d.text[at:s.start]
		old := d.text[s.start:s.end]
		at = s.end
		text := old
		switch {
		case s.kind == spanPerson:
			text = g.exchanged(old, words)
		case s.kind == spanPlace && g.p.chance(60):
			if words[old] == "" {
				words[old], _ = g.p.slot(g.p.one([]string{"city", "city", "country", "state"}))
			}
			text = words[old]
		}
		out.spans = append(out.spans, span{len(out.text), len(out.text) + len(text), s.kind})
		out.text += text
	}
	out.text += d.text[at:]
	return out
}

// exchanged returns another name of a person. The same word becomes the same word.
func (g *generator) exchanged(old string, words map[string]string) string {
	parts := strings.Fields(old)
	for i, w := range parts {
		if len(strings.Trim(w, ".")) < 2 || strings.ToLower(w) == w {
			continue
		}
		key := w
		if len(parts) > 1 && i == len(parts)-1 {
			key = "family " + w
		}
		if words[key] == "" {
			n := g.p.person()
			if given, family := n.given, n.family; key == w {
				words[key] = given
			} else {
				words[key], words[w] = family, family
			}
		}
		parts[i] = words[key]
		if strings.ToUpper(w) == w {
			parts[i] = strings.ToUpper(parts[i])
		}
	}
	return strings.Join(parts, " ")
}
