package splice

// members iterates over one object. The loop that calls next must advance at over the value
// each time, with scanner.value or another iterator.
//
//	w := s.members(i)
//	for w.next() { w.at = s.value(w.at) }
//
// After the loop, at is the index after the object, or a failure.
type members struct {
	s    *scanner
	name []byte // unescaped
	from int    // index of the opening quote of the name
	to   int    // index of the closing quote of the name
	at   int    // index of the value
	prev int    // end of the previous member; of the opening bracket for the first
	n    int    // number of members so far
	more bool   // the object is still open
}

// members starts the iteration over the object at i.
func (s *scanner) members(i int) members {
	if s.depth == maxDepth {
		s.deep = true
		return members{s: s, at: fail(i)}
	}
	s.depth++
	return members{s: s, at: i + 1, more: true}
}

// next advances to the next member, and reports whether there is one.
func (w *members) next() bool {
	if w.at < 0 || !w.more {
		return false
	}
	s := w.s
	w.prev = w.at
	i := s.space(w.at)
	if i >= len(s.b) {
		w.at = fail(i)
		return false
	}
	if s.b[i] == '}' {
		w.at, w.more = i+1, false
		s.depth--
		return false
	}
	if w.n > 0 {
		if s.b[i] != ',' {
			w.at = fail(i)
			return false
		}
		i = s.space(i + 1)
	}
	w.n++
	w.from = i
	if i >= len(s.b) || s.b[i] != '"' {
		w.at = fail(i)
		return false
	}
	end := s.str(i + 1)
	if end < 0 {
		w.at = end
		return false
	}
	w.to = end - 1
	w.name = s.b[i+1 : w.to]
	if s.esc {
		w.name = appendUnescaped(nil, w.name)
	}
	if i = s.space(end); i >= len(s.b) || s.b[i] != ':' {
		w.at = fail(i)
		return false
	}
	if w.at = s.space(i + 1); w.at >= len(s.b) {
		w.at = fail(len(s.b))
		return false
	}
	return true
}

// elements iterates over one array, like members over an object.
type elements struct {
	s    *scanner
	at   int  // index of the element
	n    int  // number of elements so far
	more bool // the array is still open
}

// elements starts the iteration over the array at i.
func (s *scanner) elements(i int) elements {
	if s.depth == maxDepth {
		s.deep = true
		return elements{s: s, at: fail(i)}
	}
	s.depth++
	return elements{s: s, at: i + 1, more: true}
}

// next advances to the next element, and reports whether there is one.
func (w *elements) next() bool {
	if w.at < 0 || !w.more {
		return false
	}
	s := w.s
	i := s.space(w.at)
	if i >= len(s.b) {
		w.at = fail(i)
		return false
	}
	if s.b[i] == ']' {
		w.at, w.more = i+1, false
		s.depth--
		return false
	}
	if w.n > 0 {
		if s.b[i] != ',' {
			w.at = fail(i)
			return false
		}
		if i = s.space(i + 1); i >= len(s.b) {
			w.at = fail(i)
			return false
		}
	}
	w.n++
	w.at = i
	return true
}
