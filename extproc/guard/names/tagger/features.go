package tagger

import "unicode/utf8"

// list is the features of one candidate, in memory that is used again.
type list struct {
	candidate Candidate
	features  [96]uint32
	n         int
	letters   [longest + utf8.UTFMax]rune // of the candidate, folded
}

// add adds a feature: its number, and up to three values.
func (l *list) add(number, a, b, c uint32) {
	h := number*0x9E3779B1 ^ a
	h = (h ^ h>>15) * 0x2c1b3c6d
	h ^= b * 0x85ebca6b
	h = (h ^ h>>13) * 0x297a2d39
	h ^= c * 0xc2b2ae35
	h = (h ^ h>>16) * 0x7feb352d
	l.features[l.n] = h ^ h>>15
	l.n++
}

// view is what features see of a token.
type view struct {
	word, shape uint32
	class       uint32 // what the lexicon says, in all detail
	coarse      uint32 // the same, with fewer values
}

// Borders of lines, in the place of a token.
const (
	lineWord = 1 + iota
	paragraphWord
	endWord
)

func border(word uint32) view { return view{word: word, shape: 64 + word} }

func (t token) view() view {
	if t.shape == shapeEnd {
		return border(endWord)
	}
	if t.shape == shapeNumber {
		return view{word: uint32(min(t.end-t.start, 5)), shape: uint32(t.shape)}
	}
	if t.shape == shapePunctuation {
		return view{word: t.word, shape: t.word}
	}
	k := t.known
	v := view{word: t.word, shape: uint32(t.shape), class: k}
	lower := k >> LowerShift & 7
	v.coarse = 1 << 12
	for i, set := range [...]bool{
		k>>GivenShift&3 > 1, k>>GivenShift&3 > 0, k>>FamilyShift&3 > 1, k>>FamilyShift&3 > 0, k>>PlaceShift&3 > 1, k>>PlaceShift&3 > 0,
		k&Country != 0, k&(Title|OrgWord) != 0, lower > 1, lower > 5, k == 0,
	} {
		if set {
			v.coarse |= 1 << i
		}
	}
	return v
}

// around is what features see of the tokens around a candidate.
type around struct {
	cur           view
	before        [3]view
	after         [2]view
	places        uint32 // which pairs of neighbours are in names of places
	learned       uint32 // what is known of the candidate and the words after from earlier names
	tags          uint32
	tag           uint32
	lineStart     bool
	sentenceStart bool
}

// candidate describes a candidate.
func (t *Tagger) candidate(text []byte, cur *token, s *state, after *[2]token, allowed Set) *Candidate {
	a := around{cur: cur.view(), tag: uint32(s.tags[0]), tags: uint32(s.tags[0])<<4 | uint32(s.tags[1])}
	gap := cur.gap
	for i, at := 0, 0; i < len(a.before); i++ {
		switch {
		case gap >= gapLine:
			a.before[i] = border(uint32(gap - gapLine + lineWord))
			gap = gapNone
		default:
			a.before[i] = s.before[at].view()
			gap = s.before[at].gap
			at++
		}
	}
	a.after[0], a.after[1] = after[0].view(), after[1].view()
	if after[0].shape == shapeEnd {
		a.after[1] = border(endWord)
	}
	a.lineStart = cur.gap >= gapLine
	a.sentenceStart = a.lineStart || sentenceEnd(s.before[0].word) || s.before[0].shape == shapePunctuation && sentenceEnd(s.before[1].word)
	if cur.gap <= gapSpace {
		a.places = t.pair(s.before[0].word, cur.word) << 2
	}
	a.places |= t.pair(cur.word, after[0].word)
	if len(t.names) > 0 {
		a.learned = uint32(t.names[cur.word])
		if next := t.names[after[0].word]; next != 0 && after[0].gap == gapSpace {
			a.learned |= uint32(next) << 4
		}
	}
	t.list.describe(text, cur, &a)
	c := &t.list.candidate
	*c = Candidate{Start: cur.start, End: cur.end, Features: t.list.features[:t.list.n], Allowed: allowed}
	c.Person = cur.known&(3<<GivenShift|3<<FamilyShift) != 0
	c.Place = cur.known&(3<<PlaceShift|Country) != 0 || a.places != 0
	c.Learned = a.learned&(learnedFirst|learnedLast) != 0 && cur.known>>LowerShift&7 < 4 && after[0].known&OrgWord == 0
	return c
}

