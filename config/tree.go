package config

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// kind is the shape of a node.
type kind uint8

const (
	absent kind = iota // null, or nothing after the colon
	scalar             // any single value, as its text
	list
	mapping
)

// String names the kind for problems.
func (k kind) String() string {
	return [...]string{"nothing", "a single value", "a list", "a mapping"}[k]
}

// node is a value of the file with its place. A node may be shared by aliases,
// so nothing changes it after it is built.
type node struct {
	kind   kind
	quoted bool   // a scalar in quotes or a block: a string, even if it looks like a number
	size   int    // values in it, including those of its aliases
	text   string // of a scalar: the digits and letters of the file
	path   string
	at     place
	fields []field // of a mapping
	items  []*node // of a list
}

// field is one entry of a mapping.
type field struct {
	name  string
	at    place // of the key
	value *node
}

// field returns the value of a key that is there and not null.
func (n *node) field(name string) *node {
	for _, f := range n.fields {
		if f.name == name && f.value.kind != absent {
			return f.value
		}
	}
	return nil
}

// grower turns the parser's tree into nodes.
type grower struct {
	report   func(at place, path, detail string)
	anchors  map[string]*node
	expanded int
	full     bool // maxExpanded is reached, and said
}

// grow reads src into a tree. What is wrong goes to report; the tree is nil if
// the source is no YAML at all.
func grow(src []byte, report func(at place, path, detail string)) (root *node) {
	if !utf8.Valid(src) {
		report(place{}, "", "the file is not UTF-8: save it as UTF-8 without a byte order mark")
		return nil
	}
	// The parser is another project's code and the file is anybody's: what
	// crashes it is an unreadable file, not the end of the process.
	defer func() {
		if r := recover(); r != nil {
			report(place{}, "", "the file cannot be read as YAML: simplify it")
			root = nil
		}
	}()
	tokens := lexer.Tokenize(string(src))
	var b bounds
	for _, tk := range tokens {
		if why := b.reject(tk); why != "" {
			report(place{tk.Position.Line, tk.Position.Column}, "", why)
			return nil
		}
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // duplicates are found here, all of them
	if err != nil {
		at, why := syntax(err)
		report(at, "", why)
		return nil
	}
	g := &grower{report: report, anchors: map[string]*node{}}
	for i, doc := range file.Docs {
		switch {
		case i == 0:
			root = g.value(doc.Body, "")
		case doc.Body != nil:
			report(position(doc.Body), "", "the file holds more than one YAML document: keep the first and remove what follows ---")
		}
	}
	return root
}

// syntax returns the place and the text of a parser's error, without the
// excerpt of the file that the parser adds: it may hold a credential.
func syntax(err error) (place, string) {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil || e.GetToken().Position == nil {
		return place{}, "the file cannot be read as YAML: check quotes, colons and indentation"
	}
	p := e.GetToken().Position
	return place{p.Line, p.Column}, "not YAML: " + e.GetMessage() + "; check quotes, colons and indentation"
}

// position returns where a node of the parser begins.
func position(n ast.Node) place {
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return place{}
	}
	return place{tk.Position.Line, tk.Position.Column}
}

// value turns one value of the parser's tree into a node.
func (g *grower) value(v ast.Node, path string) *node {
	if v == nil {
		return &node{size: 1, path: path}
	}
	n := &node{kind: scalar, size: 1, path: path, at: position(v)}
	switch v := v.(type) {
	case *ast.MappingNode:
		g.mapping(n, v.Values)
	case *ast.MappingValueNode:
		g.mapping(n, []*ast.MappingValueNode{v})
	case *ast.SequenceNode:
		n.kind = list
		for i, item := range v.Values {
			child := g.value(item, path+"["+strconv.Itoa(i)+"]")
			n.items = append(n.items, child)
			n.size += child.size
		}
	case *ast.AnchorNode:
		target := g.value(v.Value, path)
		g.anchors[v.Name.GetToken().Value] = target
		return target
	case *ast.AliasNode:
		return g.alias(v, path)
	case *ast.NullNode:
		n.kind = absent
	case *ast.StringNode:
		n.text, n.quoted = v.Value, isQuoted(v.GetToken())
	case *ast.LiteralNode:
		n.text, n.quoted = v.Value.Value, true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.text = v.GetToken().Value
	default:
		g.report(n.at, path, "this form of YAML is not supported: write a plain value, a list or a mapping")
		n.kind = absent
	}
	return n
}

// isQuoted reports whether a string is in quotes.
func isQuoted(tk *token.Token) bool {
	return tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType
}

// alias returns the node that an alias names: the same node, so that an alias costs
// nothing until it is read. The cost of reading is bounded here.
func (g *grower) alias(v *ast.AliasNode, path string) *node {
	none := &node{size: 1, path: path, at: position(v)}
	name := v.Value.GetToken().Value
	target, ok := g.anchors[name]
	if !ok {
		g.report(none.at, path, fmt.Sprintf("no anchor %s stands before this alias: define it above with &, outside of what it names", quote(name)))
		return none
	}
	if g.expanded += target.size; g.expanded > maxExpanded {
		if !g.full {
			g.report(none.at, path, "aliases stand for more than 1000000 values: write them out or use fewer")
		}
		g.full = true
		return none
	}
	return target
}

// mapping fills n with entries; a key that is there twice is a problem, a key
// that is also merged in is not: what is written wins over what is merged.
func (g *grower) mapping(n *node, values []*ast.MappingValueNode) {
	n.kind = mapping
	n.fields = make([]field, 0, len(values))
	seen := make(map[string]place, len(values))
	var merged []*node
	for _, v := range values {
		at := position(v.Key)
		if v.Key.IsMergeKey() {
			merged = append(merged, g.value(v.Value, n.path))
			continue
		}
		name := v.Key.GetToken().Value
		path := name
		if n.path != "" {
			path = n.path + "." + name
		}
		child := g.value(v.Value, path)
		if child.at == (place{}) {
			child.at = at
		}
		if first, twice := seen[name]; twice {
			g.report(at, n.path, fmt.Sprintf("key %s is there twice, first in line %d: keep one", quote(name), first.line))
			continue
		}
		seen[name] = at
		n.fields = append(n.fields, field{name, at, child})
		n.size += child.size
	}
	for _, m := range merged {
		g.merge(n, m, seen)
	}
	if len(values) > 0 {
		n.at = position(values[0].Key)
	}
}

// merge adds the entries of a mapping, or of several, that n does not have.
func (g *grower) merge(n, from *node, seen map[string]place) {
	for _, m := range from.entries() {
		if m.kind != mapping {
			g.report(from.at, n.path, "<< merges mappings: give it an alias of one, or a list of such aliases")
			continue
		}
		for _, f := range m.fields {
			if _, there := seen[f.name]; there {
				continue
			}
			seen[f.name] = f.at
			n.fields = append(n.fields, f)
			n.size += f.value.size
		}
	}
}
