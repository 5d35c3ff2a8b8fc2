package template

import "strings"

// token is a piece of an expression.
type token struct {
	kind tokenKind
	text string // of a string: what it means
	at   int    // in the source
}

type tokenKind uint8

const (
	isEnd tokenKind = iota
	isName
	isString
	isNumber
	isSign
)

// signs are the tokens of an expression other than names, strings and numbers, longer
// ones first.
const signs = "== != <= >= < > ( ) [ ] | . , ="

// lex cuts an expression into tokens.
func (p *parser) lex(it item) ([]token, error) {
	var out []token
	s := it.text
	for i := 0; i < len(s); {
		c, at := s[i], it.at+i
		switch {
		case strings.IndexByte(space, c) >= 0:
			i++
		case letter(c):
			n := i
			for n < len(s) && (letter(s[n]) || digit(s[n])) {
				n++
			}
			out, i = append(out, token{isName, s[i:n], at}), n
		case digit(c), c == '-' && i+1 < len(s) && digit(s[i+1]):
			n := i + 1
			for n < len(s) && (digit(s[n]) || s[n] == '.' && n+1 < len(s) && digit(s[n+1])) {
				n++
			}
			out, i = append(out, token{isNumber, s[i:n], at}), n
		case c == '"' || c == '\'':
			text, n := quoted(s[i:])
			if n == 0 {
				return nil, p.wrong(at, "the text has no closing quote")
			}
			out, i = append(out, token{isString, text, at}), i+n
		default:
			sign := signAt(s[i:])
			if sign == "" {
				return nil, p.wrong(at, "%q has no meaning here", string([]rune(s[i:])[0]))
			}
			out, i = append(out, token{isSign, sign, at}), i+len(sign)
		}
	}
	return append(out, token{kind: isEnd, at: it.at + len(s)}), nil
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

func signAt(s string) string {
	for sign := range strings.SplitSeq(signs, " ") {
		if strings.HasPrefix(s, sign) {
			return sign
		}
	}
	return ""
}

// quoted reads a string in quotes and returns its length in the source; 0 if it does
// not end.
func quoted(s string) (text string, length int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == s[0]:
			return b.String(), i + 1
		case c == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", 0
}
