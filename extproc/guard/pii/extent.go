package pii

import "bytes"

// extent returns how many bytes of the view belong to the chunk at its beginning. whole says that more of
// the text would not change that. Without it, false says that more is needed.
func (s *coreScanner) extent(whole bool) (int, bool) {
	v := s.v
	i := 0
	if len(v) > 0 && v[0] == '(' {
		i = 1
	}
	s.dated = false
	for {
		j, url := s.runEnd(i)
		if j == len(v) {
			return j, whole
		}
		if url || j == i {
			return j, true
		}
		s.dated = s.dated || monthOf(trimPoint(v[i:j])) != 0
		k, step := s.link(i, j)
		switch {
		case step == linked:
			i = k
		case step == unlinked, whole:
			return j, true
		default:
			return 0, false
		}
	}
}

// What link found.
const (
	unlinked = iota
	linked
	unknown // more of the text is needed
)

// runEnd returns the end of the run at i, and whether it is that of a URL.
func (s *coreScanner) runEnd(i int) (int, bool) {
	v, class := s.v, s.c.class
	urls := s.c.table.wants(url)
	for j := i; j < len(v); j++ {
		switch class[v[j]] {
		case ends, opening:
			return j, false
		case point:
			if urls && v[j] == ':' && schemeBefore(v[i:j]) && bytes.HasPrefix(v[j:], []byte("://")) {
				return urlEnd(v, j), true
			}
			if urls && v[j] == '.' && j-i == 3 && bytes.EqualFold(v[i:j], []byte("www")) {
				return urlEnd(v, j), true
			}
		case connector:
			if urls && v[j] == '/' && j > i && isHost(v[i:j]) {
				return urlEnd(v, j), true
			}
		}
	}
	return len(v), false
}

// link says whether the run from i to j, which has ended, and the next belong to one chunk, and where the next
// begins.
func (s *coreScanner) link(i, j int) (int, int) {
	v := s.v
	k := j
	for k < len(v) && k-j < 3 && (v[k] == ' ' || v[k] == '(' || v[k] == ')' || v[k] == '-' || v[k] == ',' && s.dated) {
		k++
	}
	if k == j {
		return 0, unlinked
	}
	last := v[j-1]
	plainSpace := k == j+1 && v[j] == ' '
	run := trimPoint(v[i:j])
	initials := i <= 1 && len(run) <= 2 && isUpper(last)
	if !isDigit(last) && !initials && !s.dateWord(run) && !s.inIBAN(j) {
		return 0, unlinked
	}
	if k == len(v) {
		return 0, unknown
	}
	switch next := v[k]; {
	case isDigit(next):
		return k, linked
	case !isLetter(next) || !plainSpace:
		return 0, unlinked
	case s.inIBAN(j) && isUpper(next), isUpper(next) && isUpper(v[0]) && isUpper(v[min(1, len(v)-1)]) && (k+1 == len(v) || !isAlnum(v[k+1])):
		if k+1 == len(v) {
			return 0, unknown
		}
		return k, linked
	}
	e := k
	for e < len(v) && (isLetter(v[e]) || v[e] == '.') {
		e++
	}
	word := trimPoint(v[k:e])
	if e == len(v) {
		if couldBeDateWord(word) {
			return 0, unknown
		}
		return 0, unlinked
	}
	if monthOf(word) != 0 || isOf(word) || isDaytime(word) {
		return k, linked
	}
	return 0, unlinked
}

// dateWord reports words within dates after which digits or the name of a month follow.
func (s *coreScanner) dateWord(word []byte) bool {
	if monthOf(word) != 0 || isOf(word) {
		return true
	}
	return isOrdinal(word) || s.dated && isDaytime(word)
}

// inIBAN reports whether the chunk up to j is the beginning of an account number with IBAN.
func (s *coreScanner) inIBAN(j int) bool {
	length := ibanLength(s.v)
	if length == 0 {
		return false
	}
	n := 0
	for _, b := range s.v[:j] {
		if isAlnum(b) {
			n++
		}
	}
	return n < length
}

func trimPoint(word []byte) []byte { return bytes.TrimSuffix(word, []byte(".")) }
