package template_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
)

// bombs are templates that try to take a node's memory or time.
func bombs() []string {
	out := []string{
		"{% for x in range(1000000000) %}{% endfor %}", "{{ range(1000000000)|list }}", "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}x{% endfor %}{% endfor %}{% endfor %}",
		"{{ 'A' * 8000000000000 }}", "{{ 9 ** 9 ** 9 }}", "{{ 9 ** 99999999 }}", "{{ 'x'.center(2000000000) }}", "{{ 'x'|center(2000000000) }}", "{{ 'a\nb'|indent(2000000000) }}", "{{ '%999999999d'|format(1) }}", "{{ '%999999999d' % 1 }}",
		"{{ '%.999999999f' % 1.5 }}", "{{ '%*d' % (999999999, 1) }}", "{{ '{:999999999}'.format(1) }}", "{{ '{:>{w}}'.format('a', w=999999999) }}", "{{ '{:.999999999f}'.format(1.5) }}", "{{ 'x'.ljust(999999999) }}", "{{ 'x'.rjust(999999999) }}", "{{ 'x'.zfill(999999999) }}", "{{ '\t'.expandtabs(999999999) }}",
		"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}", "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
		"{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "{% for x in [1] recursive %}{{ loop([1, 2]) }}{{ loop([1, 2]) }}{% endfor %}",
		"{{ ([0] * 99999999)|length }}", "{{ ([[0]] * 9999)|sum(start=[]) }}", "{{ (1,) * 99999999 }}", "{{ range(99999)|batch(1)|list|length }}{{ range(99999)|batch(1)|list|length }}{{ range(99999)|batch(1)|list|length }}", "{{ [1]|batch(999999999, 0)|list }}", "{{ [1]|slice(999999999)|list }}",
		"{{ ('a' * 99999)|replace('', 'b' * 99999) }}", "{{ ('a' * 999)|replace('a', 'b' * 9999) }}", "{{ ('a,' * 99999).split(',')|join('x' * 9999) }}", "{{ (('ab ' * 99999)|wordwrap(1))|length }}", "{{ ('a' * 999999)|list|length }}", "{{ ('ß' * 499999)|upper|length }}",
		"{{ ('\\x00' * 999999)|list|pprint }}", "{{ ['\\x00' * 99999] * 99 }}", "{{ ('é' * 999999)|tojson }}", "{{ ('&' * 999999)|e }}", "{{ ('&' * 99999)|urlencode|urlencode|urlencode|urlencode|urlencode|urlencode|urlencode|urlencode|urlencode }}",
		"{% set ns = namespace(x=[1, 2]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}", "{% set ns = namespace(x=[1]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}", "{% set ns = namespace(x=(1,)) %}{% for i in range(9999) %}{% set ns.x = (ns.x,) %}{% endfor %}{{ {ns.x: 1} }}",
		"{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}", "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}", "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}", "{% set ns = namespace(x=3) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}{{ ns.x }}",
		"{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}", "{% set ns = namespace(x=[1]) %}{% for i in range(99999) %}{% set ns.x = ns.x + [i] %}{% endfor %}", "{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}", "{% for i in range(99999) %}{% set x = 'x' * 9999 %}{% endfor %}", "{% for i in range(99999) %}{{ t|upper }}{% endfor %}",
		"{% for i in range(99999) %}{% if t|upper == '' %}{% endif %}{% endfor %}", "{% for i in range(99999) %}{% if 'zz' in t %}{% endif %}{% endfor %}", "{% for i in range(99999) %}{% if t.count('a') %}{% endif %}{% endfor %}", "{% for i in range(99999) %}{% if t.split() %}{% endif %}{% endfor %}", "{% for i in range(99999) %}{% if t|length %}{% endif %}{% endfor %}", "{% for i in range(99999) %}{% if t[5000] %}{% endif %}{% endfor %}",
		"{% for i in range(99999) %}{% if l|sort %}{% endif %}{% endfor %}", "{% for i in range(99999) %}{% if l == m %}{% endif %}{% endfor %}", "{% for i in range(99999) %}{% if 5 in l %}{% endif %}{% endfor %}", "{% for i in range(99999) %}{% set x = l|map('string')|list %}{% endfor %}", "{% for i in range(99999) %}{% set x = d.items()|list %}{% endfor %}", "{% for i in range(99999) %}{% set x = d|dictsort %}{% endfor %}", "{% for i in range(99999) %}{% set x = d|tojson(indent=99) %}{% endfor %}", "{{ l|tojson(indent=9999) }}",
		"{% for i in range(99999) %}{% set x = t|striptags %}{% endfor %}", "{% for i in range(99999) %}{% set x = t|wordcount %}{% endfor %}", "{% for i in range(99999) %}{% set x = t|title %}{% endfor %}", "{% for i in range(99999) %}{% set x = t.title() %}{% endfor %}", "{% for i in range(99999) %}{% set x = t|truncate(99) %}{% endfor %}", "{% for i in range(99999) %}{% set x = t|e %}{% endfor %}", "{% for i in range(99999) %}{% set x = t.strip('" + strings.Repeat("abcdefgh", 99) + "') %}{% endfor %}",
		"{% for i in range(99999) %}{% set x = b * b %}{% endfor %}", "{% for i in range(99999) %}{% set x = b|string %}{% endfor %}", "{% for i in range(99999) %}{% set x = b ** 3 %}{% endfor %}", "{% for i in range(99999) %}{% set x = 1.1 ** 4000 %}{% endfor %}", "{% for i in range(99999) %}{% set x = 1.5|round(300) %}{% endfor %}", "{% for i in range(99999) %}{% set x = 1.5|round(-300) %}{% endfor %}", "{% for i in range(99999) %}{% set x = '%.300f' % 1.5 %}{% endfor %}", "{% for i in range(99999) %}{% set x = b / 7 %}{% endfor %}", "{{ (10 ** 4200)|string|int * (10 ** 4200) }}",
		"{{ ('x' * 99)|list|map('center', 99999)|list|length }}", "{{ range(99999)|map('string')|map('center', 99)|join }}", "{{ range(99999)|groupby(0)|list|length }}{{ range(99999)|unique|list|length }}", "{% for i in range(99999) %}{% for k, v in d|dictsort %}{% endfor %}{% endfor %}", "{% for i in range(99999) %}{% set x %}{{ t }}{% endset %}{% endfor %}", "{% for i in range(99999) %}{% filter upper %}{{ t }}{% endfilter %}{% endfor %}",
		"{% for i in range(99999) %}{% set x = [1,2,3,4,5,6,7,8,9,10] %}{% endfor %}", "{% for i in range(99999) %}{% set x = {'a':1,'b':2,'c':3} %}{% endfor %}", "{% for i in range(99999) %}{% set x = namespace(a=1) %}{% endfor %}", "{% for i in range(99999) %}{% set x = dict(a=1) %}{% endfor %}", "{% macro q(a) %}{{ a }}{% endmacro %}{% for i in range(99999) %}{{ q(i) }}{% endfor %}", "{% for i in range(99999) %}{{ loop.index }}{{ loop.last }}{{ loop.nextitem }}{% endfor %}", "{% for i in range(99999) %}{% set x = t|pprint %}{% endfor %}", "{{ l|pprint }}{{ l|pprint }}{{ l|pprint }}{{ l|pprint }}",
		"{% for i in range(99999) %}{% set x = t|wordwrap(3) %}{% endfor %}", "{% for i in range(99999) %}{% set x = t.splitlines() %}{% endfor %}", "{% for i in range(99999) %}{% set x = t[::-1] %}{% endfor %}", "{% for i in range(99999) %}{% set x = l[::-1] %}{% endfor %}", "{% for i in range(99999) %}{% set x = l|reverse|list %}{% endfor %}", "{% for i in range(99999) %}{% set x = t.isalnum() %}{% endfor %}", "{% for i in range(99999) %}{% set x = t is lower %}{% endfor %}", "{% for i in range(99999) %}{% set x = t == u %}{% endfor %}", "{% for i in range(99999) %}{% set x = t < u %}{% endfor %}",
		"{% include 'prompt:self' %}", "{% filter upper %}{% include 'prompt:self' %}{{ 1 + '' }}{% endfilter %}", "{% macro m() %}{% filter upper %}{{ 1 + '' }}{% endfilter %}{% endmacro %}{{ m() }}",
	}
	return out
}

