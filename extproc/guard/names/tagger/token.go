package tagger

import (
	"unicode"
	"unicode/utf8"
)

// longest is the size of the longest token in bytes. What follows is a token of its own.
const longest = 48

// longestLocal is how far behind a word the @ of an address is looked for, in bytes.
const longestLocal = 64

// shape is the form of a token.
type shape uint8

const (
	shapeNone shape = iota
	shapeLower
	shapeTitle   // Xxx
	shapeUpper   // XXX
	shapeInitial // X
	shapeCamel   // XxXx
	shapeHump    // xxXx
	shapeCode    // with digits or underscores
	shapeNumber
	shapeUncased // of a script without cases
	shapePossessive
	shapeEnd // a line ends
	shapePunctuation
)

// gap is what stands between two tokens.
type gap uint8

const (
	gapNone gap = iota
	gapSpace
	gapWide // more than two characters
	gapLine
	gapParagraph
)

// token is a word, a number or a character of punctuation.
type token struct {
	start, end int
	word       uint32 // hash
	known      uint32 // from the lexicon
	shape      shape
	gap        gap   // before it
	next       uint8 // the byte after it, or 0 if that is a space or a letter
}

func (t token) candidate() bool {
	if t.next == '@' {
		return false // of an address
	}
	if t.shape == shapeTitle || t.shape == shapeCamel {
		return t.known&Function == 0
	}
	if t.shape == shapeUpper {
		return true // US is no us
	}
	if t.shape == shapeInitial {
		return t.next == '.' || t.known&Function == 0
	}
	return t.shape == shapeLower && t.known&LowerName != 0
}

// Text is a text, or what is there of it.
type Text struct {
	Bytes []byte
	Ends  bool // nothing follows
}

// status says whether there was a token.
type status uint8

const (
	complete status = iota
	more            // what is there is not enough to tell
	none            // the text ends
)

// skip skips white space from i on. It returns where that ends, and adds what it was to g. The result
// is len(text) if nothing else, or half a character, follows.
func skip(text []byte, i int, g *space) int {
	for i < len(text) {
		switch c := text[i]; {
		case c == '\n':
			g.lines++
			g.size++
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			g.size++
			i++
		case c < utf8.RuneSelf:
			return i
		default:
			r, size := utf8.DecodeRune(text[i:])
			if !blank(r) {
				return i
			}
			g.size++
			i += size
		}
		g.size, g.lines = min(g.size, 8), min(g.lines, 2)
	}
	return i
}

func blank(r rune) bool {
	return r == 0xA0 || 0x2000 <= r && r <= 0x200F || r == 0x202F || r == 0x3000 || r == 0xFEFF || r == 0x2028 || r == 0x2029
}

// space is white space.
type space struct{ size, lines uint8 }

func (s space) gap() gap {
	switch {
	case s.lines > 1:
		return gapParagraph
	case s.lines == 1:
		return gapLine
	case s.size > 2:
		return gapWide
	case s.size > 0:
		return gapSpace
	}
	return gapNone
}

// scan reads the token that begins at i, where a character other than white space is.
func (l Lexicon) scan(in Text, i int) (token, status) {
	if i >= len(in.Bytes) && in.Ends {
		return token{}, none
	}
	t := token{start: i, end: i}
	if in.half(i) {
		return t, more
	}
	r, size := utf8.DecodeRune(in.Bytes[i:])
	if letter(r) || '0' <= r && r <= '9' {
		return l.scanWord(t, in)
	}
	t.end, t.shape, t.word = i+size, shapePunctuation, mix(uint32(r))
	if r == '\'' || r == '’' {
		return possessive(t, in)
	}
	return t, complete
}

// possessive reads the ending 's.
func possessive(t token, in Text) (token, status) {
	text := in.Bytes
	switch n := len(text) - t.end; {
	case n < 2 && !in.Ends && (n == 0 || text[t.end]|0x20 == 's'):
		return t, more
	case n == 0 || text[t.end]|0x20 != 's':
		return t, complete
	}
	if t.end+1 < len(text) && wordByte(text[t.end+1]) {
		return t, complete
	}
	t.end++
	t.shape, t.word = shapePossessive, mix('s')
	return t, complete
}

func letter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) || unicode.IsMark(r)
}

func wordByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c >= utf8.RuneSelf
}

// counts of the characters of a word.
type counts struct{ upper, lower, digit, other, letters int }

