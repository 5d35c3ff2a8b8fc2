package block

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// A sealed segment takes the blocks of consecutive records, with their terms and postings, out of the state. The state
// keeps what the segment is, which terms it has, and the directory entries and filters of its blocks. Segments are at
// the front of a log, so a query reads only the files of segments that have its terms.

// setSegment writes what the state has of a segment: a cluster.v1.SealedSegment and its CRC-32C.
func (l Log) setSegment(tx Tx, kind byte, s Segment) error {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(s.Message())
	if err != nil {
		return err
	}
	tx.Set(l.Space, l.key(kind, s.First), binary.BigEndian.AppendUint32(b, checksum(s.First, b)))
	return nil
}

func decodeSegment(first uint64, b []byte) (Segment, error) {
	end := len(b) - sumSize
	m := &clusterv1.SealedSegment{}
	if end < 0 || checksum(first, b[:end]) != binary.BigEndian.Uint32(b[end:]) || proto.Unmarshal(b[:end], m) != nil || m.GetFirst() != first {
		return Segment{}, damaged(nil, fmt.Sprintf("What the state has of the sealed segment that begins with %d is damaged.", first))
	}
	return SegmentOf(m)
}

// scanner is a Tx, or a Reader with a context.
type scanner func(x store.Range, fn func(key, value []byte) bool) error

func scanOf(ctx context.Context, r Reader) scanner {
	return func(x store.Range, fn func(key, value []byte) bool) error { return r.Scan(ctx, x, fn) }
}

// segments calls fn for each segment, in order, until fn returns false. kind is kindSegment or kindSegmentDropped.
func (l Log) segments(scan scanner, kind byte, fn func(Segment) bool) error {
	var bad error
	err := scan(store.Range{Space: l.Space, Prefix: l.prefix(kind)}, func(key, value []byte) bool {
		var s Segment
		s, bad = decodeSegment(numberOf(key), value)
		return bad == nil && fn(s)
	})
	return first(err, bad)
}

// segmentBefore returns the last sealed segment that begins at or before a number.
func (l Log) segmentBefore(scan scanner, number uint64) (s Segment, ok bool, err error) {
	var bad error
	err = scan(store.Range{Space: l.Space, Prefix: l.prefix(kindSegment), To: l.key(kindSegment, number+1), Reverse: true, Limit: 1}, func(key, value []byte) bool {
		s, bad = decodeSegment(numberOf(key), value)
		ok = bad == nil
		return false
	})
	return s, ok, first(err, bad)
}

// Segments calls fn for each sealed segment, in order, until fn returns false.
func (l Log) Segments(ctx context.Context, r Reader, fn func(Segment) bool) error {
	return l.segments(scanOf(ctx, r), kindSegment, fn)
}

// LastSegment returns the last sealed segment; ok is false if there is none.
func (l Log) LastSegment(ctx context.Context, r Reader) (s Segment, ok bool, err error) {
	return l.segmentBefore(scanOf(ctx, r), All)
}

// SegmentAt returns the sealed segment that has a record.
func (l Log) SegmentAt(ctx context.Context, r Reader, number uint64) (s Segment, ok bool, err error) {
	s, ok, err = l.segmentBefore(scanOf(ctx, r), number)
	return s, ok && s.Last >= number, err
}

// SealedIn returns the sealed segment that has a record, within a transaction.
func (l Log) SealedIn(tx Tx, number uint64) (s Segment, ok bool, err error) {
	s, ok, err = l.segmentBefore(tx.Scan, number)
	return s, ok && s.Last >= number, err
}

// Seal replaces the blocks of a segment by the segment. It changes nothing, and returns false, if these blocks are not in
// the state, for somebody else has sealed or deleted them.
func (l Log) Seal(tx Tx, s Segment) (bool, error) {
	if before, ok, err := l.segmentBefore(tx.Scan, s.Last); err != nil || ok && before.Last >= s.First {
		return false, err
	}
	var bad error
	s.blocks = 0
	next := s.First
	var blocks []uint64
	err := tx.Scan(store.Range{
		Space: l.Space, Prefix: l.prefix(kindDirectory), From: l.key(kindDirectory, s.First), To: l.key(kindDirectory, s.Last+1),
	}, func(key, value []byte) bool {
		var at ref
		if at, bad = decodeRef(numberOf(key), value); bad != nil || at.first != next {
			return false
		}
		if next == s.First {
			s.min, s.max = at.min, at.max
		}
		s.min, s.max, s.blocks = min(s.min, at.min), max(s.max, at.max), s.blocks+1
		next = at.last() + 1
		blocks = append(blocks, at.first)
		return true
	})
	if err := first(err, bad); err != nil || next != s.Last+1 {
		return false, err
	}
	seen := make(map[Term]struct{})
	for _, number := range blocks {
		value, _, err := tx.Get(l.Space, l.key(kindTerms, number))
		if err != nil {
			return false, err
		}
		for _, t := range splitTerms(value) {
			tx.Delete(l.Space, l.posting(t, number))
			seen[t] = struct{}{}
		}
		tx.Delete(l.Space, l.key(kindTerms, number))
		tx.Delete(l.Space, l.key(kindBlock, number))
	}
	terms := make([]Term, 0, len(seen))
	for t := range seen {
		terms = append(terms, t)
	}
	slices.SortFunc(terms, func(a, b Term) int { return bytes.Compare(a[:], b[:]) })
	for i, t := range terms {
		if i == 0 && inject.HasDefect("sealed_posting_missing") {
			continue
		}
		tx.Set(l.Space, l.segmentPosting(t, s.First), nil)
	}
	tx.Set(l.Space, l.key(kindSegmentTerms, s.First), joinTerms(terms))
	return true, l.setSegment(tx, kindSegment, s)
}

