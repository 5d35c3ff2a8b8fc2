package estimate

// longestPiece bounds the bytes of what counts as one token, without white space around it.
// Longer tokens exist, and are rare.
const longestPiece = 16

// Pieces counts the events of a stream that brought generated text. Most providers send
// each token in an event of its own. Then the number of events is the number of tokens in
// the provider's own vocabulary, which the gateway may not have.
type Pieces struct {
	events int64
	larger bool // some event had more text than one token
}

// Add counts the text of one event, which belongs to the given number of choices.
func (p *Pieces) Add(text []byte, choices int) {
	if len(text) == 0 {
		return
	}
	p.events++
	p.larger = p.larger || choices > 1 || !onePiece(text)
}

// Tokens returns the number of tokens in a text of which the tokenizer counts n.
func (p *Pieces) Tokens(n int64) int64 {
	if p.events == 0 || p.larger {
		return n
	}
	return min(n, p.events)
}

// onePiece reports whether text may be one token: a word, with at most one mark before it,
// or a run of marks. White space may surround it.
func onePiece(text []byte) bool {
	for len(text) > 0 && isSpace(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && isSpace(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	if len(text) > longestPiece {
		return false
	}
	words, marks := 0, 0
	for _, c := range text {
		switch {
		case isSpace(c):
			return false
		case isWordByte(c):
			words++
		case words > 0:
			return false // a mark after a word
		default:
			marks++
		}
	}
	return words == 0 || marks <= 1
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// isWordByte reports whether c belongs to a letter or a digit. All characters beyond ASCII
// count as letters.
func isWordByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c >= 0x80
}
