package pii

import "bytes"

// monthOf returns the number of a month for its name or its abbreviation, with a capital letter; 0 for other
// words.
func monthOf(word []byte) int {
	if len(word) < 3 || len(word) > 9 || !isUpper(word[0]) {
		return 0
	}
	const names = "January   February  March     April     May       June      July      August    September October   November  December  "
	for m := range 12 {
		name := names[m*10 : m*10+10]
		if name[0] != word[0] || name[1] != word[1]|0x20 || name[2] != word[2]|0x20 {
			continue
		}
		if len(word) == 3 || len(word) == 4 && m == 8 && word[3]|0x20 == 't' {
			return m + 1
		}
		for i := range name {
			if i == len(word) && name[i] == ' ' {
				return m + 1
			}
			if i >= len(word) || word[i]|0x20 != name[i]|0x20 {
				break
			}
		}
		return 0
	}
	return 0
}

func isOf(word []byte) bool { return len(word) == 2 && word[0] == 'o' && word[1] == 'f' }

// isDaytime reports am and pm.
func isDaytime(word []byte) bool {
	word = bytes.TrimSuffix(word, []byte("."))
	switch len(word) {
	case 2:
		return (word[0]|0x20 == 'a' || word[0]|0x20 == 'p') && word[1]|0x20 == 'm'
	case 3: // a.m
		return (word[0]|0x20 == 'a' || word[0]|0x20 == 'p') && word[1] == '.' && word[2]|0x20 == 'm'
	}
	return false
}

// isOrdinal reports 1st, 2nd, 23rd and 5th.
func isOrdinal(word []byte) bool {
	n := len(word)
	if n < 3 || n > 4 || !isDigit(word[0]) || n == 4 && !isDigit(word[1]) {
		return false
	}
	switch string(word[n-2:]) {
	case "st", "nd", "rd", "th":
		return true
	}
	return false
}

// couldBeDateWord reports beginnings of the names of months, of am and pm, and of the word of.
func couldBeDateWord(word []byte) bool {
	if len(word) == 0 {
		return true
	}
	if len(word) <= 3 {
		switch word[0] {
		case 'a', 'p', 'A', 'P':
			if len(word) == 1 || word[1] == '.' || word[1]|0x20 == 'm' {
				return true
			}
		case 'o':
			return len(word) == 1 || len(word) == 2 && word[1] == 'f'
		}
	}
	const names = "January   February  March     April     May       June      July      August    September October   November  December  "
	for m := range 12 {
		name := names[m*10 : m*10+10]
		same := len(word) <= len(name) && word[0] == name[0]
		for i := 1; same && i < len(word); i++ {
			same = word[i]|0x20 == name[i]
		}
		if same {
			return true
		}
	}
	return false
}

// date finds a date or a time that begins with the token i.
func (s *coreScanner) date(i int) {
	end, score := s.day(i)
	if end == 0 {
		end, score = s.clock(s.toks[i].start)
		if end == 0 {
			return
		}
		s.propose(s.toks[i].start, end, dateTime, score)
		return
	}
	// A time after the date belongs to it.
	next := end
	if next < len(s.v) && (s.v[next] == 'T' || s.v[next] == ' ' || s.v[next] == ',') {
		next++
		if next < len(s.v) && s.v[next] == ' ' {
			next++
		}
		if e, _ := s.clock(next); e > 0 {
			end = e
		}
	}
	if end < len(s.v) && isWord(s.v[end]) {
		return
	}
	s.propose(s.toks[i].start, end, dateTime, score)
}

// day reads a date without a time.
func (s *coreScanner) day(i int) (end int, score float32) {
	if monthOf(s.word(i)) != 0 {
		return s.monthFirst(i)
	}
	start := s.toks[i].start
	a, n := s.number(start)
	if n == 0 {
		return 0, 0
	}
	p := start + n
	if ordinal := p + 2; ordinal <= len(s.v) && isOrdinal(s.v[start:ordinal]) {
		p = ordinal
	}
	if n <= 2 && a >= 1 && a <= 31 && p < len(s.v) && (s.v[p] == ' ' || s.v[p] == '-') {
		if end := s.monthSecond(p + 1); end > 0 {
			return end, 0.8
		}
	}
	if p != start+n || p >= len(s.v) || bytes.IndexByte([]byte("-/."), s.v[p]) < 0 {
		return 0, 0
	}
	separator := s.v[p]
	b, nb := s.number(p + 1)
	p += 1 + nb
	if nb == 0 || nb > 2 || p >= len(s.v) || s.v[p] != separator {
		return 0, 0
	}
	c, nc := s.number(p + 1)
	p += 1 + nc
	switch {
	case n == 4 && nc >= 1 && nc <= 2 && year(a) && b >= 1 && b <= 12 && c >= 1 && c <= 31 && !s.more(p, separator):
		return p, 0.8
	case n <= 2 && nc == 4 && year(c) && dayAndMonth(a, b) && !s.more(p, separator):
		return p, 0.7
	case n <= 2 && nc == 2 && separator == '/' && dayAndMonth(a, b) && !s.more(p, separator):
		return p, 0.55
	}
	return 0, 0
}

