package tagger

import (
	"errors"
	"maps"
	"slices"
)

// What the lexicon says of a word. The lower bits are ranks from 0 (not known) to 3 (frequent).
const (
	GivenShift  = 0 // rank as a given name, two bits
	FamilyShift = 2 // rank as a family name, two bits
	PlaceShift  = 4 // rank as a place, two bits
	Country     = 1 << 6
	Function    = 1 << 7  // a function word, such as "the"
	Title       = 1 << 8  // "Dr", "Mrs"
	Particle    = 1 << 9  // "van", "de", "bin"
	OrgWord     = 1 << 10 // "Inc", "University"
	Calendar    = 1 << 11 // months, days, holidays
	LowerName   = 1 << 12 // a name even if it is in lower case
	LowerShift  = 13      // how often the word is in lower case, three bits: 0 not known, 1 never, 7 always
	Demonym     = 1 << 16 // "German"
)

// slotSize is the size of a slot in bytes: what is known of a word, and the upper half of its hash. The
// place of the slot tells the lower half, so one of ten thousand unknown words is taken for another one.
const slotSize = 6

// Lexicon says what is known of words. It is a hash table in the form in which it ships.
type Lexicon struct {
	slots string
	mask  uint32
}

// NewLexicon returns the lexicon that table is.
func NewLexicon(table string) (Lexicon, error) {
	n := len(table) / slotSize
	if n == 0 || n&(n-1) != 0 || len(table)%slotSize != 0 {
		return Lexicon{}, errors.New("the number of slots of a lexicon must be a power of two")
	}
	return Lexicon{slots: table, mask: uint32(n - 1)}, nil
}

// MakeLexicon returns the table of a lexicon. What is known of a word must not be 0.
func MakeLexicon(known map[uint32]uint32) []byte {
	n := 1
	for n*3 < len(known)*4 {
		n *= 2
	}
	table := make([]byte, n*slotSize)
	for _, word := range slices.Sorted(maps.Keys(known)) {
		i := word & uint32(n-1)
		for slot(table, i)&(1<<32-1) != 0 {
			i = (i + 1) & uint32(n-1)
		}
		b := table[i*slotSize:]
		b[4], b[5] = byte(word>>16), byte(word>>24)
		for at := range 4 {
			b[at] = byte(known[word] >> (8 * at))
		}
	}
	return table
}

// Word returns what is known of a word by its hash, or 0.
func (l Lexicon) Word(hash uint32) uint32 {
	for i := hash & l.mask; ; i = (i + 1) & l.mask {
		s := slot(l.slots, i)
		if known := uint32(s); known == 0 || uint32(s>>32) == hash>>16 {
			return known
		}
	}
}

// slot returns a slot: what is known in the lower 32 bits, the hash above.
func slot[T string | []byte](table T, i uint32) uint64 {
	b := table[int(i)*slotSize:][:slotSize]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40
}
