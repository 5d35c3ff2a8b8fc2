package guard

import (
	"bytes"
	"context"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/texts"
)

// jsonText takes JSON, whole or in pieces, and passes each string in it through a chain as a text of its
// own, and the digits of each number likewise. The name of a member is the label of its value. What is not JSON after all
// is a text from there on. JSON stays JSON: only the contents of strings change, and those of members' names not even then; a
// number in which something is replaced becomes a string.
type jsonText struct {
	c    *chain
	kind texts.Kind
	role texts.Role

	whole bool      // the JSON comes whole, so that strings with JSON in them can be told
	free  bool      // names of members may change, as nobody has agreed on them
	depth int       // how many such strings are around
	child *jsonText // for such strings

	state jsonState
	open  []level // the objects and arrays around
	names []byte  // the names of the members around, which open refers to
	esc   []byte  // the beginning of an escape
	name  []byte  // the name that is being read, as it came
	bare  []byte  // the number or literal that is being read
	inner []byte  // scratch
	tag   []byte  // scratch for a label
	out   []byte
}

// level is an object or array around what is read.
type level struct {
	kind     byte // '{' or '['
	from, to int  // in names, the name of the member that is read; an array has that of the object around
}

// longestLabel bounds what is kept of a member's name, in bytes.
const longestLabel = 64

// jsonState is what may come next.
type jsonState uint8

const (
	beforeValue  jsonState = iota
	firstName              // a name, or the end of the object
	nextName               // a name
	firstElement           // a value, or the end of the array
	beforeColon
	afterValue
	inValue  // in a string that is a value
	inName   // in a string that is a name
	inScalar // in a number or a literal
	inText   // this is no JSON
)

// begin begins another JSON text.
func (j *jsonText) begin(kind texts.Kind, role texts.Role) {
	j.kind, j.role = kind, role
	j.state, j.open, j.names, j.esc, j.name, j.bare = beforeValue, j.open[:0], j.names[:0], j.esc[:0], j.name[:0], j.bare[:0]
}

// push takes a piece, and returns what can be passed on; valid until the next call.
func (j *jsonText) push(ctx context.Context, piece []byte, end bool) ([]byte, error) { //nolint:revive // says where the text ends, and is no mode
	j.out = j.out[:0]
	for len(piece) > 0 {
		var n int
		var err error
		switch j.state {
		case inText:
			n, err = len(piece), j.add(ctx, piece, end)
			if end {
				return j.out, err
			}
		case inValue, inName:
			n, err = j.str(ctx, piece)
		case inScalar:
			n, err = j.scalar(ctx, piece)
		case beforeValue, firstName, nextName, firstElement, beforeColon, afterValue:
			n = j.structure(piece)
		}
		if err != nil {
			return nil, err
		}
		piece = piece[n:]
	}
	if !end {
		return j.out, nil
	}
	return j.out, j.end(ctx)
}

// end passes on what is left of JSON that broke off.
func (j *jsonText) end(ctx context.Context) error {
	switch j.state { //nolint:exhaustive // in the others nothing is held back
	case inText:
		return j.add(ctx, nil, true)
	case inValue:
		j.esc = j.esc[:0]
		return j.escaped(ctx, nil, true)
	case inName:
		if err := j.endName(ctx); err != nil {
			return err
		}
		j.out = append(j.out, j.name...)
	case inScalar:
		return j.endScalar(ctx)
	}
	return nil
}

// add passes text through the chain as it is.
func (j *jsonText) add(ctx context.Context, text []byte, end bool) error {
	out, err := j.c.push(ctx, text, end)
	j.out = append(j.out, out...)
	return err
}

// escaped passes the content of a string through the chain.
func (j *jsonText) escaped(ctx context.Context, text []byte, end bool) error {
	out, err := j.c.push(ctx, text, end)
	j.out = appendInner(j.out, out)
	return err
}

// appendInner appends text as the inside of a JSON string. A character that is not complete, at the end of a piece,
// cannot be among the decided text of an engine.
func appendInner(dst, text []byte) []byte {
	from := 0
	for i := range text {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(append(dst, text[from:i]...), '\\', c)
		case c >= ' ':
			continue
		default:
			dst = appendControl(append(dst, text[from:i]...), c)
		}
		from = i + 1
	}
	return append(dst, text[from:]...)
}

