package template

import "strings"

// item is a piece of the source: text, or the content of braces.
type item struct {
	kind itemKind
	text string // without the braces
	at   int    // of text in the source
}

type itemKind uint8

const (
	isText itemKind = iota
	isOutput
	isTag
)

// closerOf returns the end of the piece that an opener begins; empty for no opener.
func closerOf(opener string) string {
	switch opener {
	case "{{":
		return "}}"
	case "{%":
		return "%}"
	case "{#":
		return "#}"
	}
	return ""
}

// split cuts the source into pieces. It drops comments, makes raw blocks text, and
// removes the white space that dashes mark.
func split(source string) ([]item, error) {
	c := cutter{source: source}
	at := 0
	for {
		next, opener := opening(source, at)
		if next < 0 {
			c.text(at, len(source))
			return c.items, nil
		}
		p, err := pieceAt(source, next, opener)
		if err != nil {
			return nil, err
		}
		c.textBefore(at, p)
		at = p.end
		switch {
		case opener == "{{":
			c.items = append(c.items, item{isOutput, p.inner(source), p.from})
		case opener == "{%" && p.word(source) == "raw":
			end, ok := endOfRaw(source, at)
			if !ok {
				return nil, wrongAt(source, next, "{%% raw %%} has no {%% endraw %%}")
			}
			c.textBefore(at, end)
			at = end.end
		case opener == "{%":
			c.items = append(c.items, item{isTag, p.inner(source), p.from})
		}
	}
}

// space is the white space that dashes remove.
const space = " \t\r\n"

// cutter collects pieces.
type cutter struct {
	source string
	items  []item
	trim   bool // the piece before ended with a dash
}

// text adds the source between two places.
func (c *cutter) text(from, to int) {
	s := c.source[from:to]
	if c.trim {
		cut := strings.TrimLeft(s, space)
		from, s = from+len(s)-len(cut), cut
	}
	if s != "" {
		c.items = append(c.items, item{isText, s, from})
	}
}

// textBefore adds the text before a piece.
func (c *cutter) textBefore(from int, p piece) {
	to := p.begin
	if p.dashBefore {
		to = from + len(strings.TrimRight(c.source[from:to], space))
	}
	c.text(from, to)
	c.trim = p.dashAfter
}

// piece is the content of braces.
type piece struct {
	begin, end int // with its braces
	from, to   int // without them and their dashes
	dashBefore bool
	dashAfter  bool
}

func (p piece) inner(source string) string { return source[p.from:p.to] }
func (p piece) word(source string) string  { return strings.TrimSpace(p.inner(source)) }

// opening finds the beginning of the next piece.
func opening(source string, from int) (at int, opener string) {
	for at = from; ; at++ {
		i := strings.IndexByte(source[at:], '{')
		if i < 0 || at+i+1 >= len(source) {
			return -1, ""
		}
		at += i
		if opener = source[at : at+2]; closerOf(opener) != "" {
			return at, opener
		}
	}
}

// pieceAt finds the piece whose braces open at a place.
func pieceAt(source string, at int, opener string) (piece, error) {
	p := piece{begin: at, from: at + 2}
	if strings.HasPrefix(source[p.from:], "-") {
		p.dashBefore = true
		p.from++
	}
	if p.to = closing(source, p.from, opener); p.to < 0 {
		return p, wrongAt(source, at, "%s has no %s", opener, closerOf(opener))
	}
	p.end = p.to + 2
	if p.to > p.from && source[p.to-1] == '-' {
		p.dashAfter = true
		p.to--
	}
	return p, nil
}

// closing finds the end of a piece, and skips texts in quotes.
func closing(source string, from int, opener string) int {
	closer := closerOf(opener)
	var quote byte
	for i := from; i < len(source); i++ {
		c := source[i]
		switch {
		case opener == "{#":
		case quote != 0 && c == '\\':
			i++
			continue
		case quote != 0:
			if c == quote {
				quote = 0
			}
			continue
		case c == '"' || c == '\'':
			quote = c
			continue
		}
		if strings.HasPrefix(source[i:], closer) {
			return i
		}
	}
	return -1
}

// endOfRaw finds the {% endraw %} of a raw block that begins at a place.
func endOfRaw(source string, at int) (piece, bool) {
	for {
		i := strings.Index(source[at:], "{%")
		if i < 0 {
			return piece{}, false
		}
		p, err := pieceAt(source, at+i, "{%")
		if err == nil && p.word(source) == "endraw" {
			return p, true
		}
		at += i + 2
	}
}
