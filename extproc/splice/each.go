package splice

import "iter"

// Check reads a complete response, or the data of an event, and fails as Reply does if it is not one JSON object.
func Check(body []byte) error {
	s := scanner{b: body}
	i, err := s.open()
	if err != nil {
		return err
	}
	return s.close(s.value(i))
}

// Members returns the names of an object's members and where in body their values are. object is the place of
// a value that a scan has accepted; there are none of another value.
func Members(body []byte, object Span) iter.Seq2[[]byte, Span] {
	return func(yield func([]byte, Span) bool) {
		s := scanner{b: body[:object.End]}
		i := s.space(object.Off)
		if i >= object.End || body[i] != '{' {
			return
		}
		w := s.members(i)
		for w.next() {
			name, at := w.name, w.at
			if w.at = s.value(at); w.at < 0 || !yield(name, Span{at, w.at}) {
				return
			}
		}
	}
}

// Take appends a JSON string to the text of a response, if that is collected. Text that is not empty is content.
func (f *ReplyFacts) Take(body []byte, text Span) {
	f.take(&scanner{b: body}, text.Off, text.End)
}

// Whole returns the value of an integer, clamped to limit; not ok for another value.
func Whole(raw []byte, limit int64) (n int64, ok bool) { return integer(raw, limit) }