// removeSegment deletes what the state has of a sealed segment.
func (l Log) removeSegment(tx Tx, s Segment) error {
	terms, _, err := tx.Get(l.Space, l.key(kindSegmentTerms, s.First))
	if err != nil {
		return err
	}
	for _, t := range splitTerms(terms) {
		tx.Delete(l.Space, l.segmentPosting(t, s.First))
	}
	var blocks []uint64
	if err := tx.Scan(store.Range{
		Space: l.Space, Prefix: l.prefix(kindDirectory), From: l.key(kindDirectory, s.First), To: l.key(kindDirectory, s.Last+1),
	}, func(key, _ []byte) bool {
		blocks = append(blocks, numberOf(key))
		return true
	}); err != nil {
		return err
	}
	for _, number := range blocks {
		tx.Delete(l.Space, l.key(kindDirectory, number))
		tx.Delete(l.Space, l.key(kindFilter, number))
	}
	tx.Delete(l.Space, l.key(kindSegmentTerms, s.First))
	tx.Delete(l.Space, l.key(kindSegment, s.First))
	if s.Object == "" {
		return nil // each node deletes its file
	}
	return l.setSegment(tx, kindSegmentDropped, s)
}

// Dropped calls fn for each dropped segment whose file may still be in the bucket, until fn returns false.
func (l Log) Dropped(ctx context.Context, r Reader, fn func(Segment) bool) error {
	return l.segments(scanOf(ctx, r), kindSegmentDropped, fn)
}

// Forget forgets a dropped segment, whose file was deleted from the bucket.
func (l Log) Forget(tx Tx, first uint64) { tx.Delete(l.Space, l.key(kindSegmentDropped, first)) }

// Due is when records are sealed.
type Due struct {
	Before int64 // a segment is sealed when it is full and all its records are earlier,
	Late   int64 // or when its first block is earlier than this
	// Multiple is the number after whose multiples a segment may end: a power of two, at least Size.
	Multiple uint64
}

// Span is the numbers of consecutive records.
type Span struct{ First, Last uint64 }

// Sealable returns the next segment to seal.
func (l Log) Sealable(ctx context.Context, r Reader, due Due) (next Span, ok bool, err error) {
	h, begun, err := l.head(r)
	if err != nil || !begun {
		return Span{}, false, err
	}
	after := uint64(0)
	if s, ok, err := l.segmentBefore(scanOf(ctx, r), h.packed); err != nil {
		return Span{}, false, err
	} else if ok {
		after = s.Last
	}
	var bad error
	var oldest int64
	passed, follows, full := 0, uint64(0), uint64(0)
	err = r.Scan(ctx, store.Range{Space: l.Space, Prefix: l.prefix(kindDirectory), From: l.key(kindDirectory, after+1)}, func(key, value []byte) bool {
		var at ref
		if at, bad = decodeRef(numberOf(key), value); bad != nil {
			return false
		}
		if next.First == 0 {
			next.First, follows, oldest = at.first, at.first, at.max
			full = (at.first-1)/SegmentSize*SegmentSize + SegmentSize
		}
		if at.first != follows || at.first > full {
			full = min(full, follows-1) // records in between were deleted
			return false
		}
		if follows = at.last() + 1; at.max >= due.Before {
			passed++ // a wrong clock may have left it
			return passed < patience
		}
		if at.last()%due.Multiple == 0 || at.last() == full {
			next.Last = at.last()
		}
		return true
	})
	if err := first(err, bad); err != nil {
		return Span{}, false, err
	}
	return next, next.Last >= next.First && next.First > 0 && (next.Last == full || oldest < due.Late), nil
}
