package words

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// purpose is what an automaton looks for a word for.
type purpose uint8

const (
	keyword purpose = iota // it is to be found
	prefix                 // a pattern can begin with it
	inner                  // a pattern cannot match without it
)

// use is what a word is for: a keyword's index, or a pattern's.
type use struct {
	what  purpose
	index int
}

// automaton is the one of Aho and Corasick, over classes of characters: all cases of a character have
// the same class, and those that are in no word have class 0.
type automaton struct {
	ascii  [utf8.RuneSelf]int32
	others map[rune]int32
	root   []int32 // by class: the next node
	nodes  []node
	edges  []edge
	uses   []use
}

// node is a beginning of words.
type node struct {
	edges, edgesEnd int32 // in edges
	uses, usesEnd   int32 // in uses: of the words that end here
	fail            int32 // the longest suffix that is a node
	hit             int32 // this node or the longest suffix with uses; 0 for none
	depth           int32 // in characters
	keyword         bool  // more text can make it a keyword
	prefix          bool  // more text can make it the prefix of a pattern
}

type edge struct {
	class int32
	to    int32
}

// fold returns the character that stands for all cases of r.
func fold(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// builder makes an automaton.
type builder struct {
	a        *automaton
	classes  map[rune]int32 // by folded character
	children []map[int32]int32
	uses     [][]use
	whole    bool // a keyword is one only if a character after it says so
}

func newBuilder(whole bool) *builder {
	return &builder{
		a:       &automaton{others: make(map[rune]int32), nodes: make([]node, 1)},
		classes: make(map[rune]int32), children: []map[int32]int32{{}}, uses: [][]use{nil}, whole: whole,
	}
}

// class returns the class of a character, which may be a new one.
func (b *builder) class(r rune) int32 {
	folded := fold(r)
	if c, ok := b.classes[folded]; ok {
		return c
	}
	c := int32(len(b.classes) + 1)
	b.classes[folded] = c
	for next := folded; ; {
		if next < utf8.RuneSelf {
			b.a.ascii[next] = c
		} else {
			b.a.others[next] = c
		}
		if next = unicode.SimpleFold(next); next == folded {
			return c
		}
	}
}

// add adds a word.
func (b *builder) add(word string, u use) {
	at := int32(0)
	for _, r := range word {
		b.opens(at, u)
		c := b.class(r)
		to, ok := b.children[at][c]
		if !ok {
			to = int32(len(b.children))
			b.children[at][c] = to
			b.children, b.uses = append(b.children, map[int32]int32{}), append(b.uses, nil)
			b.a.nodes = append(b.a.nodes, node{})
		}
		at = to
	}
	b.uses[at] = append(b.uses[at], u)
	if b.whole && u.what == keyword {
		b.opens(at, u)
	}
}

// opens notes that what ends with a node may go on.
func (b *builder) opens(at int32, u use) {
	switch u.what {
	case keyword:
		b.a.nodes[at].keyword = true
	case prefix:
		b.a.nodes[at].prefix = true
	case inner: // as long as a pattern can match, its threads live
	}
}

// build returns the automaton.
func (b *builder) build() *automaton {
	a := b.a
	a.root = make([]int32, len(b.classes)+1)
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		n := &a.nodes[at]
		n.uses = int32(len(a.uses))
		a.uses = append(a.uses, b.uses[at]...)
		n.usesEnd, n.edges = int32(len(a.uses)), int32(len(a.edges))
		if n.hit = a.nodes[n.fail].hit; n.uses < n.usesEnd {
			n.hit = at
		}
		for c, to := range b.children[at] {
			a.edges = append(a.edges, edge{c, to})
			child := &a.nodes[to]
			child.depth = n.depth + 1
			if at == 0 {
				a.root[c] = to
			} else {
				child.fail = a.step(n.fail, c)
			}
			queue = append(queue, to)
		}
		n.edgesEnd = int32(len(a.edges))
		slices.SortFunc(a.edges[n.edges:], func(x, y edge) int { return int(x.class) - int(y.class) })
	}
	return a
}

// step returns the node after a character of a class.
func (a *automaton) step(at, class int32) int32 {
	if class == 0 {
		return 0
	}
	for at != 0 {
		n := &a.nodes[at]
		edges := a.edges[n.edges:n.edgesEnd]
		if len(edges) > 8 {
			i, ok := slices.BinarySearchFunc(edges, class, func(e edge, c int32) int { return int(e.class) - int(c) })
			if ok {
				return edges[i].to
			}
		} else {
			for _, e := range edges {
				if e.class == class {
					return e.to
				}
			}
		}
		at = n.fail
	}
	return a.root[class]
}

// literals looks for keywords and the literals of patterns in the block, and after it as far as its matches can go.
func (s *scanner) literals() {
	s.hits = s.hits[:0]
	clear(s.needed)
	a, at, i := s.e.words, int32(0), s.from
	stop := min(s.to+longest, len(s.text))
	for i < stop {
		var class int32
		if c := s.text[i]; c < utf8.RuneSelf {
			class = a.ascii[c]
			i++
		} else {
			r, size := utf8.DecodeRune(s.text[i:])
			class = a.others[r]
			i += size
		}
		if at = a.step(at, class); at == 0 {
			continue
		}
		for hit := a.nodes[at].hit; hit != 0; hit = a.nodes[a.nodes[hit].fail].hit {
			s.ends(hit, i)
		}
	}
	if stop == len(s.text) && !s.end {
		s.unfinished(at)
	}
}

// unfinished finds the earliest start of what may become a keyword or the prefix of a pattern. at is the node at the
// end of the text.
func (s *scanner) unfinished(at int32) {
	for ; at != 0; at = s.e.words.nodes[at].fail {
		n := &s.e.words.nodes[at]
		if !n.keyword && !n.prefix {
			continue
		}
		start := back(s.text, len(s.text), n.depth)
		if start < s.to && len(s.text)-start <= longest && (n.prefix || !s.e.whole || !wordBefore(s.text, start)) {
			s.open = min(s.open, start)
			return
		}
	}
}

// ends notes what ends at a place.
func (s *scanner) ends(at int32, end int) {
	n := &s.e.words.nodes[at]
	start := back(s.text, end, n.depth)
	for _, u := range s.e.words.uses[n.uses:n.usesEnd] {
		switch u.what {
		case keyword:
			if !s.e.whole || !wordBefore(s.text, start) && (end < len(s.text) || s.end) && !wordAfter(s.text, end) {
				s.offer(start, end, u.index)
			}
		case prefix:
			if start < s.to {
				s.hits = append(s.hits, hit{u.index, start})
			}
		case inner:
			s.needed[u.index] = true
		}
	}
}

// back returns the place some characters before another.
func back(text []byte, at int, characters int32) int {
	for ; characters > 0; characters-- {
		if text[at-1] < utf8.RuneSelf {
			at--
			continue
		}
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return at
}

func wordBefore(text []byte, at int) bool {
	r, size := utf8.DecodeLastRune(text[:at])
	return size > 0 && inWord(r)
}

func wordAfter(text []byte, at int) bool {
	r, size := utf8.DecodeRune(text[at:])
	return size > 0 && inWord(r)
}

// inWord reports whether a character is part of a word.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r-'0' < 10 && r >= '0' || r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
