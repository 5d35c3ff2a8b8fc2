package library

import (
	"strings"
	"unicode"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// wrap is the filter wordwrap: Python's textwrap for each line.
func (m *Caller) wrap(v values.Value, a *Arguments) values.Value {
	s, ok := values.TextOf(v)
	if !ok {
		if u, isUndefined := v.(*values.Undefined); isUndefined {
			m.Missing(u)
		}
		m.Fail("wordwrap needs text, not a %s", values.TypeName(v))
	}
	if values.IsMarkup(v) {
		m.Fail("wordwrap of markup is not supported")
	}
	between := "\n"
	if w := a.or(2, nil); w != nil {
		between = m.Text(w)
	}
	w := &wrapper{m: m, width: m.Integer(a.or(0, 79)), breakWords: values.Truth(a.or(1, true)), hyphens: values.Truth(a.or(3, true))}
	m.Times(len(s), 20)
	m.Step(len(s) / 2)
	var paragraphs []string
	for _, line := range values.SplitLines(s, false) {
		paragraphs = append(paragraphs, m.JoinTexts(w.wrap([]rune(line)), between))
	}
	return m.JoinTexts(paragraphs, between)
}

type wrapper struct {
	m          *Caller
	width      int
	breakWords bool // words that are longer than a line
	hyphens    bool // lines may end after a hyphen
}

func isWrapSpace(r rune) bool { return r >= '\t' && r <= '\r' || r == ' ' }

func isWrapLetter(r rune) bool { return values.IsWordRune(r) && !unicode.Is(unicode.Nd, r) }

// isWrapWord reports whether a dash after the character can part words.
func isWrapWord(r rune) bool { return values.IsWordRune(r) || strings.ContainsRune(`!"'&.,?`, r) }

// chunks divides a line where it may be broken.
func (w *wrapper) chunks(s []rune) [][]rune {
	var out [][]rune
	for i := 0; i < len(s); {
		n := w.chunk(s, i)
		out = append(out, s[i:n])
		i = n
	}
	return out
}

// chunk returns where the chunk that begins at i ends.
func (w *wrapper) chunk(s []rune, i int) int {
	n := i
	if isWrapSpace(s[i]) {
		for n < len(s) && isWrapSpace(s[n]) {
			n++
		}
		return n
	}
	if !w.hyphens {
		for n < len(s) && !isWrapSpace(s[n]) {
			n++
		}
		return n
	}
	if i > 0 && isWrapWord(s[i-1]) {
		if end := dashes(s, i); end > 0 {
			return end
		}
	}
	for n = i + 1; n < len(s) && !isWrapSpace(s[n]); n++ {
		switch {
		case s[n] != '-':
		case hyphenated(s, n):
			return n + 1
		case isWrapWord(s[n-1]) && dashes(s, n) > 0:
			return n
		}
	}
	return n
}

// dashes returns the end of two or more dashes at i that a word follows; 0 if there are
// none.
func dashes(s []rune, i int) int {
	n := i
	for n < len(s) && s[n] == '-' {
		n++
	}
	if n-i < 2 || n == len(s) || !values.IsWordRune(s[n]) {
		return 0
	}
	return n
}

// hyphenated reports whether the dash at i is a hyphen within a word.
func hyphenated(s []rune, i int) bool {
	letter := func(at int) bool { return at >= 0 && at < len(s) && isWrapLetter(s[at]) }
	before := letter(i-2) && letter(i-1) || letter(i-3) && s[i-2] == '-' && isWrapWord(s[i-1])
	return before && letter(i+1) && (letter(i+2) || i+2 < len(s) && s[i+2] == '-' && letter(i+3))
}

func blank(s []rune) bool {
	for _, r := range s {
		if !values.IsSpace(r) {
			return false
		}
	}
	return true
}

// wrap returns the lines that a line is broken into.
func (w *wrapper) wrap(s []rune) []string {
	if w.width <= 0 {
		w.m.Fail("wordwrap needs a width above 0")
	}
	var lines []string
	for chunks := w.chunks(s); len(chunks) > 0; {
		w.m.Step(1)
		if len(lines) > 0 && blank(chunks[0]) {
			chunks = chunks[1:]
		}
		var line [][]rune
		length := 0
		for len(chunks) > 0 && length+len(chunks[0]) <= w.width {
			line, length = append(line, chunks[0]), length+len(chunks[0])
			chunks = chunks[1:]
		}
		if len(chunks) > 0 && len(chunks[0]) > w.width {
			if w.breakWords {
				n := w.cut(chunks[0], w.width-length)
				line = append(line, chunks[0][:n])
				chunks[0] = chunks[0][n:]
			} else if len(line) == 0 {
				line, chunks = append(line, chunks[0]), chunks[1:]
			}
		}
		if n := len(line); n > 0 && blank(line[n-1]) {
			line = line[:n-1]
		}
		if len(line) > 0 {
			lines = append(lines, joinRunes(line))
		}
	}
	return lines
}

func joinRunes(parts [][]rune) string {
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(string(p))
	}
	return out.String()
}

// cut returns how much of a long word fits into space: up to a hyphen if it has one.
func (w *wrapper) cut(word []rune, space int) int {
	if !w.hyphens || len(word) <= space {
		return min(space, len(word))
	}
	for i := space - 1; i > 0; i-- {
		if word[i] != '-' {
			continue
		}
		for _, r := range word[:i] {
			if r != '-' {
				return i + 1
			}
		}
		break
	}
	return space
}
