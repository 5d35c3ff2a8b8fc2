package block

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// Check compares the index of a log with its records, which its caller reads in order and hands to Add:
// a record that the index lacks is hidden from queries.
type Check struct {
	ctx    context.Context //nolint:containedctx // lives as long as one verification
	log    Log
	r      Reader
	packed uint64 // when the check began: what was packed since is not checked
	older  uint64 // the number of the last record of Import

	now     ref // the block of the records; count 0: none
	records []unpacked
	peak    int64  // of the block before
	last    uint64 // the number of its last record
	// The postings are compared by a sum, because looking each one up takes several times as long. The
	// seed is random, so that nobody can construct other keys with the same sum.
	seed  maphash.Seed
	sum   uint64
	count uint64

	sealed *checkedSegment // of the block before; nil: none
}

// checkedSegment is a sealed segment whose blocks are compared.
type checkedSegment struct {
	Segment

	file   *File
	begun  uint64            // the number of the first record that is compared
	blocks uint32            // compared
	terms  map[Term]struct{} // of those
}

// NewCheck begins a check of all records.
func (l Log) NewCheck(ctx context.Context, r Reader) (*Check, error) {
	h, begun, err := l.head(r)
	if err == nil && !begun {
		if _, there, lerr := l.Lowest(ctx, r); lerr != nil || there {
			err = damaged(lerr, "The head of a log of records is missing.")
		}
	}
	return &Check{ctx: ctx, log: l, r: r, packed: h.packed, older: h.imported, seed: maphash.MakeSeed(), peak: minTime}, err
}

const minTime = -1 << 63

// Add checks the next record, with the terms that it should have. problem says what is wrong with the
// index of its block; at is the number of the block's first record.
func (c *Check) Add(number uint64, time int64, terms []Term) (at uint64, problem string, err error) {
	if number > c.packed {
		problem, err = c.unpacked(number, time, terms)
		return number, problem, err
	}
	if c.now.count == 0 {
		var ok bool
		if c.now, ok, err = c.log.blockAt(c.ctx, c.r, number, number); err != nil || !ok {
			return number, "a record is in no block", err
		}
	}
	n := len(c.records)
	if n < cap(c.records) {
		c.records = c.records[:n+1]
	} else {
		c.records = append(c.records, unpacked{})
	}
	u := &c.records[n]
	u.Number, u.Time, u.terms = number, time, append(u.terms[:0], terms...)
	if number < c.now.last() {
		return 0, "", nil
	}
	problem, err = c.compare()
	at = c.now.first
	c.peak, c.last, c.now, c.records = c.now.peak, c.now.last(), ref{}, c.records[:0]
	return at, problem, err
}

// compare compares the index of a block with its records.
func (c *Check) compare() (problem string, err error) {
	due := refOf(c.records, c.peak)
	posted, filtered := c.log.termsOf(c.records)
	stored, problem, err := c.terms(due, posted)
	if err != nil || problem != "" {
		return problem, err
	}
	filter, there, err := c.log.bytes(c.r, kindFilter, due.first)
	if err != nil {
		return "", err
	}
	// The records before the first block were dropped, and the first one of Append has a peak that is as high as that
	// of records which were to be imported.
	if c.peak == minTime || c.last <= c.older && due.first > c.older {
		due.peak = max(due.peak, c.now.peak)
	}
	for _, t := range posted {
		if !stored.sealed {
			c.add(c.log.posting(t, due.first))
		}
	}
	switch {
	case due != c.now:
		return "its directory entry does not fit its records", nil
	case !bytes.Equal(stored.terms, joinTerms(posted)):
		return "its list of terms does not fit its records", nil
	case len(filtered) > 0 && !bytes.Equal(filter, newFilter(filtered)), len(filtered) == 0 && there:
		return "its filter does not fit its records", nil
	}
	return "", nil
}

// storedTerms are the terms of a block as they are stored.
type storedTerms struct {
	terms  []byte
	sealed bool
}

