package splice

import "iter"

// Elements yields the places of the elements of a JSON array, which a scanner has accepted. It yields none of
// another value.
func Elements(array []byte) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		s := scanner{b: array}
		start := s.space(0)
		if start >= len(array) || array[start] != '[' {
			return
		}
		w := s.elements(start)
		for w.next() {
			at := w.at
			w.at = s.value(at)
			if w.at < 0 || !yield(Span{at, w.at}) {
				return
			}
		}
	}
}
