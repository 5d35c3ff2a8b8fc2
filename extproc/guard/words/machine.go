package words

import (
	"math/bits"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// starts is a set of places, each by its lowest 8 bits. Those in one set are less than 256 bytes apart.
type starts [4]uint64

func startAt(at int) (s starts) {
	s[at>>6&3] = 1 << (at & 63)
	return s
}

func (s *starts) empty() bool { return s[0]|s[1]|s[2]|s[3] == 0 }

func (s *starts) add(o *starts) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s *starts) remove(o *starts) {
	for i := range s {
		s[i] &^= o[i]
	}
}

// machine simulates the program of one pattern after the other.
type machine struct {
	s       *scanner
	p       *pattern
	name    int
	at      int
	flags   syntax.EmptyOp // that hold at this place
	waiting threads        // before what needs no character is followed
	ready   threads        // at instructions that take a character
}

// threads are the living starts by instruction. The sets of instructions that are not in the list are empty.
type threads struct {
	sets []starts
	list []uint32
}

func newMachine(size int) *machine {
	return &machine{waiting: threads{sets: make([]starts, size)}, ready: threads{sets: make([]starts, size)}}
}

// join adds starts to an instruction, and returns those that are new there.
func (t *threads) join(pc uint32, s starts) starts {
	set := &t.sets[pc]
	if set.empty() {
		t.list = append(t.list, pc)
	}
	s.remove(set)
	set.add(&s)
	return s
}

func (t *threads) clear() {
	for _, pc := range t.list {
		t.sets[pc] = starts{}
	}
	t.list = t.list[:0]
}

// simulate tries the patterns in the block.
func (s *scanner) simulate() {
	slices.SortFunc(s.hits, func(a, b hit) int {
		if a.pattern != b.pattern {
			return a.pattern - b.pattern
		}
		return a.start - b.start
	})
	s.m.s = s
	seen := s.end || s.to+longest <= len(s.text) // all that matches of the block can have
	hits := s.hits
	for i, p := range s.e.patterns {
		mine := hits
		for len(hits) > 0 && hits[0].pattern == i {
			hits = hits[1:]
		}
		mine = mine[:len(mine)-len(hits)]
		switch {
		case p.prefixes != nil && len(mine) == 0:
		case p.needs != nil && !s.needed[i] && seen:
		default:
			s.m.p, s.m.name = p, s.e.keywords+i
			s.m.run(mine)
		}
	}
}

// next returns the first place from at on where the pattern is to be tried.
func (m *machine) next(at int, hits []hit) (int, []hit) {
	if m.p.prefixes != nil {
		for len(hits) > 0 && hits[0].start < at {
			hits = hits[1:]
		}
		if len(hits) == 0 {
			return len(m.s.text) + 1, nil
		}
		return hits[0].start, hits
	}
	for ; at < m.s.to; at++ {
		if c := m.s.text[at]; m.p.begins[c]&1 != 0 && utf8.RuneStart(c) && m.p.possible(m.s.text[at:], m.s.end) {
			return at, nil
		}
	}
	return len(m.s.text) + 1, nil
}

// run tries the pattern. hits are the places where its prefixes are.
func (m *machine) run(hits []hit) {
	text := m.s.text
	m.waiting.clear()
	begin, hits := m.next(m.s.from, hits)
	for m.at = begin; ; {
		if len(m.waiting.list) == 0 {
			if m.at = begin; m.at > len(text) {
				return
			}
		}
		if m.at == len(text) && !m.s.end {
			m.unfinished()
			return
		}
		after, size := rune(-1), 0
		if m.at < len(text) {
			after, size = utf8.DecodeRune(text[m.at:])
		}
		m.close(after, m.at == begin)
		if m.at == begin {
			begin, hits = m.next(m.at+1, hits)
		}
		if size == 0 {
			m.ready.clear()
			return
		}
		m.at += size
		for _, pc := range m.ready.list {
			inst, set := &m.p.prog.Inst[pc], &m.ready.sets[pc]
			if inst.MatchRune(after) {
				m.waiting.join(inst.Out, *set)
			}
			*set = starts{}
		}
		m.ready.list = m.ready.list[:0]
	}
}

// close takes all threads to the next instructions that take a character, which after is, and notes matches. A thread
// begins here if begins.
func (m *machine) close(after rune, begins bool) { //nolint:revive // says what is at this place, and is no mode
	before := rune(-1)
	if m.at > 0 {
		before, _ = utf8.DecodeLastRune(m.s.text[:m.at])
	}
	m.flags = syntax.EmptyOpContext(before, after)
	var dead starts
	for i := 1; i <= utf8.UTFMax; i++ { // what has become too long with the last character
		one := startAt(m.at - longest - i)
		dead.add(&one)
	}
	for _, pc := range m.waiting.list {
		set := m.waiting.sets[pc]
		m.waiting.sets[pc] = starts{}
		set.remove(&dead)
		m.follow(pc, set)
	}
	m.waiting.list = m.waiting.list[:0]
	if begins {
		m.follow(uint32(m.p.prog.Start), startAt(m.at))
	}
}

// follow takes threads to the instructions that take a character.
func (m *machine) follow(pc uint32, set starts) {
	inst := &m.p.prog.Inst[pc]
	if inst.Op == syntax.InstFail || set.empty() {
		return
	}
	if set = m.ready.join(pc, set); set.empty() {
		return
	}
	switch inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		m.follow(inst.Out, set)
		m.follow(inst.Arg, set)
	case syntax.InstCapture, syntax.InstNop:
		m.follow(inst.Out, set)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(inst.Arg)&^m.flags == 0 {
			m.follow(inst.Out, set)
		}
	case syntax.InstMatch:
		m.each(set, func(start int) { m.s.offer(start, m.at, m.name) })
	case syntax.InstFail, syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
	}
}

// each calls f with each start of a set.
func (m *machine) each(set starts, f func(start int)) {
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			f(m.at - (m.at-(i<<6|bits.TrailingZeros64(word)))&255)
		}
	}
}

// unfinished finds the earliest start that may become a match, or a longer one, with more text.
func (m *machine) unfinished() {
	for _, pc := range m.waiting.list {
		inst := &m.p.prog.Inst[pc]
		for inst.Op == syntax.InstCapture || inst.Op == syntax.InstNop {
			inst = &m.p.prog.Inst[inst.Out]
		}
		ends := inst.Op == syntax.InstMatch
		m.each(m.waiting.sets[pc], func(start int) {
			if ends {
				m.s.offer(start, m.at, m.name)
			} else if m.at-start <= longest {
				m.s.open = min(m.s.open, start)
			}
		})
	}
	m.waiting.clear()
}
