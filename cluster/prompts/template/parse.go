package template

import (
	"slices"
	"strings"
)

// node is a part of a template: textNode, outputNode, ifNode or forNode.
type node any

type textNode string

type outputNode struct{ value expr }

type ifNode struct {
	branches []branch
	last     []node // else
}

type branch struct {
	condition expr
	body      []node
}

type forNode struct {
	name string
	list expr
	body []node
	last []node // where the list is empty
}

// parser reads pieces one after the other.
type parser struct {
	items     []item
	source    string
	next      int
	loops     []string // names of the loops that are open
	variables []string
}

// tag is a {% %} that ends or divides a block.
type tag struct {
	word string // empty: the source's end
	rest []token
	at   int
}

func (p *parser) wrong(at int, format string, args ...any) error {
	return wrongAt(p.source, at, format, args...)
}

// block reads up to the tag that ends it or divides it, or to the end.
func (p *parser) block(depth int) ([]node, tag, error) {
	var out []node
	for p.next < len(p.items) {
		it := p.items[p.next]
		p.next++
		switch it.kind {
		case isText:
			out = append(out, textNode(it.text))
		case isOutput:
			value, err := p.output(it)
			if err != nil {
				return nil, tag{}, err
			}
			out = append(out, outputNode{value})
		case isTag:
			tokens, err := p.lex(it)
			if err != nil {
				return nil, tag{}, err
			}
			t := tag{word: tokens[0].text, rest: tokens[1:], at: tokens[0].at}
			if tokens[0].kind != isName {
				return nil, t, p.wrong(it.at, "a tag begins with its name, such as if or for")
			}
			if depth == maxDepth {
				return nil, t, p.wrong(t.at, "blocks are nested more than %d deep", maxDepth)
			}
			n, err := p.tag(t, depth)
			if err != nil || n == nil {
				return out, t, err
			}
			out = append(out, n)
		}
	}
	return out, tag{at: len(p.source)}, nil
}

// tag reads the block that a tag begins; nothing for one that ends a block or divides it.
func (p *parser) tag(t tag, depth int) (node, error) {
	switch t.word {
	case "if":
		return p.conditional(t, depth)
	case "for":
		return p.loop(t, depth)
	case "elif", "else", "endif", "endfor":
		return nil, nil
	}
	return nil, p.wrong(t.at, "there is no tag %s; templates have if, elif, else, for and raw", t.word)
}

func (p *parser) conditional(t tag, depth int) (node, error) {
	out := ifNode{}
	for {
		condition, err := p.whole(t.rest)
		if err != nil {
			return nil, err
		}
		body, end, err := p.block(depth + 1)
		if err != nil {
			return nil, err
		}
		out.branches = append(out.branches, branch{condition, body})
		switch end.word {
		case "elif":
			t = end
			continue
		case "else":
			if out.last, err = p.until(end, "endif", depth); err != nil {
				return nil, err
			}
			return out, nil
		case "endif":
			return out, p.nothing(end)
		}
		return nil, p.wrong(t.at, "this block has no {%% endif %%}")
	}
}

func (p *parser) loop(t tag, depth int) (node, error) {
	if len(t.rest) < 3 || t.rest[0].kind != isName || t.rest[1].text != "in" {
		return nil, p.wrong(t.at, "write {%% for name in list %%}")
	}
	out := forNode{name: t.rest[0].text}
	if reserved(out.name) || strings.HasPrefix(out.name, "_") {
		return nil, p.wrong(t.rest[0].at, "%s cannot be a name", out.name)
	}
	var err error
	if out.list, err = p.whole(t.rest[2:]); err != nil {
		return nil, err
	}
	p.loops = append(p.loops, out.name, "loop")
	body, end, err := p.block(depth + 1)
	p.loops = p.loops[:len(p.loops)-2]
	if err != nil {
		return nil, err
	}
	out.body = body
	switch end.word {
	case "else":
		out.last, err = p.until(end, "endfor", depth)
		return out, err
	case "endfor":
		return out, p.nothing(end)
	}
	return nil, p.wrong(t.at, "this loop has no {%% endfor %%}")
}

// until reads the part between else and the end of its block.
func (p *parser) until(divider tag, word string, depth int) ([]node, error) {
	if err := p.nothing(divider); err != nil {
		return nil, err
	}
	body, end, err := p.block(depth + 1)
	switch {
	case err != nil:
		return nil, err
	case end.word != word:
		return nil, p.wrong(divider.at, "this block has no {%% %s %%}", word)
	}
	return body, p.nothing(end)
}

// nothing returns an error if a tag has more than its name.
func (p *parser) nothing(t tag) error {
	if t.rest[0].kind != isEnd {
		return p.wrong(t.rest[0].at, "%s takes nothing", t.word)
	}
	return nil
}

func (p *parser) output(it item) (expr, error) {
	tokens, err := p.lex(it)
	if err != nil {
		return nil, err
	}
	return p.whole(tokens)
}

// uses records the use of a name.
func (p *parser) uses(name string) {
	if !slices.Contains(p.loops, name) && !slices.Contains(p.variables, name) {
		p.variables = append(p.variables, name)
	}
}

// reserved reports whether a word has a meaning of its own.
func reserved(word string) bool {
	switch word {
	case "and", "or", "not", "in", "is", "if", "else", "for", "loop", "true", "false", "none", "True", "False", "None":
		return true
	}
	return false
}
