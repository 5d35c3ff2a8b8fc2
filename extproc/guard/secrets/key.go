package secrets

import (
	"bytes"
)

// The first line of a private key begins with keyBegin, which is the end of its run.
const (
	keyBegin   = "-----BEGIN"
	mostHeader = 96      // bytes of the first line
	mostKey    = 1 << 16 // bytes of a key
)

// answer says whether something is there, if that can be told yet.
type answer uint8

const (
	no answer = iota
	yes
	open
)

// keyHeader reads the first line of a private key, such as -----BEGIN RSA PRIVATE KEY-----.
func keyHeader(text []byte, all bool) (end int, state answer) {
	line := text[:min(len(text), mostHeader)]
	i := len(keyBegin)
	for i < len(line) && (line[i] == ' ' || line[i] >= 'A' && line[i] <= 'Z' || line[i] >= '0' && line[i] <= '9') {
		i++
	}
	label := bytes.TrimSuffix(line[:i], []byte(" BLOCK"))
	dashes := 0
	for i < len(line) && dashes < 5 && line[i] == '-' {
		dashes++
		i++
	}
	switch {
	case dashes == 5 && bytes.HasSuffix(label, []byte(" PRIVATE KEY")):
		return i, yes
	case i == len(text) && i < mostHeader && dashes < 5 && !all:
		return 0, open
	}
	return 0, no
}

// keyBody reads a private key after its first line, byte for byte. It takes lines of base64, headers such as
// "DEK-Info: …", and the last line. What is in several string constants or escaped is taken as well. It ends with
// the last line, or before what cannot be in a key.
type keyBody struct {
	size   int
	word   int  // bytes of this word
	line   int  // bytes of this line
	header bool // the line has a colon
	dashes int  // before the next byte
	quoted bool // the byte before is a quote, but for spaces
	last   bool // the line has -----END
	ended  bool
}

// takes reports whether the next byte belongs to the key.
func (k *keyBody) takes(c byte) bool {
	if k.size++; k.size > mostKey {
		return false
	}
	dashes, quoted := k.dashes, k.quoted
	k.dashes = 0
	if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
		k.quoted = c == '"' || c == '\''
	}
	switch {
	case c == '\n' || c == '\r':
		k.word, k.line, k.header = 0, 0, false
		return true
	case c == ' ' || c == '\t':
		fits := k.line == 0 || k.word >= 16 || k.word <= 1 || k.header || k.last
		k.word = 0
		return fits
	case c == '-':
		k.dashes = dashes + 1
		k.ended = k.last && k.dashes == 5
	case c == ':' || c == ',':
		if quoted { // the end of a string that has no last line
			return false
		}
		k.header = k.header || c == ':'
	case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
		k.last = k.last || dashes >= 5 && c == 'E'
		k.word++
	case c == '"' || c == '\'' || c == '\\':
		k.word = max(k.word, 16)
	case c == '+' || c == '/' || c == '=' || c == '.':
		k.word++
	default:
		return false
	}
	k.line++
	return true
}
