//go:build nightly

package template_test

import (
	"bufio"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// generator writes templates from a grammar.
type generator struct {
	*rand.Rand
	depth int
}

func (g *generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

// deeper writes something with parts, or something plain where it is nested already.
func (g *generator) deeper(whole func() string, plain ...string) string {
	if g.depth > 4 || g.IntN(3) == 0 {
		return g.pick(plain...)
	}
	g.depth++
	defer func() { g.depth-- }()
	return whole()
}

func (g *generator) expr() string {
	return g.deeper(func() string {
		switch g.IntN(12) {
		case 0, 1:
			return g.expr() + " " + g.pick("+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or") + " " + g.expr()
		case 2, 3, 4:
			return g.expr() + "|" + g.filter()
		case 5:
			return "(" + g.expr() + ")" + g.pick(".a", ".b.c", "[0]", "[-1]", "['a']", "[1:]", "[::-1]", "[:2]", "[n]", ".0")
		case 6:
			return "(" + g.expr() + ") " + g.pick("is", "is not") + " " + g.pick("defined", "undefined", "none", "string", "number", "mapping", "iterable", "sequence", "odd", "even", "true", "integer", "float", "boolean", "lower", "upper", "eq 1", "in l", "divisibleby 2")
		case 7:
			return "[" + g.expr() + ", " + g.expr() + "]"
		case 8:
			return "{" + g.pick("'a'", "'k'", "1", "n") + ": " + g.expr() + "}"
		case 9:
			return "(" + g.expr() + ")." + g.pick("upper()", "lower()", "title()", "strip()", "split()", "split('a', 1)", "replace('l', 'L')", "startswith('H')", "items()", "keys()", "get('a')", "count('a')", "find('l')", "center(9)", "zfill(5)", "join(ls)", "partition(' ')", "rsplit(none, 1)", "splitlines()")
		case 10:
			return "(" + g.expr() + " if " + g.expr() + g.pick(" else "+g.expr(), "") + ")"
		}
		return g.pick("not ", "-") + g.expr()
	}, "n", "f", "s", "e", "l", "ls", "d", "us", "u", "t", "nope", "uni", "ws", "x", "1", "0", "-2", "2.5", "'a'", "'Hello World'", "\"it's\"", "''", "true", "none", "[]", "{}", "(1, 'b')", "range(4)", "i", "big")
}

func (g *generator) filter() string {
	return g.pick("upper", "lower", "title", "capitalize", "trim", "length", "first", "last", "list", "join", "join(', ')", "string", "int", "float", "abs", "round", "round(1)", "sort", "sort(reverse=true)",
		"reverse", "unique", "sum", "min", "max", "tojson", "tojson(indent=2)", "default('x')", "default('x', true)", "d(1)", "replace('a', 'b')", "truncate(5)", "truncate(5, true, '…', 0)", "wordcount", "wordwrap(5)",
		"indent", "indent(2, true)", "center(8)", "e", "escape", "forceescape", "striptags", "safe", "urlencode", "batch(2)", "slice(2)", "dictsort", "items", "map('upper')", "map(attribute='a')", "select", "reject('none')",
		"selectattr('a')", "selectattr('a', 'eq', 1)", "groupby('a')", "pprint", "filesizeformat", "format(1)", "xmlattr", "attr('a')", "batch(2, 0)", "map('string')", "count", "list|length", "list|first", "list|join('-')")
}

func (g *generator) body() string {
	var out strings.Builder
	for range 1 + g.IntN(4) {
		out.WriteString(g.node())
	}
	return out.String()
}

func (g *generator) open() string { return g.pick("{%", "{%", "{%-") }

func (g *generator) end() string { return g.pick("%}", "%}", "-%}") }

func (g *generator) tag(text string) string { return g.open() + " " + text + " " + g.end() }

func (g *generator) node() string {
	return g.deeper(func() string {
		switch g.IntN(12) {
		case 0, 1:
			return g.tag("if "+g.expr()) + g.body() + g.pick("", g.tag("else")+g.body(), g.tag("elif "+g.expr())+g.body()) + g.tag("endif")
		case 2, 3:
			return g.tag("for "+g.pick("i", "x", "k, v")+" in "+g.pick("l", "ls", "us", "d", "d.items()", "range(3)", "s", "nope", g.expr())+g.pick("", "", " if i", " if x")) + g.body() +
				g.pick("", "", "{{ loop.index }}{{ loop.last }}", "{{ loop.previtem }}", g.tag("if loop.index == 2")+g.tag(g.pick("break", "continue"))+g.tag("endif")) + g.pick("", "", g.tag("else")+g.body()) + g.tag("endfor")
		case 4, 5:
			return g.tag("set " + g.pick("x", "y", "n", "ns.a", "x, y") + " = " + g.pick(g.expr(), g.expr(), "namespace(a="+g.expr()+")", "1, 2"))
		case 6:
			return g.tag("set "+g.pick("x", "ns")+g.pick("", " | upper")) + g.body() + g.tag("endset")
		case 7:
			return g.tag("macro "+g.pick("m", "p")+"("+g.pick("", "x", "x, y=1", "i=2")+")") + g.body() + g.tag("endmacro")
		case 8:
			return "{{ " + g.pick("m", "p") + "(" + g.pick("", "1", g.expr(), "x=2") + ") }}"
		case 9:
			return g.tag("with "+g.pick("x = "+g.expr(), "n = 1, y = n")) + g.body() + g.tag("endwith")
		case 10:
			return g.tag("filter "+g.pick("upper", "trim", "indent(2)", "replace('a', 'b')", "title")) + g.body() + g.tag("endfilter")
		}
		return g.pick("{#- c -#}", "{# c #}", "{% raw %}{{ x }}{% endraw %}")
	}, "text ", " a\n", "\n\n", "  ", "{{ "+g.expr()+" }}", "{{ "+g.expr()+" }}", "{{- "+g.expr()+" -}}")
}

// TestGeneratedTemplates: whatever a template of the grammar is, it renders as a running
// Jinja renders it, or is rejected, or ends with an error.
func TestGeneratedTemplates(t *testing.T) {
	const templates = 50_000
	values := jsontext.Value(`{"n": 3, "f": 2.5, "s": "Hello World", "e": "", "l": [3, 1, 2], "ls": ["b", "A", "c"], "d": {"z": 1, "a": {"c": 2}}, "us": [{"a": 1, "b": "x"}, {"a": 2}], "u": null,
		"t": true, "uni": "Straße ÄÖ", "ws": "  pad ", "big": 12345678901234567890}`)
	python := os.Getenv("MODELGATEWAY_API_PYTHON")
	if python == "" {
		python = "python3"
	}
	cmd := exec.CommandContext(t.Context(), python, "-W", "ignore", "../../../tools/jinja/reference.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	seed := rand.Uint64()
	t.Logf("the seed is %d", seed)
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	same, texts, rejected := 0, 0, map[string]int{}
	for range templates {
		s := sample{Template: g.body(), Values: values}
		got, err := s.render(t)
		line, marshalErr := json.Marshal(s)
		if marshalErr != nil {
			t.Fatal(marshalErr)
		}
		if _, err := in.Write(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
		answer, readErr := answers.ReadBytes('\n')
		if readErr != nil && readErr != io.EOF {
			t.Fatal(readErr)
		}
		var want outcome
		if err := json.Unmarshal(answer, &want); err != nil {
			t.Fatal(err)
		}
		if want.Text != nil {
			texts++
		}
		switch {
		case err != nil && fault.KindOf(err) == fault.Internal:
			t.Errorf("%q: %v", s.Template, err)
		case err == nil && want.Error:
			t.Errorf("%q renders as %q; Jinja raises an exception", s.Template, got)
		case err == nil && got != *want.Text:
			t.Errorf("%q:\n got %q\nwant %q", s.Template, got, *want.Text)
		case err != nil && !want.Error:
			_, why, _ := strings.Cut(err.Error(), ": Line ")
			_, why, _ = strings.Cut(why, ": ")
			rejected[why]++
		default:
			same++
		}
	}
	t.Logf("%d of %d alike; Jinja renders %d of them; rejected: %v", same, templates, texts, rejected)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
