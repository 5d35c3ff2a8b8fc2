package config

import (
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file. The parser recurses once a level and once a key, and a Go
// stack that overflows cannot be recovered from, so the tokens are checked first.
const (
	// MaxSize is the largest file that is read, in bytes: five times what
	// 10,000 deployments take.
	MaxSize = 16 << 20
	// maxDepth is how deep lists and mappings may nest; a sound file needs 7.
	maxDepth = 64
	// maxKeys is how many keys one mapping may have.
	maxKeys = 10_000
	// maxExpanded is how many values all aliases together may have.
	maxExpanded = 1_000_000
)

// level is one open block collection.
type level struct{ column, keys int }

// bounds follows the tokens of a file and finds what must not reach the parser.
type bounds struct {
	blocks []level
	flow   int
}

// reject returns why the token must not reach the parser, or "".
func (b *bounds) reject(tk *token.Token) string {
	switch tk.Type { //nolint:exhaustive // the other tokens neither nest nor are rejected
	case token.TagType:
		return "YAML tags are not supported: remove it; a number is quoted to make it a string"
	case token.DirectiveType:
		return "YAML directives are not supported: remove the line"
	case token.MappingKeyType:
		return "keys with a question mark are not supported: write key: value"
	case token.MappingStartType, token.SequenceStartType:
		b.flow++
	case token.MappingEndType, token.SequenceEndType:
		b.flow = max(b.flow-1, 0)
	case token.SequenceEntryType:
		if b.flow == 0 {
			b.open(tk.Position.Column)
		}
	case token.MappingValueType:
		if b.flow == 0 && tk.Prev != nil {
			l := b.open(tk.Prev.Position.Column)
			if l.keys++; l.keys > maxKeys {
				return "a mapping has more than 10000 keys: split it up"
			}
		}
	case token.DocumentHeaderType:
		b.blocks = b.blocks[:0]
	}
	if len(b.blocks)+b.flow > maxDepth {
		return "lists and mappings nest more than 64 deep: flatten them"
	}
	return ""
}

// open returns the block collection at the column and closes those further
// right. A list may be at the column of its key: the two count as one level.
func (b *bounds) open(column int) *level {
	n := len(b.blocks)
	for n > 0 && b.blocks[n-1].column > column {
		n--
	}
	b.blocks = b.blocks[:n]
	if n == 0 || b.blocks[n-1].column < column {
		b.blocks = append(b.blocks, level{column: column})
		n++
	}
	return &b.blocks[n-1]
}
