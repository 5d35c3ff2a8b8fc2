package block

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Range calls fn for each record from one number to another, in order, until fn returns false. It skips
// dropped records: the number of the first record shows whether there are any.
func (l Log) Range(ctx context.Context, r Reader, from, to uint64, fn func(Record) bool) error {
	// The unpacked records are read first: if they are packed meanwhile, their block is ignored.
	waiting, packed, err := l.unpacked(ctx, r, from, to)
	if err != nil {
		return err
	}
	more := true
	for more && from <= min(to, packed) {
		at, ok, err := l.blockAt(ctx, r, from, min(to, packed))
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		b, ok, err := l.read(ctx, r, at)
		if err != nil {
			return err
		}
		for i := range b.values {
			number := b.first + uint64(i)
			if number < from || number > to || !ok {
				continue
			}
			if more = fn(Record{number, b.times[i], b.values[i]}); !more {
				return nil
			}
		}
		from = at.last() + 1
	}
	for _, u := range waiting {
		if u.Number >= from && !fn(u.Record) {
			return nil
		}
	}
	return nil
}

// unpacked returns the records between two numbers that are in no block yet, and the number of the last
// record before all unpacked ones.
func (l Log) unpacked(ctx context.Context, r Reader, from, to uint64) (out []unpacked, packed uint64, err error) {
	var bad error
	first := uint64(0)
	err = r.Scan(ctx, store.Range{Space: l.Space, Prefix: l.prefix(kindRecord)}, func(key, value []byte) bool {
		number := numberOf(key)
		if first == 0 {
			first = number
		}
		if number < from {
			return true
		}
		if number > to {
			return false
		}
		var u unpacked
		u, bad = decodeUnpacked(number, append([]byte(nil), value...))
		out = append(out, u)
		return bad == nil
	})
	if err == nil {
		err = bad
	}
	if err != nil || first > 0 {
		return out, first - min(first, 1), err
	}
	h, _, err := l.head(r)
	return nil, h.packed, err
}

// blockAt returns the block that contains a record, or the next one, if it begins at or before a number.
func (l Log) blockAt(ctx context.Context, r Reader, number, to uint64) (at ref, ok bool, err error) {
	var bad error
	one := func(x store.Range) error {
		x.Space, x.Prefix, x.Limit = l.Space, l.prefix(kindDirectory), 1
		err := r.Scan(ctx, x, func(key, value []byte) bool {
			if at, bad = decodeRef(numberOf(key), value); bad == nil {
				ok = at.last() >= number
			}
			return false
		})
		if err == nil {
			err = bad
		}
		return err
	}
	if err := one(store.Range{To: l.key(kindDirectory, number+1), Reverse: true}); err != nil || ok {
		return at, ok, err
	}
	err = one(store.Range{From: l.key(kindDirectory, number), To: l.key(kindDirectory, to+1)})
	return at, ok, err
}

// read returns a block. ok is false if it was dropped since its directory entry was read.
func (l Log) read(ctx context.Context, r Reader, at ref) (b *block, ok bool, err error) {
	value, ok, err := r.Get(l.Space, l.key(kindBlock, at.first))
	if err != nil {
		return &block{}, false, err
	}
	if !ok {
		s, sealed, err := l.SegmentAt(ctx, r, at.first)
		if err != nil {
			return &block{}, false, err
		}
		if sealed {
			b, err := l.readSealed(ctx, r, s, at)
			return b, err == nil, err
		}
		if _, there, err := r.Get(l.Space, l.key(kindDirectory, at.first)); err != nil || there {
			return &block{}, false, damaged(err, fmt.Sprintf("The block of records that begins with %d is missing.", at.first))
		}
		return &block{}, false, nil
	}
	return l.decodeAs(at, value)
}

// decodeAs decodes the block of a directory entry.
func (l Log) decodeAs(at ref, value []byte) (*block, bool, error) {
	b, err := l.decode(at.first, value)
	if err != nil {
		return &block{}, false, err
	}
	if uint64(len(b.values)) != at.count {
		return &block{}, false, notAsMany(at.first)
	}
	return b, true, nil
}

// readSealed returns a block of a sealed segment. A file that is damaged is replaced by another copy, if there is one.
func (l Log) readSealed(ctx context.Context, r Reader, s Segment, at ref) (*block, error) {
	files := filesOf(r)
	if files == nil {
		return &block{}, damaged(nil, fmt.Sprintf("The record %d is in a sealed segment, which cannot be read here.", at.first))
	}
	for again := true; ; again = false {
		f, err := files.Open(ctx, s)
		if err != nil {
			return &block{}, err
		}
		b, err := l.readFrom(f, at)
		if err == nil || !isDamaged(err) || !again || !files.Damaged(ctx, s) {
			return b, err
		}
	}
}

func (l Log) readFrom(f *File, at ref) (*block, error) {
	found, ok := f.find(at.first)
	if !ok {
		return &block{}, damaged(nil, fmt.Sprintf("The file of a sealed segment lacks the block of records that begins with %d.", at.first))
	}
	content, err := f.content(found)
	if err != nil {
		return &block{}, err
	}
	x, err := l.parts(content)
	if err != nil {
		return &block{}, damagedBlock(at.first, err)
	}
	if uint64(x.count) != at.count {
		return &block{}, notAsMany(at.first)
	}
	b, _, err := l.assemble(at.first, x, x.rest)
	return b, err
}

// notAsMany is the error for a block that has another number of records than its directory entry says.
func notAsMany(first uint64) error {
	return damaged(nil, fmt.Sprintf("The block of records that begins with %d has not as many as its directory entry says.", first))
}

// isDamaged reports whether an error says that what was read is not what was written.
func isDamaged(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Op == OpDamaged
}

func filesOf(r Reader) Files {
	if f, ok := r.(filed); ok {
		return f.files
	}
	return nil
}

// Highest returns the number of the last record; ok is false if there is none.
func (l Log) Highest(ctx context.Context, r Reader) (number uint64, ok bool, err error) {
	return l.outermost(ctx, r, store.Range{Reverse: true})
}

// Lowest returns the number of the first record; ok is false if there is none.
func (l Log) Lowest(ctx context.Context, r Reader) (number uint64, ok bool, err error) {
	return l.outermost(ctx, r, store.Range{})
}

func (l Log) outermost(ctx context.Context, r Reader, x store.Range) (number uint64, ok bool, err error) {
	var bad error
	take := func(n uint64) {
		if !ok || x.Reverse == (n > number) {
			number, ok = n, true
		}
	}
	x.Space, x.Limit = l.Space, 1
	// In this order: a record that is packed in between is found twice, and not never.
	x.Prefix = l.prefix(kindRecord)
	err = r.Scan(ctx, x, func(key, _ []byte) bool {
		take(numberOf(key))
		return false
	})
	if err != nil {
		return 0, false, err
	}
	x.Prefix = l.prefix(kindDirectory)
	err = r.Scan(ctx, x, func(key, value []byte) bool {
		var at ref
		if at, bad = decodeRef(numberOf(key), value); bad == nil && x.Reverse {
			take(at.last())
		} else {
			take(numberOf(key))
		}
		return false
	})
	return number, ok, first(err, bad)
}