// terms returns the terms that are stored of a block: in the state, or in the file of its sealed segment. Of a segment
// that was compared it also compares what the state has.
func (c *Check) terms(due ref, posted []Term) (out storedTerms, problem string, err error) {
	if c.sealed == nil || due.first > c.sealed.Last {
		s, ok, err := c.log.SegmentAt(c.ctx, c.r, due.first)
		if err != nil {
			return out, "", err
		}
		c.sealed = nil
		if !ok {
			out.terms, _, err = c.log.bytes(c.r, kindTerms, due.first)
			return out, "", err
		}
		files := filesOf(c.r)
		if files == nil {
			return out, "", damaged(nil, fmt.Sprintf("The record %d is in a sealed segment, which cannot be read here.", due.first))
		}
		c.sealed = &checkedSegment{Segment: s, begun: due.first, terms: make(map[Term]struct{})}
		if c.sealed.file, err = files.Open(c.ctx, s); err != nil {
			return out, "", err
		}
	}
	b, ok := c.sealed.file.find(due.first)
	if !ok || b.at != c.now {
		return out, "the index of its file does not fit its directory entry", nil
	}
	for _, t := range posted {
		c.sealed.terms[t] = struct{}{}
	}
	if c.sealed.blocks++; due.last() == c.sealed.Last && c.sealed.begun == c.sealed.First {
		problem, err = c.segment(c.sealed)
	}
	return storedTerms{b.terms, true}, problem, err
}

// segment compares what the state has of a segment with its records.
func (c *Check) segment(s *checkedSegment) (problem string, err error) {
	for t := range s.terms {
		c.add(c.log.segmentPosting(t, s.First))
	}
	terms, _, err := c.log.bytes(c.r, kindSegmentTerms, s.First)
	if err != nil {
		return "", err
	}
	listed := splitTerms(terms)
	switch {
	case s.blocks != s.Segment.blocks:
		return "its sealed segment has not as many blocks as the state says", nil
	case len(listed) != len(s.terms) || slices.ContainsFunc(listed, func(t Term) bool { _, ok := s.terms[t]; return !ok }):
		return "the list of terms of its sealed segment does not fit its records", nil
	}
	return "", nil
}

// unpacked compares a record that is in no block with what it will be packed with.
func (c *Check) unpacked(number uint64, time int64, terms []Term) (problem string, err error) {
	value, ok, err := c.log.bytes(c.r, kindRecord, number)
	if err != nil || !ok {
		return "", err // it was packed since
	}
	u, err := decodeUnpacked(number, value)
	if err == nil && (u.Time != time || !slices.Equal(u.terms, terms)) {
		problem = "its time or its terms do not fit the record"
	}
	return problem, err
}

func (c *Check) add(key []byte) {
	c.sum += maphash.Bytes(c.seed, key)
	c.count++
}

func (l Log) bytes(r Reader, kind byte, number uint64) ([]byte, bool, error) {
	return r.Get(l.Space, l.key(kind, number))
}

// End compares the postings after the last record. problem says what is wrong; at is the number of the first
// record of a block without one of its postings, or 0.
func (c *Check) End() (at uint64, problem string, err error) {
	expected := Check{sum: c.sum, count: c.count}
	c.sum, c.count = 0, 0
	for _, kind := range []byte{kindPosting, kindSegmentPosting} {
		prefix := c.log.prefix(kind)
		if err = c.r.Scan(c.ctx, store.Range{Space: c.log.Space, Prefix: prefix}, func(key, _ []byte) bool {
			if numberOf(key) <= c.packed || len(key) != len(prefix)+termSize+8 {
				c.add(key)
			}
			return true
		}); err != nil {
			return 0, "", err
		}
	}
	if c.sum == expected.sum && c.count == expected.count {
		return 0, "", nil
	}
	return c.missing()
}

// missing finds the block or the segment that lacks a posting.
func (c *Check) missing() (at uint64, problem string, err error) {
	for _, x := range []struct {
		list    byte
		posting func(Term, uint64) []byte
	}{{kindTerms, c.log.posting}, {kindSegmentTerms, c.log.segmentPosting}} {
		err = c.r.Scan(c.ctx, store.Range{Space: c.log.Space, Prefix: c.log.prefix(x.list)}, func(key, value []byte) bool {
			number := numberOf(key)
			for _, t := range splitTerms(value) {
				_, ok, _ := c.r.Get(c.log.Space, x.posting(t, number))
				if !ok && number <= c.packed {
					at, problem = number, fmt.Sprintf("it lacks a posting for values of kind %q", t[0])
					return false
				}
			}
			return true
		})
		if err != nil || problem != "" {
			return at, problem, err
		}
	}
	return 0, "the index has a posting that no block belongs to", nil
}