// more reports whether another number follows after the separator.
func (s *coreScanner) more(p int, separator byte) bool {
	return p+1 < len(s.v) && s.v[p] == separator && isDigit(s.v[p+1])
}

func year(n int) bool { return n >= 1900 && n < 2100 }

func dayAndMonth(a, b int) bool {
	return a >= 1 && b >= 1 && (a <= 12 && b <= 31 || a <= 31 && b <= 12)
}

// monthFirst reads March 5, 2024 and March 2024.
func (s *coreScanner) monthFirst(i int) (int, float32) {
	p := s.toks[i].end
	if p < len(s.v) && s.v[p] == '.' {
		p++
	}
	if p >= len(s.v) || s.v[p] != ' ' && s.v[p] != '-' {
		return 0, 0
	}
	a, n := s.number(p + 1)
	p += 1 + n
	switch {
	case n == 4 && year(a):
		return p, 0.7
	case n == 0 || n > 2 || a < 1 || a > 31:
		return 0, 0
	}
	if p+2 <= len(s.v) && isOrdinal(s.v[p-n:p+2]) {
		p += 2
	}
	end := p
	for p < len(s.v) && p-end < 2 && (s.v[p] == ',' || s.v[p] == ' ' || s.v[p] == '-') {
		p++
	}
	if y, n := s.number(p); p > end && n == 4 && year(y) {
		return p + n, 0.8
	}
	return end, 0.6
}

// monthSecond reads what follows a day: March, of March, March 2024.
func (s *coreScanner) monthSecond(p int) int {
	if p+3 <= len(s.v) && isOf(s.v[p:p+2]) && s.v[p+2] == ' ' {
		p += 3
	}
	e := p
	for e < len(s.v) && isLetter(s.v[e]) {
		e++
	}
	if monthOf(s.v[p:e]) == 0 {
		return 0
	}
	p = e
	for p < len(s.v) && p-e < 3 && (s.v[p] == '.' || s.v[p] == ',' || s.v[p] == ' ' || s.v[p] == '-') {
		p++
	}
	if y, n := s.number(p); p > e && n == 4 && year(y) {
		return p + n
	}
	return e
}

// clock reads a time such as 10:30, 10:30:15.123Z, 10:30 am and 10:30+02:00.
func (s *coreScanner) clock(p int) (end int, score float32) {
	v := s.v
	h, n := s.number(p)
	if n == 0 || n > 2 || h > 24 {
		return 0, 0
	}
	p += n
	score = 0.4
	if m, n := s.number(p + 1); p < len(v) && v[p] == ':' && n == 2 && m < 60 {
		p += 1 + n
		if sec, n := s.number(p + 1); p < len(v) && v[p] == ':' && n == 2 && sec < 61 {
			p += 1 + n
			score = 0.6
			if _, n := s.number(p + 1); p < len(v) && v[p] == '.' && n > 0 {
				p += 1 + n
			}
		}
		if p < len(v) && (v[p] == 'Z' || v[p] == 'z') {
			p, score = p+1, 0.6
		} else if p < len(v) && (v[p] == '+' || v[p] == '-') {
			if _, n := s.number(p + 1); n == 2 || n == 4 {
				p += 1 + n
				if _, n := s.number(p + 1); p < len(v) && v[p] == ':' && n == 2 {
					p += 1 + n
				}
			}
		}
	} else {
		score = 0
	}
	if d := p; d < len(v) {
		if v[d] == ' ' {
			d++
		}
		e := d
		for e < len(v) && (isLetter(v[e]) || v[e] == '.') {
			e++
		}
		if isDaytime(v[d:e]) {
			p, score = d+len(trimPoint(v[d:e])), 0.6
		}
	}
	if score == 0 || p < len(v) && isWord(v[p]) || s.more(p, ':') {
		return 0, 0
	}
	return p, score
}

// number reads a number of at most 9 digits at p. n is the number of its digits; 0 for none, or for more.
func (s *coreScanner) number(p int) (value, n int) {
	for p+n < len(s.v) && isDigit(s.v[p+n]) {
		if n == 9 {
			return 0, 0
		}
		value = value*10 + int(s.v[p+n]-'0')
		n++
	}
	return value, n
}
