package block

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/inject"
)

// ref is the directory entry of a block.
type ref struct {
	first    uint64
	count    uint64
	min, max int64 // lowest and highest time of its records
	// peak is the highest time of the records of this block and of all before it. Query reads no block
	// before this one for a record that is later.
	peak int64
}

func (b ref) last() uint64 { return b.first + b.count - 1 }

const refSize = 4 * 8

func (b ref) encode() []byte {
	out := make([]byte, 0, refSize)
	for _, n := range [...]uint64{b.count, uint64(b.min), uint64(b.max), uint64(b.peak)} {
		out = binary.BigEndian.AppendUint64(out, n)
	}
	return out
}

func decodeRef(first uint64, b []byte) (ref, error) {
	if len(b) != refSize {
		return ref{}, damaged(nil, fmt.Sprintf("The directory entry of the block of records that begins with %d is damaged.", first))
	}
	field := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
	out := ref{first, field(0), int64(field(1)), int64(field(2)), int64(field(3))}
	if out.count == 0 || out.count > Size || out.min > out.max || out.max > out.peak {
		return ref{}, damaged(nil, fmt.Sprintf("The directory entry of the block of records that begins with %d is damaged.", first))
	}
	return out, nil
}

// refOf returns the directory entry of records. peak is the highest time before them.
func refOf(records []unpacked, peak int64) ref {
	out := ref{first: records[0].Number, count: uint64(len(records)), min: records[0].Time, max: records[0].Time}
	for _, r := range records[1:] {
		out.min, out.max = min(out.min, r.Time), max(out.max, r.Time)
	}
	out.peak = max(peak, out.max)
	return out
}

// termsOf returns the distinct terms of records in order: those with postings, and those in the filter.
func (l Log) termsOf(records []unpacked) (posted, filtered []Term) {
	seen := make(map[Term]struct{}, 2*len(records))
	for _, r := range records {
		for _, t := range r.terms {
			if _, ok := seen[t]; ok {
				continue
			}
			seen[t] = struct{}{}
			if l.unique(t) {
				filtered = append(filtered, t)
			} else {
				posted = append(posted, t)
			}
		}
	}
	for _, terms := range [...][]Term{posted, filtered} {
		slices.SortFunc(terms, func(a, b Term) int { return bytes.Compare(a[:], b[:]) })
	}
	return posted, filtered
}

func joinTerms(terms []Term) []byte {
	out := make([]byte, 0, len(terms)*termSize)
	for _, t := range terms {
		out = append(out, t[:]...)
	}
	return out
}

func splitTerms(b []byte) []Term {
	out := make([]Term, 0, len(b)/termSize)
	for ; len(b) >= termSize; b = b[termSize:] {
		out = append(out, Term(b))
	}
	return out
}

// A Bloom filter with 10 bits and 7 probes for each term: it claims one of a hundred terms that it
// does not have.
const (
	filterBits   = 10
	filterProbes = 7
)

func newFilter(terms []Term) []byte {
	out := make([]byte, (len(terms)*filterBits+7)/8)
	if inject.HasDefect("filter_short") {
		terms = terms[len(terms)/2:]
	}
	for _, t := range terms {
		probe(t, len(out), func(at uint64) bool {
			out[at/8] |= 1 << (at % 8)
			return true
		})
	}
	return out
}

// inFilter reports whether a filter may have a term.
func inFilter(filter []byte, t Term) bool {
	if len(filter) == 0 {
		return false
	}
	return probe(t, len(filter), func(at uint64) bool { return filter[at/8]&(1<<(at%8)) != 0 })
}

// probe calls fn for each bit of a term in a filter of a size in bytes, until fn returns false.
func probe(t Term, size int, fn func(at uint64) bool) bool {
	bits := uint64(size) * 8
	a, b := uint64(binary.BigEndian.Uint32(t[1:]))+uint64(t[0]), uint64(binary.BigEndian.Uint32(t[5:]))|1
	for range filterProbes {
		if !fn(a % bits) {
			return false
		}
		a += b
	}
	return true
}
