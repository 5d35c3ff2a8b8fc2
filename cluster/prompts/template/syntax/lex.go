package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// token is a piece of a template: text outside of tags, or a word, a literal or a sign
// within one.
type token struct {
	kind tokenKind
	at   int    // in the source
	text string // of a literal string: what it means
}

type tokenKind uint8

const (
	atEnd tokenKind = iota
	aText
	beginsOutput
	endsOutput
	beginsTag
	endsTag
	aName
	aString
	anInteger
	aFloat
	aSign
)

// lexer cuts a source into tokens, as Jinja's does: its rules for white space at tags,
// raw blocks and comments decide what is text.
type lexer struct {
	source string
	pos    int
	tokens []token
}

// normalized replaces every kind of line end with \n and removes the last one.
func normalized(source string) string {
	if strings.IndexByte(source, '\r') >= 0 {
		source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	}
	return strings.TrimSuffix(source, "\n")
}

// lex cuts a normalized source into tokens.
func lex(source string) ([]token, error) {
	l := &lexer{source: source}
	for l.pos < len(source) {
		n := l.nextTag()
		if n < 0 {
			l.add(aText, l.pos, source[l.pos:])
			break
		}
		start := l.pos
		l.pos = n
		if err := l.tag(start, n); err != nil {
			return nil, err
		}
	}
	l.tokens = append(l.tokens, token{kind: atEnd, at: len(source)})
	return l.tokens, nil
}

func (l *lexer) add(kind tokenKind, at int, text string) {
	if text != "" || kind != aText {
		l.tokens = append(l.tokens, token{kind: kind, at: at, text: text})
	}
}

// nextTag returns where the next {{, {% or {# begins; -1 if there is none.
func (l *lexer) nextTag() int {
	for from := l.pos; ; {
		i := strings.IndexByte(l.source[from:], '{')
		if i < 0 || from+i+1 >= len(l.source) {
			return -1
		}
		switch l.source[from+i+1] {
		case '{', '%', '#':
			return from + i
		}
		from += i + 1
	}
}

// tag reads the tag at n and adds the text before it, which begins at start.
func (l *lexer) tag(start, n int) error {
	text := l.source[start:n]
	if inner, ok := l.rawStart(n); ok {
		return l.raw(start, n, inner)
	}
	l.pos = n + 2
	if l.pos < len(l.source) {
		switch l.source[l.pos] {
		case '-':
			text = values.TrimRightSpace(text)
			l.pos++
		case '+':
			l.pos++
		}
	}
	l.add(aText, start, text)
	switch l.source[n+1] {
	case '#':
		end := strings.Index(l.source[l.pos:], "#}")
		if end < 0 {
			return wrongAt(l.source, n, "the comment has no #}")
		}
		end += l.pos
		strip := end > l.pos && l.source[end-1] == '-'
		l.pos = end + 2
		if strip {
			l.skipSpace()
		}
		return nil
	case '{':
		l.add(beginsOutput, n, "")
		return l.inside(n, endsOutput)
	}
	l.add(beginsTag, n, "")
	return l.inside(n, endsTag)
}

func (l *lexer) skipSpace() {
	l.pos = len(l.source) - len(values.TrimLeftSpace(l.source[l.pos:]))
}

// word skips white space, a word and white space at from; it returns -1 if another word
// stands there.
func (l *lexer) word(from int, word string) int {
	rest, ok := strings.CutPrefix(values.TrimLeftSpace(l.source[from:]), word)
	if !ok {
		return -1
	}
	return len(l.source) - len(values.TrimLeftSpace(rest))
}

// rawStart reports whether {% raw %} stands at n, and where its text begins.
func (l *lexer) rawStart(n int) (text int, ok bool) {
	if l.source[n+1] != '%' {
		return 0, false
	}
	at := l.word(n+2+values.SignLength(l.source[n+2:]), "raw")
	if at < 0 {
		return 0, false
	}
	switch {
	case strings.HasPrefix(l.source[at:], "%}"):
		return at + 2, true
	case strings.HasPrefix(l.source[at:], "-%}"):
		return len(l.source) - len(values.TrimLeftSpace(l.source[at+3:])), true
	}
	return 0, false
}

