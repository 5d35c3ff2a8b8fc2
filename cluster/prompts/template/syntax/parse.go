package syntax

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// parser reads tokens one after the other.
type parser struct {
	source   string
	tokens   []token
	next     int
	depth    int
	loops    int // that are open and that break and continue can end
	stored   map[string]bool
	includes []Reference
}

func (p *parser) wrong(at int, format string, args ...any) error {
	return wrongAt(p.source, at, format, args...)
}

func (p *parser) peek() token { return p.tokens[p.next] }

func (p *parser) look() token { return p.tokens[min(p.next+1, len(p.tokens)-1)] }

func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != atEnd {
		p.next++
	}
	return t
}

func (t token) is(kind tokenKind, text string) bool { return t.kind == kind && t.text == text }

func (p *parser) sign(text string) bool { return p.peek().is(aSign, text) }

func (p *parser) word(text string) bool { return p.peek().is(aName, text) }

// skip takes the next token if it is a sign or a word.
func (p *parser) skip(kind tokenKind, text string) bool {
	if !p.peek().is(kind, text) {
		return false
	}
	p.next++
	return true
}

func (p *parser) expect(kind tokenKind, text string) error {
	if !p.skip(kind, text) {
		return p.wrong(p.peek().at, "%q is expected here", text)
	}
	return nil
}

// expectEnd takes the end of a tag.
func (p *parser) expectEnd(kind tokenKind) error {
	t := p.peek()
	if t.kind != kind {
		return p.wrong(t.at, "%s is not expected here", t.shown())
	}
	p.next++
	return nil
}

func (t token) shown() string {
	switch t.kind {
	case aString:
		return "this text"
	case atEnd, endsTag, endsOutput:
		return "the end"
	case aText, beginsOutput, beginsTag, aName, anInteger, aFloat, aSign:
	}
	return values.Quote(t.text)
}

func (p *parser) deeper(at int) error {
	if p.depth++; p.depth > maxDepth {
		return p.wrong(at, "blocks and expressions are nested more than %d deep", maxDepth)
	}
	return nil
}

func (p *parser) higher() { p.depth-- }

// end is a tag that ends or divides a block; its word is empty at the source's end.
type end struct {
	word string
	at   int
}

// block reads up to the tag that ends or divides it, which is one of words, or to the
// end of the source. The words of that tag are taken, its end is not.
func (p *parser) block(words ...string) ([]Node, end, error) {
	if err := p.deeper(p.peek().at); err != nil {
		return nil, end{}, err
	}
	defer p.higher()
	var out []Node
	for {
		t := p.take()
		var n Node
		var err error
		switch t.kind {
		case aText:
			n = &TextNode{t.text}
		case beginsOutput:
			n, err = p.output(t.at)
		case beginsTag:
			word := p.take()
			if word.kind != aName {
				return nil, end{}, p.wrong(word.at, "a tag begins with its name")
			}
			if slices.Contains(words, word.text) {
				return out, end{word.text, word.at}, nil
			}
			n, err = p.tag(word, words)
			if err == nil {
				err = p.expectEnd(endsTag)
			}
		case atEnd, endsOutput, endsTag, aName, aString, anInteger, aFloat, aSign: // none but the end stands here
			return out, end{at: t.at}, nil
		}
		if err != nil {
			return nil, end{}, err
		}
		out = append(out, n)
	}
}

// body reads the body of a block up to one of words. The end of the tag before is not
// taken yet; a colon may stand before it.
func (p *parser) body(of token, words ...string) ([]Node, string, error) {
	p.skip(aSign, ":")
	if err := p.expectEnd(endsTag); err != nil {
		return nil, "", err
	}
	out, last, err := p.block(words...)
	if err == nil && last.word == "" {
		err = p.wrong(of.at, "this %s has no {%% end%s %%}", of.text, of.text)
	}
	return out, last.word, err
}

func (p *parser) output(at int) (Node, error) {
	value, err := p.tupleOr(nil)
	if err == nil {
		err = p.expectEnd(endsOutput)
	}
	return &OutputNode{place{at}, []Expr{value}}, err
}

// tag reads a tag after its word. words would end or divide the block that it is in.
func (p *parser) tag(word token, words []string) (Node, error) {
	switch word.text {
	case "if":
		return p.ifTag(word)
	case "for":
		return p.forTag(word)
	case "break", "continue":
		if p.loops == 0 {
			return nil, p.wrong(word.at, "%s is for loops only", word.text)
		}
		if word.text == "break" {
			return &BreakNode{place{word.at}}, nil
		}
		return &ContinueNode{place{word.at}}, nil
	case "set":
		return p.setTag(word)
	case "with":
		return p.withTag(word)
	case "macro":
		return p.macroTag(word)
	case "call":
		return p.callTag(word)
	case "filter":
		return p.filterTag(word)
	case "include":
		return p.includeTag(word)
	case "print":
		return p.printTag(word)
	case "elif", "else", "endif", "endfor", "endset", "endwith", "endmacro", "endcall", "endfilter", "endraw":
		if len(words) > 0 {
			return nil, p.wrong(word.at, "%s is not expected here; the block that is open needs %s", values.Quote(word.text), strings.Join(words, " or "))
		}
		return nil, p.wrong(word.at, "there is no block that {%% %s %%} could be of", word.text)
	}
	return nil, p.wrong(word.at, "there is no tag %s; templates have %s", word.text, tagNames)
}

const tagNames = "break, call, continue, filter, for, if, include, macro, print, raw, set, with"

func (p *parser) ifTag(word token) (Node, error) {
	out := &IfNode{}
	for {
		condition, err := p.tupleWithoutIf()
		if err != nil {
			return nil, err
		}
		body, last, err := p.body(word, "elif", "else", "endif")
		if err != nil {
			return nil, err
		}
		out.Branches = append(out.Branches, branch{condition, body})
		switch last {
		case "else":
			out.Last, _, err = p.body(word, "endif")
			return out, err
		case "endif":
			return out, nil
		}
	}
}

func (p *parser) forTag(word token) (Node, error) {
	out := &ForNode{place: place{word.at}}
	var err error
	if out.Target, err = p.target(false, "in"); err != nil {
		return nil, err
	}
	out.Target.names(func(n *NameExpr) {
		if n.Text == "loop" && err == nil {
			err = p.wrong(n.At, "loop cannot be assigned to")
		}
	})
	if err != nil {
		return nil, err
	}
	if err := p.expect(aName, "in"); err != nil {
		return nil, err
	}
	if out.List, err = p.tupleWithoutIf("recursive"); err != nil {
		return nil, err
	}
	if p.skip(aName, "if") {
		if out.Test, err = p.expression(); err != nil {
			return nil, err
		}
	}
	out.Recursive = p.skip(aName, "recursive")
	p.loops++
	body, last, err := p.body(word, "endfor", "else")
	p.loops--
	if err != nil {
		return nil, err
	}
	out.Body = body
	if last == "else" {
		outer := p.loops
		if out.Recursive {
			p.loops = 0 // the loop is a function of its own
		}
		out.Last, _, err = p.body(word, "endfor")
		p.loops = outer
	}
	return out, err
}

// ownLoops reads with read, where break and continue mean no loop that is open now.
func (p *parser) ownLoops(read func() error) error {
	outer := p.loops
	p.loops = 0
	err := read()
	p.loops = outer
	return err
}
