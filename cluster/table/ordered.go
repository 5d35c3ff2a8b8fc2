package table

import (
	"iter"
	"slices"
	"sort"
	"strings"
)

// A chunk has at most this many pairs: the first in a short sequence, the second in one of more
// than longSequence pairs. A change copies one chunk and the list of chunks, so the best size grows
// with the length: at 10,000 records that is 2 KB if the keys stay, at 100,000 about 6 KB.
const (
	maxChunk     = 256
	shortChunk   = 128
	longSequence = 20_000
)

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

// chunk is a run of pairs: each key has the row at its index. Only the edit that made a slice may
// change it, and only until done. Most changes replace a row and keep its keys, so the slices have
// owners of their own: such a change copies the rows only.
type chunk[T any] struct {
	keys      []string
	rows      []T
	ownerKeys *token
	owner     *token // of rows, and of the chunk itself
}

// token identifies one edit. A pointer to the edit itself would keep the previous state in
// memory.
type token struct{ _ byte }

// seek returns the position of the first pair whose key is not less than key, as a chunk and a
// pair in it. The chunk may be one past the last.
func (o *ordered[T]) seek(key string) (c, i int) {
	c = sort.Search(len(o.chunks), func(c int) bool {
		keys := o.chunks[c].keys
		return keys[len(keys)-1] >= key
	})
	if c == len(o.chunks) {
		return c, 0
	}
	i, _ = slices.BinarySearch(o.chunks[c].keys, key)
	return c, i
}

// from yields the pairs from a position to the end.
func (o *ordered[T]) from(c, i int) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for ; c < len(o.chunks); c, i = c+1, 0 {
			rows := o.chunks[c].rows[i:]
			for j, key := range o.chunks[c].keys[i:] {
				if !yield(key, rows[j]) {
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
			if n >= len(c.rows) {
				n -= len(c.rows)
				continue
			}
			for _, row := range c.rows[n:] {
				if !yield(row) {
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
			if n >= len(c.rows) {
				n -= len(c.rows)
				continue
			}
			for _, row := range slices.Backward(c.rows[:len(c.rows)-n]) {
				if !yield(row) {
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

// rows returns a chunk whose rows this edit may change, and clones them if necessary.
func (e *ordering[T]) rows(c int) *chunk[T] {
	if !e.own {
		e.chunks, e.own = slices.Clone(e.chunks), true
	}
	was := e.chunks[c]
	if was.owner != e.self {
		rows := append(make([]T, 0, len(was.rows)+1), was.rows...)
		e.chunks[c] = &chunk[T]{keys: was.keys, rows: rows, ownerKeys: was.ownerKeys, owner: e.self}
	}
	return e.chunks[c]
}

// mine returns a chunk that this edit may change, and clones it if necessary.
func (e *ordering[T]) mine(c int) *chunk[T] {
	one := e.rows(c)
	if one.ownerKeys != e.self {
		one.keys = append(make([]string, 0, len(one.keys)+1), one.keys...)
		one.ownerKeys = e.self
	}
	return one
}

// put adds a pair, or replaces the row of the pair with the same key.
func (e *ordering[T]) put(key string, row T) {
	c, i := e.seek(key)
	switch {
	case len(e.chunks) == 0:
		e.chunks, e.own = []*chunk[T]{{owner: e.self, ownerKeys: e.self}}, true
	case c == len(e.chunks): // after the last pair
		c--
		i = len(e.chunks[c].keys)
	}
	if keys := e.chunks[c].keys; i < len(keys) && keys[i] == key {
		e.rows(c).rows[i] = row
		return
	}
	to := e.mine(c)
	e.n++
	to.keys, to.rows = slices.Insert(to.keys, i, key), slices.Insert(to.rows, i, row)
	most := e.most()
	if len(to.keys) <= most {
		return
	}
	half := most / 2
	next := &chunk[T]{keys: gathered(to.keys[half:]), rows: slices.Clone(to.rows[half:]), owner: e.self, ownerKeys: e.self}
	clear(to.rows[half:])
	to.keys, to.rows = gathered(to.keys[:half]), to.rows[:half]
	e.chunks = slices.Insert(e.chunks, c+1, next)
}

// most is how many pairs a chunk may have.
func (o *ordered[T]) most() int {
	if o.n > longSequence {
		return maxChunk
	}
	return shortChunk
}

// gathered returns keys that are one contiguous string. Otherwise each key has its own place in
// memory, and a search through 100,000 keys would miss the cache at each.
func gathered(keys []string) []string {
	all := strings.Join(keys, "")
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i], all = all[:len(key)], all[len(key):]
	}
	return out
}

// remove deletes the pair of a key, if it exists.
func (e *ordering[T]) remove(key string) {
	c, i := e.seek(key)
	if c == len(e.chunks) || e.chunks[c].keys[i] != key {
		return
	}
	e.n--
	from := e.mine(c)
	from.keys, from.rows = slices.Delete(from.keys, i, i+1), slices.Delete(from.rows, i, i+1)
	switch {
	case len(from.keys) == 0:
		e.chunks = slices.Delete(e.chunks, c, c+1)
	case c+1 < len(e.chunks) && len(from.keys)+len(e.chunks[c+1].keys) <= e.most()/2:
		from.keys, from.rows = append(from.keys, e.chunks[c+1].keys...), append(from.rows, e.chunks[c+1].rows...)
		e.chunks = slices.Delete(e.chunks, c+1, c+2)
	}
}