// raw adds the text before a raw block, which begins at n, and what is in it.
func (l *lexer) raw(start, n, inner int) error {
	before := l.source[start:n]
	if l.source[n+2] == '-' {
		before = values.TrimRightSpace(before)
	}
	l.add(aText, start, before)
	for from := inner; ; {
		i := strings.Index(l.source[from:], "{%")
		if i < 0 {
			return wrongAt(l.source, n, "the raw block has no {%% endraw %%}")
		}
		i += from
		from = i + 2
		at := l.word(i+2+values.SignLength(l.source[i+2:]), "endraw")
		if at < 0 {
			continue
		}
		strip := at < len(l.source) && l.source[at] == '-'
		at += values.SignLength(l.source[at:])
		if !strings.HasPrefix(l.source[at:], "%}") {
			continue
		}
		text := l.source[inner:i]
		if l.source[i+2] == '-' {
			text = values.TrimRightSpace(text)
		}
		l.add(aText, inner, text)
		l.pos = at + 2
		if strip {
			l.skipSpace()
		}
		return nil
	}
}

// inside reads the tokens of a tag that begins at n, up to its end.
func (l *lexer) inside(n int, end tokenKind) error {
	var open []byte // the brackets that have to close
	for l.pos < len(l.source) {
		if len(open) == 0 {
			if length, strip := l.closes(end); length > 0 {
				l.add(end, l.pos, "")
				l.pos += length
				if strip {
					l.skipSpace()
				}
				return nil
			}
		}
		r, size := utf8.DecodeRuneInString(l.source[l.pos:])
		var err error
		switch {
		case values.IsSpace(r):
			l.pos += size
		case values.Digit(byte(r)) && r < utf8.RuneSelf:
			l.number()
		case r == '_' || unicode.IsLetter(r):
			l.name()
		case r == '\'' || r == '"':
			err = l.quoted(byte(r))
		default:
			open, err = l.sign(open)
		}
		if err != nil {
			return err
		}
	}
	if end == endsOutput {
		return wrongAt(l.source, n, "this {{ has no }}")
	}
	return wrongAt(l.source, n, "this {%% has no %%}")
}

// closes returns the length of the end of a tag that stands here, or 0.
func (l *lexer) closes(end tokenKind) (length int, strip bool) {
	s := l.source[l.pos:]
	mark := "%}"
	if end == endsOutput {
		mark = "}}"
	}
	switch {
	case strings.HasPrefix(s, mark):
		return 2, false
	case s[0] == '-' && strings.HasPrefix(s[1:], mark):
		return 3, true
	case s[0] == '+' && end == endsTag && strings.HasPrefix(s[1:], mark):
		return 3, false
	}
	return 0, false
}

func (l *lexer) name() {
	n := l.pos
	for i, r := range l.source[l.pos:] {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		n = l.pos + i + utf8.RuneLen(r)
	}
	l.add(aName, l.pos, l.source[l.pos:n])
	l.pos = n
}

// sign adds an operator or a bracket.
func (l *lexer) sign(open []byte) ([]byte, error) {
	const two, one = "// ** == != >= <= ", "+-/*%~[](){}><=.:|,;"
	s := l.source[l.pos:]
	length := 0
	switch {
	case len(s) > 1 && s[0] != ' ' && s[1] != ' ' && strings.Contains(two, s[:2]+" "):
		length = 2
	case strings.IndexByte(one, s[0]) >= 0:
		length = 1
	default:
		return open, wrongAt(l.source, l.pos, "%q has no meaning here", values.FirstRune(s))
	}
	switch s[0] {
	case '(':
		open = append(open, ')')
	case '[':
		open = append(open, ']')
	case '{':
		open = append(open, '}')
	case ')', ']', '}':
		if len(open) == 0 || open[len(open)-1] != s[0] {
			return open, wrongAt(l.source, l.pos, "this %q closes nothing", s[:1])
		}
		open = open[:len(open)-1]
	}
	l.add(aSign, l.pos, s[:length])
	l.pos += length
	return open, nil
}