func sentenceEnd(word uint32) bool {
	return word == period() || word == mix('!') || word == mix('?')
}

// pair returns the rank of a place whose name has two words in this order, or 0.
func (t *Tagger) pair(first, second uint32) uint32 {
	return t.lexicon.Word(HashPair(first, second)) >> PlaceShift & 3
}

// describe makes the features.
func (l *list) describe(text []byte, cur *token, a *around) {
	l.n = 0
	c, p, n := &a.cur, &a.before, &a.after
	var start uint32
	if a.sentenceStart {
		start = 1
	}
	if a.lineStart {
		start = 2
	}
	glue := uint32(cur.next)<<8 | uint32(cur.gap)
	for i, v := range [...][3]uint32{
		{0, 0, 0},
		{c.word, 0, 0},
		{c.shape, start, 0},
		{c.class, 0, 0},
		{c.class, c.shape, start},
		{c.word, c.shape, 0},
		{c.coarse, c.shape, a.tag},
		{a.tags, c.shape, 0},
		{a.tag, c.word, 0},
		{a.tag, p[0].word, 0},
		{p[0].word, 0, 0},
		{p[1].word, 0, 0},
		{n[0].word, 0, 0},
		{n[1].word, 0, 0},
		{p[0].word, c.coarse, 0},
		{n[0].word, c.coarse, 0},
		{p[1].word, p[0].word, 0},
		{n[0].word, n[1].word, 0},
		{p[0].word, n[0].word, 0},
		{p[0].coarse, c.coarse, p[0].shape},
		{c.coarse, n[0].coarse, n[0].shape},
		{p[0].coarse, c.coarse, n[0].coarse},
		{p[0].shape, c.shape, n[0].shape},
		{c.shape, n[0].shape, n[1].shape},
		{p[1].shape, p[0].shape, c.shape},
		{p[0].word, c.shape, n[0].shape},
		{glue, c.shape, 0},
		{glue, c.coarse, p[0].shape},
		{p[0].class, 0, 0},
		{n[0].class, n[0].shape, 0},
		{p[1].class, 0, 0},
		{n[1].class, n[1].shape, 0},
		{c.coarse, start, 0},
		{c.coarse, start, n[0].word},
		{p[2].word, p[1].word, p[0].word},
		{p[1].word, c.coarse, p[0].shape},
		{n[1].word, c.coarse, n[0].shape},
	} {
		l.add(uint32(i), v[0], v[1], v[2])
	}
	if a.places != 0 {
		l.add(44, a.places, 0, 0)
		l.add(45, a.places, c.coarse, a.tag)
	}
	if a.learned != 0 {
		l.add(46, a.learned, 0, 0)
		l.add(47, a.learned, c.coarse, 0)
		l.add(48, a.learned, a.tag, c.shape)
		l.add(49, a.learned, start, p[0].shape)
	}
	l.affixes(text, cur, a)
}

// affixes makes the features of the letters.
func (l *list) affixes(text []byte, cur *token, a *around) {
	r := l.letters[:0]
	for _, c := range string(text[cur.start:cur.end]) {
		if f := fold(c); f > 0 {
			r = append(r, f)
		}
	}
	size := uint32(min(len(r), 12))
	l.add(60, size, a.cur.shape, 0)
	l.add(61, size, a.cur.coarse, 0)
	h := uint32(hashStart)
	for i := 1; i <= 5 && i <= len(r); i++ {
		h = hashRune(h, r[len(r)-i])
		l.add(62, h, uint32(i), 0)
		if i == 3 {
			l.add(63, h, a.cur.shape, a.tag)
			l.add(64, h, a.cur.coarse, 0)
		}
	}
	h = hashStart
	for i := 1; i <= 4 && i <= len(r); i++ {
		h = hashRune(h, r[i-1])
		if i > 1 {
			l.add(65, h, uint32(i), 0)
		}
	}
}