// heapBound is what a rendering may allocate. All of it counts, also what is garbage at
// once, so it bounds the heap whenever the collector runs.
const heapBound = 4 << 20

// bombValues are values that make the bombs costly.
func bombValues(tb testing.TB) template.Values {
	tb.Helper()
	list := make([]any, 2000)
	for i := range list {
		list[i] = (i * 7919) % 2000
	}
	entries := map[string]any{}
	for i := range 500 {
		entries[fmt.Sprint("key", i)] = i
	}
	text := strings.Repeat("Hello <b>wörld</b> & ünïcödé\n", 300)
	return valuesOf(tb, map[string]any{"t": text, "u": text + "x", "l": list, "m": append(append([]any(nil), list[:1999]...), -1), "d": entries, "b": 0})
}

// TestBombs: every template ends within the bounds of the heap, whatever it does.
func TestBombs(t *testing.T) {
	in := bombValues(t)
	for _, source := range bombs() {
		source = strings.ReplaceAll(source, "b * b", "(10**900) * (10**900)")
		tpl, err := template.Parse(source)
		if err != nil {
			t.Errorf("%.80q is rejected: %v", source, err)
			continue
		}
		used, out, err := allocated(tpl, in)
		if used > heapBound {
			t.Errorf("%.80q allocates %d KiB (%v)", source, used>>10, err)
		}
		if f := fault.From(err); err != nil && f.Code != "template_too_costly" && f.Code != "template_error" || len(out) > template.MaxOutput {
			t.Errorf("%.80q: %d bytes, %v", source, len(out), err)
		}
	}
}

// allocated renders a template, and returns how many bytes that allocates.
func allocated(tpl *template.Template, in template.Values) (used uint64, out string, err error) {
	resolve := func(template.Reference) (*template.Template, error) { return tpl, nil }
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, err = tpl.Render(in, resolve)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, out, err
}

// BenchmarkBombs reports the longest time of a bomb, of which due are at most 50 ms, and the most
// that one allocates, of which due are at most 4 MiB.
func BenchmarkBombs(b *testing.B) {
	in := bombValues(b)
	var all []*template.Template
	for _, source := range bombs() {
		tpl, err := template.Parse(source)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, tpl)
	}
	times, most := make([]time.Duration, len(all)), uint64(0)
	for b.Loop() {
		for i, tpl := range all {
			start := time.Now()
			used, _, _ := allocated(tpl, in)
			if took := time.Since(start); times[i] == 0 || took < times[i] {
				times[i] = took // without what else runs on the machine
			}
			most = max(most, used)
		}
	}
	b.ReportMetric(float64(slices.Max(times).Microseconds())/1e3, "worst-ms")
	b.ReportMetric(float64(most)/(1<<20), "worst-MiB")
}
