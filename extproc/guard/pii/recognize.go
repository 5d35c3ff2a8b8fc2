package pii

import (
	"bytes"
	"slices"
	"strings"
)

// token is a word of letters and digits within a chunk.
type token struct {
	start, end int
	digits     bool // nothing but digits
	lower      bool // has a small letter
	foreign    bool // has a character that is not of ASCII
}

// candidate is something that has the form of an entity.
type candidate struct {
	start, end int // in the view
	entity     entity
	score      float32
}

// recognize finds what is in the chunk.
func (s *coreScanner) recognize() {
	s.found, s.ctx = s.found[:0], contextAt{place: -1}
	s.split()
	t := s.c.table
	v := s.v
	if len(s.toks) == 0 {
		return
	}
	if t.wants(emailAddress) && bytes.IndexByte(v, '@') > 0 {
		s.emails()
	}
	if t.wants(url) {
		s.urls()
	}
	if bytes.IndexByte(v, ':') >= 0 {
		s.colons()
	}
	for i := range s.toks {
		s.begin(i)
	}
	s.resolve()
}

// split finds the tokens of the chunk.
func (s *coreScanner) split() {
	s.toks = s.toks[:0]
	for i := 0; i < len(s.v); i++ {
		if !isAlnum(s.v[i]) && s.v[i] < 0x80 {
			continue
		}
		t := token{start: i, digits: true}
		for ; i < len(s.v); i++ {
			switch b := s.v[i]; {
			case isDigit(b):
				continue
			case isUpper(b):
			case isLetter(b):
				t.lower = true
			case b >= 0x80:
				t.foreign = true
			default:
				goto out
			}
			t.digits = false
		}
	out:
		t.end = i
		s.toks = append(s.toks, t)
	}
}

func (s *coreScanner) word(i int) []byte { return s.v[s.toks[i].start:s.toks[i].end] }

// begin finds what begins with the token i.
func (s *coreScanner) begin(i int) {
	t := s.c.table
	tok := s.toks[i]
	if tok.foreign || isWord(s.before(tok.start)) {
		return
	}
	if t.wants(dateTime) && tok.end-tok.start <= 10 {
		s.date(i)
	}
	switch n := tok.end - tok.start; {
	case n >= 8:
		s.longToken(i)
	case (n == 2 || n == 4) && t.wants(macAddress):
		s.mac(i)
	}
	if t.wants(ibanCode) && !tok.digits {
		s.iban(i)
	}
	if tok.digits {
		if t.wants(ipAddress) && tok.end-tok.start <= 3 {
			s.ipv4(i)
		}
		if t.wants(creditCard) {
			s.card(i)
		}
		if t.wants(phoneNumber) {
			s.phone(i)
		}
	}
	s.shapes(i)
}

// maxToken bounds the tokens of shapes.
const maxToken = 24

// shapes looks the shapes of the tokens from i on up in the table. A shape has a 9 for each digit, an A for
// each letter, and a hyphen for each space, hyphen or point between tokens, which must be the same.
func (s *coreScanner) shapes(i int) {
	h, separator := hashStart, byte(0)
	text := s.compact[:0]
	joined := s.joined(i)
	for j := i; j < len(s.toks) && j < i+6; j++ {
		tok := s.toks[j]
		if tok.end-tok.start > maxToken || tok.foreign || len(text)+tok.end-tok.start > len(s.compact) {
			return
		}
		if j > i {
			gap := s.v[s.toks[j-1].end:tok.start]
			if len(gap) != 1 || separator != 0 && gap[0] != separator || bytes.IndexByte([]byte(" -./+"), gap[0]) < 0 {
				return
			}
			separator = gap[0]
			h = h.add(shapeOf(separator))
		}
		for _, b := range s.v[tok.start:tok.end] {
			h = h.add(shapeOf(b))
			text = append(text, b)
		}
		rows, ok := s.c.table.shapes[h]
		if !ok || !s.endsAt(tok.end) {
			continue
		}
		for _, n := range rows {
			r := &s.c.table.rows[n]
			if joined && !r.anywhere && !s.numbered(i, r.entity) || tok.lower && !r.small || s.c.table.wants(r.entity) && r.check != nil && !r.check(text) {
				continue
			}
			s.propose(s.toks[i].start, tok.end, r.entity, r.score)
		}
	}
}

// joined reports whether a number stands before the token with only a separator between them, as in
// 1.415-555-0132: what begins with the token is part of something longer.
func (s *coreScanner) joined(i int) bool {
	start := s.toks[i].start
	switch b := s.before(start); b {
	case '-', '.', '/':
		if start > 1 {
			return isDigit(s.v[start-2])
		}
		at := s.base + s.from(start) - 2
		return at >= 0 && isDigit(s.text[at])
	case '$', '#':
		return true
	}
	return false
}

// numbered reports whether the token i is the number that a word of an entity's context announces, as in SSN #536-90-4399.
func (s *coreScanner) numbered(i int, e entity) bool {
	start := s.toks[i].start
	return s.before(start) == '#' && s.contextBefore(start)&s.c.table.contextBit[e] != 0
}

// endsAt reports whether a value can end before p: neither a letter nor a digit follows, and no number after
// a separator.
func (s *coreScanner) endsAt(p int) bool {
	if p >= len(s.v) {
		return true
	}
	if isWord(s.v[p]) {
		return false
	}
	separated := s.v[p] == '-' || s.v[p] == '.' || s.v[p] == '/'
	return !separated || p+1 == len(s.v) || !isDigit(s.v[p+1])
}

// propose adds a candidate if its score, with its context, is high enough.
func (s *coreScanner) propose(start, end int, e entity, score float32) {
	t := s.c.table
	if !t.wants(e) {
		return
	}
	if bit := t.contextBit[e]; bit != 0 && s.contextBefore(start)&bit != 0 {
		score = min(1, max(score+contextBoost, contextLeast))
	}
	if score < s.c.threshold || s.allowed(start, end) {
		return
	}
	s.found = append(s.found, candidate{start, end, e, score})
}

// allowed reports whether a value is in the allow list, in the form that the text has or in its normal form.
func (s *coreScanner) allowed(start, end int) bool {
	return s.c.allow.has(s.v[start:end]) || s.m != nil && s.c.allow.has(s.text[s.base+s.from(start):s.place(end)])
}

// resolve leaves the candidates that do not overlap: of those that do, the longest, then the one with the
// highest score, then the first by name.
func (s *coreScanner) resolve() {
	if len(s.found) < 2 {
		return
	}
	names := s.c.table.names
	slices.SortFunc(s.found, func(a, b candidate) int {
		if d := (b.end - b.start) - (a.end - a.start); d != 0 {
			return d
		}
		if a.score != b.score {
			if a.score > b.score {
				return -1
			}
			return 1
		}
		if d := strings.Compare(names[a.entity], names[b.entity]); d != 0 {
			return d
		}
		return a.start - b.start
	})
	kept := s.found[:0]
next:
	for _, f := range s.found {
		for _, k := range kept {
			if f.start < k.end && k.start < f.end {
				continue next
			}
		}
		kept = append(kept, f)
	}
	s.found = kept
	slices.SortFunc(s.found, func(a, b candidate) int { return a.start - b.start })
}