// appendControl appends the escape of a control character.
func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// structure reads what is between strings, up to the beginning of one.
func (j *jsonText) structure(piece []byte) int {
	for i, c := range piece {
		if space(c) {
			continue
		}
		if !j.next(c) {
			j.out = append(j.out, piece[:i]...)
			j.state = inText
			j.c.begin(j.kind, j.role)
			return i
		}
		if j.state == inScalar {
			j.out = append(j.out, piece[:i]...)
			j.bare = j.bare[:0]
			return i
		}
		if j.state == inValue || j.state == inName {
			j.out = append(j.out, piece[:i]...)
			if j.name = j.name[:0]; j.state == inValue {
				j.c.beginLabelled(j.kind, j.role, j.label(`": "`))
				j.out = append(j.out, '"')
			} else {
				j.name = append(j.name, '"')
			}
			return i + 1
		}
	}
	j.out = append(j.out, piece...)
	return len(piece)
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// scalar reports whether a character can be in a number or a literal.
func scalar(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == 'E' || c == '-' || c == '+' || c == '.'
}

// next takes a character outside of strings and scalars, and reports whether it can stand there.
func (j *jsonText) next(c byte) bool {
	object := len(j.open) > 0 && j.open[len(j.open)-1].kind == '{'
	switch {
	case c == '"' && (j.state == firstName || j.state == nextName):
		j.state = inName
	case c == ':' && j.state == beforeColon:
		j.state = beforeValue
	case c == ',' && j.state == afterValue && len(j.open) > 0:
		if j.state = beforeValue; object {
			j.state = nextName
		}
	case c == '}' && object && (j.state == firstName || j.state == afterValue), c == ']' && !object && len(j.open) > 0 && (j.state == firstElement || j.state == afterValue):
		if last := j.open[len(j.open)-1]; object {
			j.names = j.names[:last.from]
		}
		j.open, j.state = j.open[:len(j.open)-1], afterValue
	case j.state != beforeValue && j.state != firstElement:
		return false
	case c == '"':
		j.state = inValue
	case c == '{':
		j.open, j.state = append(j.open, level{'{', len(j.names), len(j.names)}), firstName
	case c == '[':
		l := level{kind: '['}
		if n := len(j.open); n > 0 {
			l.from, l.to = j.open[n-1].from, j.open[n-1].to
		}
		j.open, j.state = append(j.open, l), firstElement
	case scalar(c) && len(j.open) > 0:
		j.state = inScalar
	default:
		return false
	}
	return true
}

// hasValues reports whether numbers can be somebody's data. Those of a schema, and of members that no language
// has, are bounds and settings: a string in their place would be an error at the provider.
func (j *jsonText) hasValues() bool {
	switch j.kind { //nolint:exhaustive // the others are no JSON
	case texts.Schema, texts.Format, texts.Other:
		return false
	}
	return true
}

// longestScalar bounds a number or literal, in bytes. What is longer is none for anybody.
const longestScalar = 256

// scalar reads a number or a literal, up to its end or that of the piece. It is passed on when it is complete.
func (j *jsonText) scalar(ctx context.Context, piece []byte) (int, error) {
	for i, c := range piece {
		switch {
		case space(c) || c == ',' || c == '}' || c == ']':
			return i, j.endScalar(ctx)
		case !scalar(c) || len(j.bare) == longestScalar:
			j.state = inText
			j.c.begin(j.kind, j.role)
			return i, j.add(ctx, j.bare, false)
		}
		j.bare = append(j.bare, c)
	}
	return len(piece), nil
}

// endScalar passes on a complete number or literal. Of a number it examines the digits in front of the point; if
// something in them is replaced, the number becomes a string.
func (j *jsonText) endScalar(ctx context.Context) error {
	j.state = afterValue
	text, number := j.bare, jsontext.Value(j.bare).Kind() == '0' && jsontext.Value(j.bare).IsValid()
	switch {
	case number && !j.hasValues():
		text = nil
	case number:
		text = bytes.TrimPrefix(text, []byte("-"))
		if i := bytes.IndexAny(text, ".eE"); i >= 0 {
			text = text[:i]
		}
	case string(text) == "true" || string(text) == "false" || string(text) == "null":
		text = nil
	}
	out, changed, err := text, false, error(nil)
	if text != nil {
		j.c.beginLabelled(j.kind, j.role, j.label(`": `))
		out, changed, err = j.c.rest(ctx, text)
	}
	switch {
	case err != nil:
		return err
	case !changed:
		j.out = append(j.out, j.bare...)
	case number:
		j.out = append(appendInner(append(j.out, '"'), out), '"')
	default:
		j.out = append(j.out, out...)
	}
	return nil
}

// str reads the content of a string, up to its end or that of the piece.
func (j *jsonText) str(ctx context.Context, piece []byte) (int, error) {
	if j.state == inName {
		return j.readName(ctx, piece)
	}
	text := j.inner[:0]
	defer func() { j.inner = text }()
	for i := 0; i < len(piece); {
		switch c := piece[i]; {
		case len(j.esc) > 0:
			var taken bool
			if text, taken = j.unescape(text, c); taken {
				i++
			}
		case c == '\\':
			j.esc = append(j.esc, c)
			i++
		case c == '"':
			if err := j.endString(ctx, text); err != nil {
				return 0, err
			}
			j.out = append(j.out, '"')
			j.state = afterValue
			return i + 1, nil
		default:
			text = append(text, c)
			i++
		}
	}
	return len(piece), j.escaped(ctx, text, false)
}

// unescape takes the next character of an escape, and appends what the escape means when it is complete.
// taken is false if the character is not part of it. Half of a surrogate pair becomes U+FFFD.
func (j *jsonText) unescape(text []byte, c byte) (_ []byte, taken bool) {
	half := len(j.esc) >= 6 // the first half of a pair is complete
	if half && (len(j.esc) == 6 && c != '\\' || len(j.esc) == 7 && c != 'u') {
		rest := append([]byte(nil), j.esc[6:]...)
		j.esc = append(j.esc[:0], rest...)
		return utf8.AppendRune(text, utf8.RuneError), false
	}
	j.esc = append(j.esc, c)
	switch n := len(j.esc); {
	case n == 2 && c != 'u':
		j.esc = j.esc[:0]
		return append(text, meaning(c)), true
	case n == 6 && !utf16.IsSurrogate(hexRune(j.esc[2:6])):
		text = utf8.AppendRune(text, hexRune(j.esc[2:6]))
		j.esc = j.esc[:0]
	case n == 12:
		text = utf8.AppendRune(text, utf16.DecodeRune(hexRune(j.esc[2:6]), hexRune(j.esc[8:12])))
		j.esc = j.esc[:0]
	}
	return text, true
}

// meaning returns the character that a short escape means.
func meaning(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// hexRune returns the value of four hexadecimal digits, and U+FFFD if they are none.
func hexRune(digits []byte) rune {
	var r rune
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return utf8.RuneError
		}
	}
	return r
}

// readName reads the name of a member, up to its end or that of the piece. It is passed on when it is complete.
func (j *jsonText) readName(ctx context.Context, piece []byte) (int, error) {
	for i, c := range piece {
		j.name = append(j.name, c)
		switch {
		case len(j.esc) > 0:
			j.esc = j.esc[:0]
		case c == '\\':
			j.esc = append(j.esc, c)
		case c == '"':
			if err := j.endName(ctx); err != nil {
				return 0, err
			}
			j.out = append(j.out, j.name...)
			j.state = beforeColon
			return i + 1, nil
		}
	}
	return len(piece), nil
}

// endName examines a complete name, or one that broke off. It cannot be changed, if it is not free.
func (j *jsonText) endName(ctx context.Context) error {
	text, err := jsontext.AppendUnquote(j.inner[:0], j.name)
	if err != nil {
		text = append(text[:0], j.name[1:]...)
	}
	j.inner, j.esc = text, j.esc[:0]
	j.named(text)
	fixed := j.c.fixed
	j.c.fixed = !j.free
	out, changed, err := j.c.once(ctx, j.kind, j.role, text)
	if j.c.fixed = fixed; changed && j.free {
		j.name = append(appendInner(append(j.name[:0], '"'), out), '"')
	}
	return err
}
