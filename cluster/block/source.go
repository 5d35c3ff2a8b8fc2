package block

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// A query going backward reads so many keys at once: few at first, because a page needs few.
const (
	firstChunk = 4
	maxChunk   = 512
)

// source finds the blocks that may have records of a query.
type source struct {
	ctx       context.Context //nolint:containedctx // lives as long as one call of Query
	log       Log
	r         Reader
	q         Query
	low, high int64
	packed    uint64 // blocks after it contain records that were read unpacked

	// Of backward: blocks that were found and not pushed yet, the last first, and the number before
	// which to look further.
	found []ref
	until uint64
	chunk int  // how many keys to read; 0: none were read yet
	hot   bool // the blocks of the state were looked at; those of sealed segments are left
	ended bool
}

// posted reports whether the index is the postings of a term, which sealed segments have in their files.
func (s *source) posted() (t Term, ok bool) {
	if _, filtered := s.index(); filtered || len(s.q.Terms) == 0 {
		return t, false
	}
	return s.q.Terms[0], true
}

// index returns the prefix of the keys to go along: the filters, because a scan of them leaves few blocks, else the
// postings of a term, else the directory.
func (s *source) index() (prefix []byte, filtered bool) {
	if slices.ContainsFunc(s.q.Terms, s.log.unique) {
		return s.log.prefix(kindFilter), true
	}
	for _, t := range s.q.Terms {
		return append(s.log.prefix(kindPosting), t[:]...), false
	}
	return s.log.prefix(kindDirectory), false
}

// backward pushes the blocks that may precede the next record of a merge, the latest first.
func (s *source) backward(m *merge) error {
	for {
		if len(s.found) == 0 {
			if s.ended {
				return nil
			}
			if err := s.more(); err != nil {
				return err
			}
			continue
		}
		at := s.found[0]
		if len(m.heap) > 0 && at.peak < m.heap[0].due.Time {
			return nil // neither it nor a block before it has a later record
		}
		if at.peak < s.low {
			s.found, s.ended = nil, true
			return nil
		}
		s.found = s.found[1:]
		if at.max >= s.low && at.min <= s.high {
			m.push(at)
		}
	}
}

// more looks for blocks before the last that was found.
func (s *source) more() error {
	if s.hot {
		return s.moreSealed()
	}
	prefix, _ := s.index()
	x := store.Range{Space: s.log.Space, Prefix: prefix, Reverse: true}
	if s.chunk > 0 {
		x.To = keyAt(prefix, s.until)
	} else {
		s.until = math.MaxUint64
	}
	s.chunk = min(max(2*s.chunk, firstChunk), maxChunk)
	x.Limit = s.chunk
	keys := 0
	numbers, err := s.scan(x, &keys)
	if err != nil {
		return err
	}
	if s.hot = keys < s.chunk; s.hot {
		_, posted := s.posted()
		s.ended = !posted
	}
	for _, number := range numbers {
		at, ok, err := s.ref(number)
		if err != nil {
			return err
		}
		if ok {
			s.found = append(s.found, at)
		}
	}
	return nil
}

// moreSealed looks for blocks in the sealed segment before those that were found.
func (s *source) moreSealed() error {
	t, _ := s.posted()
	prefix := append(s.log.prefix(kindSegmentPosting), t[:]...)
	begins := uint64(0)
	if err := s.r.Scan(s.ctx, store.Range{Space: s.log.Space, Prefix: prefix, To: keyAt(prefix, s.until), Reverse: true, Limit: 1}, func(key, _ []byte) bool {
		begins = numberOf(key)
		return false
	}); err != nil {
		return err
	}
	if begins == 0 {
		s.ended = true
		return nil
	}
	numbers, err := s.sealed(begins)
	if err != nil {
		return err
	}
	for _, number := range slices.Backward(numbers) {
		if number >= s.until {
			continue // it was not sealed yet when it was found
		}
		at, ok, err := s.ref(number)
		if err != nil {
			return err
		}
		if ok {
			s.found = append(s.found, at)
		}
	}
	s.until = begins
	return nil
}

// sealed returns the numbers of the blocks of a sealed segment that have all terms with postings. The file is not read
// if all its records are outside the range of the query.
func (s *source) sealed(begins uint64) (numbers []uint64, err error) {
	g, ok, err := s.log.SegmentAt(s.ctx, s.r, begins)
	if err != nil || !ok || g.max < s.low || g.min > s.high {
		return nil, err
	}
	f, err := s.open(g)
	if err != nil {
		return nil, err
	}
	for _, b := range f.blocks {
		if s.hasPosted(b) {
			numbers = append(numbers, b.at.first)
		}
	}
	return numbers, nil
}

func (s *source) hasPosted(b filedBlock) bool {
	return !slices.ContainsFunc(s.q.Terms, func(t Term) bool { return !s.log.unique(t) && !b.has(t) })
}

// open opens the file of a sealed segment.
func (s *source) open(g Segment) (*File, error) {
	files := filesOf(s.r)
	if files == nil {
		return nil, damaged(nil, fmt.Sprintf("The record %d is in a sealed segment, which cannot be read here.", g.First))
	}
	return files.Open(s.ctx, g)
}

