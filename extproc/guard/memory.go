package guard

import (
	"strconv"
)

// memory knows what was replaced in a request, to put it back into the response. It belongs to one
// request and is in memory only.
type memory struct {
	values map[string]string // by what stands for it, such as [PERSON_1]
	marks  map[string]string // by entity and value
	counts map[string]int    // by entity
}

// longestMark bounds the text that stands for a value, in bytes.
const longestMark = 64

// mark returns what stands for a value: the same for the same value.
func (m *memory) mark(entity, value string) string {
	if m.marks == nil {
		m.values, m.marks, m.counts = make(map[string]string), make(map[string]string), make(map[string]int)
	}
	key := entity + "\x00" + value
	if mark, ok := m.marks[key]; ok {
		return mark
	}
	m.counts[entity]++
	mark := "[" + entity + "_" + strconv.Itoa(m.counts[entity]) + "]"
	m.marks[key], m.values[mark] = mark, value
	return mark
}

// empty reports whether nothing can be put back.
func (m *memory) empty() bool { return len(m.values) == 0 }

// restore appends the decided part of text[at:], with the values in place of what stands for them. It holds
// back a mark that is not complete.
func (m *memory) restore(dst, text []byte, at int, end bool) (out []byte, decided int) { //nolint:revive // says where the text ends, and is no mode
	for i := at; i < len(text); {
		if text[i] != '[' {
			dst = append(dst, text[i])
			i++
			continue
		}
		n := markLength(text[i:])
		if i+n == len(text) && text[len(text)-1] != ']' && n < longestMark && !end {
			return dst, i
		}
		if value, ok := m.values[string(text[i:i+n])]; ok {
			dst = append(dst, value...)
		} else {
			dst = append(dst, text[i:i+n]...)
		}
		i += n
	}
	return dst, len(text)
}

// markLength returns the length of what could be a mark, or the beginning of one, at the start of text.
func markLength(text []byte) int {
	for i := 1; i < min(len(text), longestMark); i++ {
		switch c := text[i]; {
		case c == ']':
			return i + 1
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
		default:
			return i
		}
	}
	return min(len(text), longestMark)
}
