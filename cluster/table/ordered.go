package table

import (
	"iter"
	"slices"
	"sort"
	"strings"
)

// maxChunk is the highest number of pairs in a chunk. A change copies one chunk and the list of
// chunks. With 256 pairs that is about 10 KB at 100,000 records. At a million records it is
// still less than with chunks ten times as large.
const maxChunk = 256

// ordered is an immutable sequence of records, sorted by key, in chunks of pairs. Unlike a tree
// it is contiguous in memory: a scan of 100,000 records takes a millisecond. A scan can start
// anywhere.
//
// Its type of rows is a pointer type: the compiler compiles all pointer types once, and any other
// type in each package that knows the type of a table.
type ordered[T any] struct {
	chunks []*chunk[T] // never empty
	n      int
}

// chunk is a run of pairs. Only the edit that made it may change it, and only until done.
type chunk[T any] struct {
	pairs []pair[T]
	owner *token
}

// token identifies one edit. A pointer to the edit itself would keep the previous state in
// memory.
type token struct{ _ byte }

type pair[T any] struct {
	key string
	row T
}

func byKey[T any](p pair[T], key string) int {
	switch {
	case p.key < key:
		return -1
	case p.key > key:
		return 1
	}
	return 0
}

// seek returns the position of the first pair whose key is not less than key, as a chunk and a
// pair in it. The chunk may be one past the last.
func (o *ordered[T]) seek(key string) (c, i int) {
	c = sort.Search(len(o.chunks), func(c int) bool {
		pairs := o.chunks[c].pairs
		return pairs[len(pairs)-1].key >= key
	})
	if c == len(o.chunks) {
		return c, 0
	}
	i, _ = slices.BinarySearchFunc(o.chunks[c].pairs, key, byKey[T])
	return c, i
}

// from yields the pairs from a position to the end.
func (o *ordered[T]) from(c, i int) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for ; c < len(o.chunks); c, i = c+1, 0 {
			for _, p := range o.chunks[c].pairs[i:] {
				if !yield(p.key, p.row) {
					return
				}
			}
		}
	}
}

// at yields the records from the nth to the end.
func (o *ordered[T]) at(n int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, c := range o.chunks {
			if n >= len(c.pairs) {
				n -= len(c.pairs)
				continue
			}
			for _, p := range c.pairs[n:] {
				if !yield(p.row) {
					return
				}
			}
			n = 0
		}
	}
}

// before yields the records in reverse order, from the nth last to the first.
func (o *ordered[T]) before(n int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, c := range slices.Backward(o.chunks) {
			if n >= len(c.pairs) {
				n -= len(c.pairs)
				continue
			}
			for _, p := range slices.Backward(c.pairs[:len(c.pairs)-n]) {
				if !yield(p.row) {
					return
				}
			}
			n = 0
		}
	}
}

// ordering is an edit of an ordered.
type ordering[T any] struct {
	ordered[T]
	own  bool // this edit has cloned the list of chunks
	self *token
}

func (o ordered[T]) edit() *ordering[T] { return &ordering[T]{ordered: o, self: &token{}} }

// done ends the edit and returns its result.
func (e *ordering[T]) done() ordered[T] { return e.ordered }

// mine returns a chunk that this edit may change, and clones it if necessary.
func (e *ordering[T]) mine(c int) *chunk[T] {
	if !e.own {
		e.chunks, e.own = slices.Clone(e.chunks), true
	}
	if e.chunks[c].owner != e.self {
		pairs := make([]pair[T], len(e.chunks[c].pairs), maxChunk+1)
		copy(pairs, e.chunks[c].pairs)
		e.chunks[c] = &chunk[T]{pairs: pairs, owner: e.self}
	}
	return e.chunks[c]
}

// put adds a pair, or replaces the pair with the same key.
func (e *ordering[T]) put(key string, row T) {
	c, i := e.seek(key)
	switch {
	case len(e.chunks) == 0:
		e.chunks, e.own = []*chunk[T]{{owner: e.self}}, true
	case c == len(e.chunks): // after the last pair
		c--
		i = len(e.chunks[c].pairs)
	}
	to := e.mine(c)
	if i < len(to.pairs) && to.pairs[i].key == key {
		to.pairs[i].row = row
		return
	}
	e.n++
	to.pairs = slices.Insert(to.pairs, i, pair[T]{key, row})
	if len(to.pairs) <= maxChunk {
		return
	}
	half := append(make([]pair[T], 0, maxChunk+1), to.pairs[maxChunk/2:]...)
	clear(to.pairs[maxChunk/2:])
	to.pairs = to.pairs[:maxChunk/2]
	gather(to.pairs)
	gather(half)
	e.chunks = slices.Insert(e.chunks, c+1, &chunk[T]{pairs: half, owner: e.self})
}

// gather copies the keys of pairs into one contiguous string. Otherwise each key has its own
// place in memory, and a search through 100,000 keys would miss the cache at each.
func gather[T any](pairs []pair[T]) {
	var text strings.Builder
	size := 0
	for _, p := range pairs {
		size += len(p.key)
	}
	text.Grow(size)
	for _, p := range pairs {
		text.WriteString(p.key)
	}
	all := text.String()
	for i, p := range pairs {
		pairs[i].key, all = all[:len(p.key)], all[len(p.key):]
	}
}

// remove deletes the pair of a key, if it exists.
func (e *ordering[T]) remove(key string) {
	c, i := e.seek(key)
	if c == len(e.chunks) || e.chunks[c].pairs[i].key != key {
		return
	}
	e.n--
	from := e.mine(c)
	from.pairs = slices.Delete(from.pairs, i, i+1)
	switch {
	case len(from.pairs) == 0:
		e.chunks = slices.Delete(e.chunks, c, c+1)
	case c+1 < len(e.chunks) && len(from.pairs)+len(e.chunks[c+1].pairs) <= maxChunk/2:
		from.pairs = append(from.pairs, e.chunks[c+1].pairs...)
		e.chunks = slices.Delete(e.chunks, c+1, c+2)
	}
}