func (c *counts) add(r rune) {
	switch {
	case '0' <= r && r <= '9' || r == '_':
		c.digit++
		return
	case 'a' <= r && r <= 'z':
		c.lower++
	case 'A' <= r && r <= 'Z':
		c.upper++
	case unicode.IsUpper(r):
		c.upper++
	case unicode.IsLower(r):
		c.lower++
	case unicode.IsMark(r):
		return
	default:
		c.other++
	}
	c.letters++
}

// of returns the shape of a word by its characters, and whether its first is in upper case.
func (c *counts) of(first bool) shape {
	switch {
	case c.letters == 0:
		return shapeNumber
	case c.digit > 0:
		return shapeCode
	case c.other > 0:
		return shapeUncased
	case c.upper == 0:
		return shapeLower
	case !first:
		return shapeHump
	case c.letters == 1:
		return shapeInitial
	case c.lower == 0:
		return shapeUpper
	case c.upper == 1:
		return shapeTitle
	}
	return shapeCamel
}

func (l Lexicon) scanWord(t token, in Text) (token, status) {
	text := in.Bytes
	h, c, j, first := uint32(hashStart), counts{}, t.start, false
	for {
		if in.half(j) {
			return t, more
		}
		if j >= len(text) {
			break
		}
		if j-t.start >= longest {
			c.digit++ // not a word
			break
		}
		r, size := utf8.DecodeRune(text[j:])
		if r == '_' { // it joins the parts of a word in code, and is a border elsewhere, as in Markdown
			if j+1 >= len(text) && !in.Ends {
				return t, more
			}
			if j+1 >= len(text) || !wordByte(text[j+1]) {
				break
			}
		}
		if letter(r) || '0' <= r && r <= '9' || r == '_' {
			before := c.upper
			c.add(r)
			if j == t.start {
				first = c.upper > before
			}
			if f := fold(r); f > 0 {
				h = hashRune(h, f)
			}
			j += size
			continue
		}
		if r != '\'' && r != '’' && r != '-' {
			break
		}
		joined, s := in.joins(j+size, r)
		if s != complete {
			return t, s
		}
		if !joined || r == '-' && !first {
			break
		}
		if r == '-' {
			h = hashRune(h, '-')
		}
		j += size
	}
	t.end, t.shape, t.word = j, c.of(first), mix(h)
	if c.letters > 0 {
		t.known = l.Word(t.word)
	}
	if j < len(text) && text[j] > ' ' && text[j] < utf8.RuneSelf {
		t.next = text[j]
	}
	return in.follow(t)
}

// follow tells a period within a name of a file or an address from one that ends a sentence. The next byte of a
// word in the local part of an email address is an @, which is no name.
func (in Text) follow(t token) (token, status) {
	text := in.Bytes
	if t.next == '.' || t.next == '-' || t.next == '+' || t.next == '_' {
		switch at, ok := in.local(t.end); {
		case !ok:
			return t, more
		case at:
			t.next = '@'
			return t, complete
		}
	}
	if t.next == '.' && (t.shape == shapeTitle || t.shape == shapeUpper || t.shape == shapeCamel || t.shape == shapeLower && t.known&LowerName != 0) {
		if t.end+1 >= len(text) && !in.Ends {
			return t, more
		}
		if t.end+1 < len(text) && wordByte(text[t.end+1]) {
			t.next = '/'
		}
	}
	return t, complete
}

// local reports whether what follows a word without a space leads to an @, and whether that is known.
func (in Text) local(i int) (at, known bool) {
	for most := min(len(in.Bytes), i+longestLocal); i < most; i++ {
		switch c := in.Bytes[i]; {
		case c == '@':
			return true, true
		case !wordByte(c) && c != '.' && c != '-' && c != '+':
			return false, true
		}
	}
	return false, in.Ends || i < len(in.Bytes)
}

// joins reports whether a word goes on after an apostrophe or a hyphen: after an apostrophe with a letter,
// but not with s alone, and after a hyphen with an upper-case letter.
func (in Text) joins(i int, by rune) (bool, status) {
	if in.half(i) {
		return false, more
	}
	r, size := utf8.DecodeRune(in.Bytes[i:])
	switch {
	case size == 0 || !letter(r):
		return false, complete
	case by == '-':
		return unicode.IsUpper(r), complete
	case r|0x20 != 's':
		return true, complete
	case i+1 < len(in.Bytes):
		return wordByte(in.Bytes[i+1]), complete
	case in.Ends:
		return false, complete
	}
	return false, more
}

// half reports whether more text may change the character at i.
func (in Text) half(i int) bool { return !in.Ends && !utf8.FullRune(in.Bytes[i:]) }
