package injection

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/texts"
)

// answer says whether something is there.
type answer uint8

const (
	none    answer = iota
	there          // it ends at the signal's end
	unknown        // more text is needed
)

// mark is a sequence of characters that separates roles.
type mark struct {
	text   string // in lower case
	weight float32
}

func newMarks() []mark {
	return []mark{
		{"<|im_start|>", 0.8},
		{"<|im_end|>", 0.8},
		{"<|system|>", 0.8},
		{"<|user|>", 0.8},
		{"<|assistant|>", 0.8},
		{"<|endoftext|>", 0.8},
		{"<|start_header_id|>", 0.8},
		{"<|eot_id|>", 0.8},
		{"[inst]", 0.75},
		{"[/inst]", 0.75},
		{"<<sys>>", 0.75},
		{"<</sys>>", 0.75},
		{"<system>", 0.5},
		{"</system>", 0.5},
		{"[system]", 0.5},
		{"<system_prompt>", 0.6},
		{"</system_prompt>", 0.6},
		{"[/system]", 0.6},
		{"### system", 0.5},
		{"### instruction", 0.4},
		{"###instruction", 0.4},
		{"\nsystem:", 0.4},
		{"\nhuman:", 0.3},
		{`"role": "system"`, 0.4},
		{`"role":"system"`, 0.4},
	}
}

// isMarkByte reports whether a mark or an image can begin with a byte.
func isMarkByte(c byte) bool {
	return c == '<' || c == '[' || c == '#' || c == '\n' || c == '"' || c == '!'
}

// mark looks for a mark or an image.
func (s *scanner) mark(text []byte, i int, end bool) (signal, answer) { //nolint:revive // says where the text ends, and is no mode
	if text[i] == '!' {
		return image(text, i, end)
	}
	state := none
	for _, m := range s.e.marks {
		rest := text[i:min(len(text), i+len(m.text))]
		if rest[0] != m.text[0] || !bytes.EqualFold(rest, []byte(m.text[:len(rest)])) {
			continue
		}
		if len(rest) == len(m.text) {
			return signal{i, i + len(rest), roleMarker, m.weight}, there
		}
		if !end {
			state = unknown
		}
	}
	return signal{start: i, end: i}, state
}

// longestImage bounds an image with its address, in bytes.
const longestImage = 240

// image looks for an image of Markdown whose address has a query, which could carry away data as soon as it is shown.
func image(text []byte, i int, end bool) (signal, answer) { //nolint:revive // says where the text ends, and is no mode
	rest := text[i:min(len(text), i+longestImage)]
	more := none
	if len(rest) < longestImage && !end {
		more = unknown
	}
	nothing := signal{start: i, end: i}
	if len(rest) < 2 {
		return nothing, more
	}
	if rest[1] != '[' {
		return nothing, none
	}
	middle := bytes.Index(rest, []byte("]("))
	if middle < 0 {
		return nothing, more
	}
	last := bytes.IndexByte(rest[middle:], ')')
	if last < 0 {
		return nothing, more
	}
	address := rest[middle+2 : middle+last]
	at := bytes.IndexByte(address, '?')
	if at < 0 || !bytes.HasPrefix(address, []byte("http")) || bytes.IndexByte(address[at:], '=') < 0 {
		return nothing, none
	}
	f := signal{i, i + middle + last + 1, exfiltration, 0.4}
	var lower [longestImage]byte
	query := lower[:copy(lower[:], address[at:])]
	for i, c := range query {
		if c >= 'A' && c <= 'Z' {
			query[i] = c | 0x20
		}
	}
	if bytes.ContainsAny(query, "{[<$") {
		f.weight = 0.8
	}
	for _, word := range []string{"secret", "history", "conversation", "summary", "password", "token", "data="} {
		if bytes.Contains(query, []byte(word)) {
			f.weight = 0.8
		}
	}
	return f, there
}

// isInvisible reports whether a character can be within a word and is not seen.
func isInvisible(r rune) bool {
	return r >= '\u200b' && r <= '\u200d' || r == '\u2060' || r == '\ufeff' || r == '\u00ad'
}

// isHidden reports whether a character can carry hidden text, or changes the direction.
func isHidden(r rune) bool {
	return r >= '\U000e0000' && r <= '\U000e01ef' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// hidden looks for text in tag characters or variation selectors: 3 of them, which do not belong to a flag. Its first
// character is hidden.
func (s *scanner) hidden(text []byte, i int, end bool) (signal, answer) { //nolint:revive // says where the text ends, and is no mode
	r, size := utf8.DecodeRune(text[i:])
	if r < '\U000e0000' {
		return signal{i, i + size, hiddenText, 0.3}, there
	}
	if before, _ := utf8.DecodeLastRune(text[:i]); before == '\U0001f3f4' || before >= '\U000e0000' && isHidden(before) {
		return signal{}, none // a flag, or more of the same
	}
	to := i
	for range 3 {
		if to == len(text) && !end {
			return signal{start: i, end: i}, unknown
		}
		if r, size = utf8.DecodeRune(text[to:]); r < '\U000e0000' || !isHidden(r) {
			return signal{}, none
		}
		to += size
	}
	return signal{i, to, hiddenText, 0.9}, there
}

// Bounds of text in base64, in bytes.
const (
	leastEncoded = 24
	mostEncoded  = 192
)

// encoded looks for a phrase in base64.
func (s *scanner) encoded(text []byte, i int, end bool) (signal, answer) { //nolint:revive // says where the text ends, and is no mode
	if i > 0 && inBase64(text[i-1]) {
		return signal{}, none
	}
	to := i
	for to < len(text) && to < i+mostEncoded && inBase64(text[to]) {
		to++
	}
	if to == len(text) && to < i+mostEncoded && !end {
		return signal{start: i, end: i}, unknown
	}
	if to-i < leastEncoded {
		return signal{}, none
	}
	size := to - i
	if size == mostEncoded || size%4 == 1 {
		size = size / 4 * 4
	}
	if s.inner == nil {
		s.inner = &inner{scanner: scanner{e: s.e}}
	}
	in := s.inner
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(text[i:to], "-_") {
		encoding = base64.RawURLEncoding
	}
	n, err := encoding.Decode(in.text[:], text[i:i+size])
	if err != nil {
		return signal{}, none
	}
	plain := in.text[:n]
	for _, c := range plain {
		if c != '\n' && c != '\r' && c != '\t' && (c < ' ' || c > '~') {
			return signal{}, none
		}
	}
	in.scanner.Begin(texts.Content, texts.User)
	for at := 0; at < n; {
		f, size, _ := in.scanner.read(plain, at, true)
		if at += size; f.weight >= strong {
			return signal{i, to, encodedText, 0.85}, there
		}
	}
	return signal{}, none
}

// strong is the weight that a phrase in base64 needs.
const strong = 0.5

// inner reads what is encoded.
type inner struct {
	scanner scanner
	text    [mostEncoded]byte
}

func inBase64(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}
