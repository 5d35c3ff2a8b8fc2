package tagger

import "errors"

const (
	indexBits  = 22 // of a feature that tell it from others
	weightBits = 18 // of the number of slots
	weightSize = 1 + Tags - 1
	weightMask = 1<<weightBits - 1
	farthest   = 15

	// learnedBonus speaks for a name that was found before. Training texts are too short to tell how much.
	learnedBonus = 40
)

// MostFeatures is the highest number of features that weights are kept for.
const MostFeatures = (1 << weightBits) * 85 / 100

// Feature is a feature with its weights for each tag but Other, relative to that.
type Feature struct {
	Index   uint32
	Weights [Tags - 1]int8
}

// Weights says how much each feature speaks for each tag. It is a hash table in the form in which it
// ships. A slot has the distance from its home, in its lower four bits, with the bits of the feature that its home does not tell,
// and the weights. Slots with a common home are in order, so a search ends early.
type Weights struct{ slots string }

// NewWeights returns the weights that table is.
func NewWeights(table string) (Weights, error) {
	if len(table) != weightSize<<weightBits {
		return Weights{}, errors.New("weights have an unexpected size")
	}
	return Weights{slots: table}, nil
}

// MakeWeights returns the table of weights. Features that find no place are left out.
func MakeWeights(features []Feature) []byte {
	table := make([]byte, weightSize<<weightBits)
	for _, f := range features {
		home := f.Index & weightMask
		slot := [weightSize]byte{byte(f.Index>>weightBits)<<4 | 1}
		for tag, w := range f.Weights {
			slot[tag+1] = byte(w)
		}
		for at := home; slot[0]&15 <= farthest; at = (at + 1) & weightMask {
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

// Choose returns the tag with the highest score, and by how much it is higher than the next one that is allowed.
func (w Weights) Choose(c *Candidate) (Tag, int32) {
	var score [Tags]int32
	for _, f := range c.Features {
		w.sum(f&(1<<indexBits-1), &score)
	}
	if c.Learned {
		score[Person] += learnedBonus
		score[PersonInside] += learnedBonus
	}
	best, next := Other, int32(-1<<31)
	for tag := Person; tag < Tags; tag++ {
		switch {
		case !c.Allowed.Has(tag):
		case score[tag] > score[best]:
			best, next = tag, score[best]
		default:
			next = max(next, score[tag])
		}
	}
	return best, score[best] - next
}

func (w Weights) sum(index uint32, score *[Tags]int32) {
	want := byte(index>>weightBits)<<4 | 1
	for at := index & weightMask; ; at = (at + 1) & weightMask {
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
