package promptfile

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of front matter. The parser recurses once a level.
const (
	maxFrontMatter = 256 << 10
	maxIndent      = 200
)

// node is a value of the front matter as JSON, with its line in the file.
type node struct {
	line   int
	raw    jsontext.Value
	fields []field // of a mapping
	items  []node  // of a list
}

// field is one entry of a mapping.
type field struct {
	name  string
	line  int
	value node
}

// reader turns the parser's tree into JSON. It keeps the first problem.
type reader struct {
	path  string
	first int // the line of the file before the front matter
	err   error
}

func (r *reader) fail(line int, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s:%d: %s", r.path, line, fmt.Sprintf(format, args...))
	}
}

// mapping reads front matter, which must be a mapping or empty.
func (r *reader) mapping(text string) (out node) {
	if len(text) > maxFrontMatter {
		r.fail(r.first, "the front matter is longer than %d bytes: shorten it", maxFrontMatter)
		return out
	}
	for i, line := range strings.Split(text, "\n") {
		if len(line)-len(strings.TrimLeft(line, " \t[{-")) > maxIndent {
			r.fail(r.first+i+1, "the front matter nests too deep: flatten it")
			return out
		}
	}
	defer func() { // the parser is another project's code
		if recover() != nil {
			r.fail(r.first, "the front matter cannot be read as YAML: simplify it")
		}
	}()
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		line, why := r.first, "check quotes, colons and indentation"
		var e yaml.Error
		if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
			line, why = r.first+e.GetToken().Position.Line, e.GetMessage()+"; check quotes, colons and indentation"
		}
		r.fail(line, "not YAML: %s", why)
		return out
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if out = r.value(doc.Body); out.raw.Kind() != '{' && out.raw.Kind() != 'n' {
			r.fail(out.line, "the front matter must be fields such as config and labels, each with a colon")
		}
		break
	}
	return out
}

func (r *reader) line(n ast.Node) int {
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		return r.first + tk.Position.Line
	}
	return r.first
}

func (r *reader) value(v ast.Node) node {
	if v == nil {
		return node{line: r.first, raw: jsontext.Value("null")}
	}
	n := node{line: r.line(v), raw: jsontext.Value("null")}
	switch v := v.(type) {
	case *ast.MappingNode:
		r.entries(&n, v.Values)
	case *ast.MappingValueNode:
		r.entries(&n, []*ast.MappingValueNode{v})
	case *ast.SequenceNode:
		n.raw = jsontext.Value("[")
		for i, item := range v.Values {
			one := r.value(item)
			n.items = append(n.items, one)
			n.raw = append(appendComma(n.raw, i), one.raw...)
		}
		n.raw = append(n.raw, ']')
	case *ast.NullNode:
	case *ast.LiteralNode:
		n.raw = quoted(v.Value.Value)
	case *ast.StringNode:
		n.raw = quoted(v.Value)
		if tk := v.GetToken(); tk.Type != token.SingleQuoteType && tk.Type != token.DoubleQuoteType && isNumber(v.Value) {
			n.raw = jsontext.Value(v.Value)
		}
	case *ast.BoolNode:
		n.raw = jsontext.Value(strconv.FormatBool(v.Value))
	case *ast.IntegerNode, *ast.FloatNode:
		if n.raw = jsontext.Value(v.GetToken().Value); !isNumber(string(n.raw)) {
			r.fail(n.line, "%s is no number that JSON has: write it as in 12 or 0.5, or quote it", n.raw)
		}
	default:
		r.fail(n.line, "this form of YAML is not supported: write a plain value, a list or fields")
	}
	return n
}

func (r *reader) entries(n *node, values []*ast.MappingValueNode) {
	n.raw = jsontext.Value("{")
	seen := map[string]bool{}
	for i, v := range values {
		if v.Key.IsMergeKey() {
			r.fail(r.line(v.Key), "<< is not supported: write the fields out")
		}
		f := field{name: v.Key.GetToken().Value, line: r.line(v.Key), value: r.value(v.Value)}
		if f.value.line == r.first {
			f.value.line = f.line
		}
		if seen[f.name] {
			r.fail(f.line, "%s is there twice: keep one", f.name)
		}
		seen[f.name] = true
		n.fields = append(n.fields, f)
		n.raw = append(append(append(appendComma(n.raw, i), quoted(f.name)...), ':'), f.value.raw...)
	}
	n.raw = append(n.raw, '}')
	if len(values) > 0 {
		n.line = r.line(values[0].Key)
	}
}

func appendComma(to []byte, i int) []byte {
	if i > 0 {
		to = append(to, ',')
	}
	return to
}

func quoted(text string) jsontext.Value {
	out, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\uFFFD")) // only invalid UTF-8 fails
	return out
}

var (
	numeral   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`) // a number of JSON
	plainWord = regexp.MustCompile(`^[A-Za-z_]([A-Za-z0-9_./ -]*[A-Za-z0-9_./-])?$`)   // a text that needs no quotes
)

// isNumber reports whether a text is a number of JSON.
func isNumber(text string) bool {
	return numeral.MatchString(text)
}

// emitted appends JSON as block YAML, indented by some levels. Numbers are written in one form, so
// that equal values have equal text.
func emitted(to []byte, v jsontext.Value, level int) []byte {
	indent := strings.Repeat("  ", level)
	members, items := split(v)
	switch {
	case v.Kind() == '{' && len(members) > 0:
		for _, m := range members {
			to = append(append(append(to, '\n'), indent...), word(m.name)...)
			to = emitted(append(to, ':'), m.value, level+1)
		}
	case v.Kind() == '[' && len(items) > 0:
		for _, item := range items {
			to = append(append(append(to, '\n'), indent...), '-')
			if inner, more := split(item); len(inner)+len(more) == 0 {
				to = emitted(to, item, 0)
				continue
			}
			// The first entry stands next to the dash, as the others are indented.
			at := len(to)
			to = emitted(to, item, level+1)
			to = append(append(to[:at], ' '), to[at+1+len(indent)+2:]...)
		}
	case v.Kind() == '"':
		to = append(append(to, ' '), word(plain(v))...)
	case v.Kind() == '0':
		to = append(append(to, ' '), number(string(v))...)
	default:
		to = append(append(to, ' '), v...)
	}
	return to
}

// word returns a text as YAML: in quotes unless it is a plain word.
func word(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return string(quoted(text))
	}
	if plainWord.MatchString(text) {
		return text
	}
	return string(quoted(text))
}

// number returns a number in its shortest form; whole ones keep their digits.
func number(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		return text
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}
