package tagger

import "errors"

const (
	indexBits  = 22 // of a feature that tell it from others
	slotCount  = 419_400
	weightSize = 1 + Tags - 1
	farthest   = 15
)

// MostFeatures is the highest number of features that weights are kept for.
const MostFeatures = slotCount * 85 / 100

// Feature is a feature with its weights for each tag but Other, relative to that.
type Feature struct {
	Index   uint32
	Weights [Tags - 1]int8
}

// Weights says how much each feature speaks for each tag. It is a hash table in the form in which it
// ships. A slot has a byte and the weights. The byte has the distance from the slot's home in its lower four bits, and the lower four
// bits of the feature, which tell it from the others with this home. The farther from home a feature is, the earlier it takes a slot, so a
// search ends early.
type Weights struct {
	slots   string
	margins Margins
}

// Margins move the balance between what is found and what is right. They add to the scores of a name.
type Margins struct {
	Person, Location int32 // of the first word of each
	NewPerson        int32 // of the first word of a person's name that no list of names has
	NewPlace         int32 // of the first word of a place that no list of places has
	Learned          int32 // of a word that was in a person's name before
}

// NewWeights returns the weights that table is.
func NewWeights(table string, margins Margins) (Weights, error) {
	if len(table) != weightSize*slotCount {
		return Weights{}, errors.New("weights have an unexpected size")
	}
	return Weights{slots: table, margins: margins}, nil
}

// MakeWeights returns the table of weights. Features that find no place are left out.
func MakeWeights(features []Feature) []byte {
	table := make([]byte, weightSize*slotCount)
	for _, f := range features {
		slot := [weightSize]byte{byte(f.Index)<<4 | 1}
		for tag, w := range f.Weights {
			slot[tag+1] = byte(w)
		}
		for at := home(f.Index); ; at = next(at) {
			there := table[at*weightSize:][:weightSize]
			if there[0] == 0 {
				copy(there, slot[:])
				break
			}
			if there[0]&15 < slot[0]&15 {
				var other [weightSize]byte
				copy(other[:], there)
				copy(there, slot[:])
				slot = other
			}
			if slot[0]&15 == farthest {
				break
			}
			slot[0]++
		}
	}
	return table
}

// home returns the slot where the search for a feature begins.
func home(index uint32) uint32 { return uint32(uint64(index) * slotCount >> indexBits) }

func next(slot uint32) uint32 {
	if slot++; slot < slotCount {
		return slot
	}
	return 0
}

// Choose returns the tag with the highest score, and by how much it is higher than the next one that is allowed.
func (w Weights) Choose(c *Candidate) (Tag, int32) {
	var score [Tags]int32
	for _, f := range c.Features {
		w.sum(f&(1<<indexBits-1), &score)
	}
	score[Person] += w.margins.NewPerson
	if c.Person {
		score[Person] += w.margins.Person - w.margins.NewPerson
	}
	score[Location] += w.margins.NewPlace
	if c.Place {
		score[Location] += w.margins.Location - w.margins.NewPlace
	}
	if c.Learned {
		score[Person] += w.margins.Learned
		score[PersonInside] += w.margins.Learned
	}
	best, second := Other, int32(-1<<31)
	for tag := Person; tag < Tags; tag++ {
		switch {
		case !c.Allowed.Has(tag):
		case score[tag] > score[best]:
			best, second = tag, score[best]
		default:
			second = max(second, score[tag])
		}
	}
	return best, score[best] - second
}

func (w Weights) sum(index uint32, score *[Tags]int32) {
	want := byte(index)<<4 | 1
	for at := home(index); ; at = next(at) {
		slot := w.slots[at*weightSize:][:weightSize]
		if slot[0] == want {
			score[Person] += int32(int8(slot[1]))
			score[PersonInside] += int32(int8(slot[2]))
			score[Location] += int32(int8(slot[3]))
			score[LocationInside] += int32(int8(slot[4]))
			return
		}
		if slot[0]&15 < want&15 || want&15 == farthest {
			return
		}
		want++
	}
}
