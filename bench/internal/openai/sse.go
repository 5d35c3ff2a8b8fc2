package openai

import "bytes"

// Scanner finds the events of a stream that arrives in pieces.
type Scanner struct {
	line    []byte // the unfinished last line
	Content int    // events with content so far
	Done    bool   // [DONE] was seen
}

// Feed processes the next bytes and returns the number of content events that they complete.
func (s *Scanner) Feed(b []byte) int {
	n := 0
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			s.line = append(s.line, b...)
			break
		}
		line := b[:i]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
		}
		b = b[i+1:]
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = bytes.TrimSpace(data)
			switch {
			case bytes.Equal(data, []byte("[DONE]")):
				s.Done = true
			case hasContent(data):
				n++
			}
		}
		s.line = s.line[:0]
	}
	s.Content += n
	return n
}

// hasContent reports whether a chunk's delta carries text. It searches for a "content" member
// with a non-empty string, which suffices for the mock's chunks and is far cheaper than
// decoding.
func hasContent(data []byte) bool {
	const key = `"content":`
	_, v, found := bytes.Cut(data, []byte(key))
	v = bytes.TrimLeft(v, " ")
	return found && len(v) > 1 && v[0] == '"' && v[1] != '"'
}