// forward calls fn for each block, in the order of the numbers.
func (s *source) forward(fn func(ref)) error {
	prefix, _ := s.index()
	start, err := s.start()
	if err != nil {
		return err
	}
	keys := 0
	numbers, err := s.scan(store.Range{Space: s.log.Space, Prefix: prefix, From: keyAt(prefix, start)}, &keys)
	if err != nil {
		return err
	}
	if _, posted := s.posted(); posted {
		older, err := s.forwardSealed(start)
		if err != nil {
			return err
		}
		// Blocks that are sealed now may have been found before.
		numbers = append(numbers, older...)
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
	}
	for _, number := range numbers {
		at, ok, err := s.ref(number)
		if err != nil {
			return err
		}
		if ok && at.max >= s.low && at.min <= s.high {
			fn(at)
		}
	}
	return nil
}

// forwardSealed returns the numbers of the blocks of sealed segments from a number on.
func (s *source) forwardSealed(start uint64) (numbers []uint64, err error) {
	if g, ok, err := s.log.SegmentAt(s.ctx, s.r, start); err != nil {
		return nil, err
	} else if ok {
		start = g.First
	}
	t, _ := s.posted()
	prefix := append(s.log.prefix(kindSegmentPosting), t[:]...)
	var segments []uint64
	if err := s.r.Scan(s.ctx, store.Range{Space: s.log.Space, Prefix: prefix, From: keyAt(prefix, start)}, func(key, _ []byte) bool {
		segments = append(segments, numberOf(key))
		return true
	}); err != nil {
		return nil, err
	}
	for _, begins := range segments {
		some, err := s.sealed(begins)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, some...)
	}
	return numbers, nil
}

// start returns the number of the first block that has a record at or after the lower bound, as all before
// it are earlier.
func (s *source) start() (uint64, error) {
	h, _, err := s.log.head(s.r)
	if err != nil {
		return 0, err
	}
	var bad error
	n := sort.Search(int(min(h.packed, 1<<62)), func(n int) bool {
		if bad != nil {
			return true
		}
		at, ok, err := s.log.blockAt(s.ctx, s.r, uint64(n)+1, h.packed)
		bad = err
		return err != nil || !ok || at.peak >= s.low
	})
	return uint64(n), bad
}

// keyAt returns the key of a number below a prefix.
func keyAt(prefix []byte, number uint64) []byte {
	out := make([]byte, 0, len(prefix)+8)
	out = append(out, prefix...)
	for shift := 56; shift >= 0; shift -= 8 {
		out = append(out, byte(number>>shift))
	}
	return out
}

// scan returns the numbers of the blocks in a range of the index, and counts its keys.
func (s *source) scan(x store.Range, keys *int) (numbers []uint64, err error) {
	_, filtered := s.index()
	err = s.r.Scan(s.ctx, x, func(key, value []byte) bool {
		*keys++
		s.until = numberOf(key)
		if !filtered || s.passes(value) {
			numbers = append(numbers, s.until)
		}
		return true
	})
	return numbers, err
}

// passes reports whether a block's filter may have all terms that are in filters.
func (s *source) passes(filter []byte) bool {
	for _, t := range s.q.Terms {
		if s.log.unique(t) && !inFilter(filter, t) {
			return false
		}
	}
	return true
}

// ref returns the directory entry of a block that may have all terms. ok is false for a block that has not,
// that was dropped, or whose records were read unpacked.
func (s *source) ref(number uint64) (at ref, ok bool, err error) {
	if number > s.packed {
		return ref{}, false, nil
	}
	prefix, _ := s.index()
	for _, t := range s.q.Terms {
		if s.log.unique(t) || bytes.HasSuffix(prefix, t[:]) {
			continue // it is what scan went along
		}
		if there, err := s.has(number, t); err != nil || !there {
			return ref{}, false, err
		}
	}
	value, ok, err := s.r.Get(s.log.Space, s.log.key(kindDirectory, number))
	if err != nil || !ok {
		return ref{}, false, err
	}
	at, err = decodeRef(number, value)
	return at, err == nil, err
}

// has reports whether a block has a term with postings.
func (s *source) has(number uint64, t Term) (bool, error) {
	if _, there, err := s.r.Get(s.log.Space, s.log.posting(t, number)); err != nil || there {
		return there, err
	}
	g, ok, err := s.log.SegmentAt(s.ctx, s.r, number)
	if err != nil || !ok {
		return false, err
	}
	if _, there, err := s.r.Get(s.log.Space, s.log.segmentPosting(t, g.First)); err != nil || !there {
		return false, err
	}
	f, err := s.open(g)
	if err != nil {
		return false, err
	}
	b, ok := f.find(number)
	return ok && b.has(t), nil
}

// gone is the error for a block that was dropped while its records were read.
func gone(number uint64) error {
	return &fault.Error{Op: "block.query", Kind: fault.Conflict, Detail: fmt.Sprintf("The records from %d on were deleted while they were read, because they are older than the retention. Repeat the request.", number)}
}
