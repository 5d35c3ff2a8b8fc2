package tagger

import "maps"

// Tag is what a token is.
type Tag uint8

// Other is no name. A name begins with a token of the first tag of its kind, and goes on with the second.
const (
	Other Tag = iota
	Person
	PersonInside
	Location
	LocationInside
	Tags = iota // number of tags
)

// Set is a set of tags.
type Set uint8

const (
	beginning = Set(1<<Other | 1<<Person | 1<<Location)
	person    = Set(1 << PersonInside)
	location  = Set(1 << LocationInside)
)

// Has reports whether a tag is in the set.
func (s Set) Has(t Tag) bool { return s>>t&1 != 0 }

const (
	ahead   = 150 // bytes after the beginning of a candidate that may decide it
	lengthy = 96  // bytes of the longest name
	most    = 4096
)

// Candidate is a token that needs a tag.
type Candidate struct {
	Start, End int      // in bytes of the text
	Features   []uint32 // hashes; valid until the next candidate
	Allowed    Set
	Person     bool // a list of given or family names has the word
	Place      bool // a list of places has the word, or it and a neighbour
	Learned    bool // the word was in a person's name before, and is not usual in lower case
}

// Choose returns the tag of a candidate, which is one of those allowed, and how certain that is.
type Choose func(*Candidate) (Tag, int32)

// Name is a name in the text.
type Name struct {
	Start, End int
	Tag        Tag   // Person or Location
	Margin     int32 // the lowest of its tokens
}

// Tagger reads the texts of one request, one after the other.
type Tagger struct {
	lexicon Lexicon
	at      state // of what is decided
	names   map[uint32]uint8
	list    list
}

// state is what a decision depends on, other than the candidate and what follows it.
type state struct {
	before [3]token // the tokens before, the last one first
	tags   [2]Tag   // their tags
	space  space    // since the last token
}

// What was learned of a word.
const (
	learnedFirst = 1 << iota // the first word of a person's name
	learnedLast              // another word of a person's name
	learnedPlace
)

// New returns a tagger.
func New(lexicon Lexicon) *Tagger {
	t := &Tagger{lexicon: lexicon}
	t.Begin()
	return t
}

// Begin begins another text.
func (t *Tagger) Begin() {
	t.at = state{space: space{size: 8, lines: 2}}
}

// Reset forgets the names of the texts before, and begins another one.
func (t *Tagger) Reset() {
	clear(t.names)
	t.Begin()
}

// Fork returns a tagger that knows the names that this one has found.
func (t *Tagger) Fork() *Tagger {
	f := New(t.lexicon)
	if len(t.names) > 0 {
		f.names = maps.Clone(t.names)
	}
	return f
}

// open is a name whose end is not decided.
type open struct {
	Name
	words [8]uint32 // hashes of its words other than particles
	n     int       // number of words
	after state     // after the last such word
}

// Scan reads a text from at on, where the call before has stopped. It appends the names it finds, and returns
// where it has stopped.
func (t *Tagger) Scan(in Text, at int, choose Choose, found []Name) ([]Name, int) {
	s, decided := t.at, at
	var name open
	for i := at; ; {
		i = skip(in.Bytes, i, &s.space)
		if name.n == 0 {
			t.at, decided = s, i
		}
		cur, st := t.lexicon.scan(in, i)
		ends := name.n > 0 && (st == none || s.space.gap() > gapSpace)
		var tag Tag
		var margin int32
		if !ends {
			if st != complete {
				return found, decided
			}
			cur.gap = s.space.gap()
			tag, margin = Other, 0
			if allowed := t.allowed(&cur, &s, &name); allowed != 1<<Other {
				var after [2]token
				if !t.lookahead(in, &cur, &after) {
					return found, decided
				}
				tag, margin = choose(t.candidate(in.Bytes, &cur, &s, &after, allowed))
			}
			ends = name.n > 0 && tag != PersonInside && tag != LocationInside
		}
		if ends {
			found = append(found, name.Name)
			t.learn(&name)
			i, s = name.End, name.after // what follows is read again, with what was learned
			name.n = 0
			continue
		}
		s.push(cur, tag)
		i = cur.end
		name.add(&cur, tag, margin, &s)
	}
}

// push makes a token the last one.
func (s *state) push(cur token, tag Tag) {
	s.before[2], s.before[1], s.before[0] = s.before[1], s.before[0], cur
	s.tags[1], s.tags[0] = s.tags[0], tag
	s.space = space{}
}

// allowed returns the tags that a token may have.
func (t *Tagger) allowed(cur *token, s *state, name *open) Set {
	allowed := Set(1 << Other)
	candidate := cur.candidate()
	if candidate {
		allowed = beginning
	}
	if name.n > 0 && cur.end-name.Start <= lengthy && (candidate || joining(cur, s)) {
		if name.Tag == Person {
			return allowed | person
		}
		return allowed | location
	}
	return allowed
}

// joining reports whether a token that is no candidate may be in a name: a particle, or the period of an initial.
func joining(cur *token, s *state) bool {
	if cur.shape == shapePunctuation {
		return cur.word == period() && cur.gap == gapNone && (s.before[0].shape == shapeInitial || s.before[0].known&Title != 0)
	}
	return cur.known&Particle != 0 && cur.gap == gapSpace
}

func period() uint32 { return mix('.') }

// lookahead reads the tokens after a candidate that may decide it. It returns false if more text
// may change them.
func (t *Tagger) lookahead(in Text, cur *token, after *[2]token) bool {
	window := Text{Bytes: in.Bytes[:min(len(in.Bytes), cur.start+ahead)]}
	window.Ends = in.Ends && len(window.Bytes) == len(in.Bytes)
	for n, i := 0, cur.end; n < len(after); n++ {
		var sp space
		i = skip(window.Bytes, i, &sp)
		if sp.lines > 0 {
			after[n].shape = shapeEnd
			return true
		}
		next, st := t.lexicon.scan(window, i)
		switch {
		case st == more && len(in.Bytes) < cur.start+ahead:
			return false
		case st == none:
			after[n].shape = shapeEnd
			return true
		case st == more:
			return true
		}
		next.gap = sp.gap()
		after[n], i = next, next.end
	}
	return true
}

// add adds a token to the name.
func (n *open) add(cur *token, tag Tag, margin int32, s *state) {
	switch tag {
	case Person, Location:
		n.Name, n.n = Name{Start: cur.start, Tag: tag, Margin: margin}, 0
	case PersonInside, LocationInside:
		if !cur.candidate() && (cur.shape != shapePunctuation || s.before[1].shape != shapeInitial) {
			return // a name does not end with it
		}
	case Other:
		return
	}
	n.End, n.after = cur.end, *s
	n.Margin = min(n.Margin, margin)
	if n.n < len(n.words) && cur.shape != shapePunctuation {
		n.words[n.n] = cur.word
		n.n++
	}
}

// learn remembers the words of a name for the rest of the request.
func (t *Tagger) learn(name *open) {
	if t.names == nil {
		t.names = make(map[uint32]uint8)
	}
	if len(t.names) >= most {
		return
	}
	for i, word := range name.words[:name.n] {
		switch {
		case name.Tag == Location:
			t.names[word] |= learnedPlace
		case i == 0:
			t.names[word] |= learnedFirst
		default:
			t.names[word] |= learnedLast
		}
	}
}
