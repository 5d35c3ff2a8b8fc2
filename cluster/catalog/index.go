package catalog

import (
	"iter"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// index is an immutable map from strings, in their order. A change makes another
// one that shares all but the path to what was changed.
//
// The tree has pointers, because the compiler compiles all trees of pointers once, and any other
// in each package that knows the type of the catalog.
type index[T any] struct{ tree *iradix.Tree[*T] }

// get allocates nothing: the compiler sees that the bytes of the key are only read.
func (x index[T]) get(key string) (value T, ok bool) {
	entry, ok := x.tree.Get([]byte(key))
	if ok {
		value = *entry
	}
	return value, ok
}

func (x index[T]) len() int { return x.tree.Len() }

// all yields what is there, by key.
func (x index[T]) all() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		it := x.tree.Root().Iterator()
		for key, entry, ok := it.Next(); ok; key, entry, ok = it.Next() {
			if !yield(string(key), *entry) {
				return
			}
		}
	}
}

// under returns what is there by keys that begin with prefix, in order.
func (x index[T]) under(prefix string) []T {
	var list []T
	it := x.tree.Root().Iterator()
	it.SeekPrefix([]byte(prefix))
	for _, entry, ok := it.Next(); ok; _, entry, ok = it.Next() {
		list = append(list, *entry)
	}
	return list
}

// edit is a change of an index under way. What was not changed keeps its tree,
// so that two indexes can be told to be the same by looking at that alone.
type edit[T any] struct {
	from *iradix.Tree[*T]
	txn  *iradix.Txn[*T] // nil as long as nothing was changed
}

func (x index[T]) edit() edit[T] { return edit[T]{from: x.tree} }

func newEdit[T any]() edit[T] { return edit[T]{from: iradix.New[*T]()} }

func (e *edit[T]) get(key string) (T, bool) {
	if e.txn == nil {
		return index[T]{e.from}.get(key)
	}
	entry, ok := e.txn.Get([]byte(key))
	if !ok {
		var none T
		return none, false
	}
	return *entry, true
}

func (e *edit[T]) set(key string, value T) {
	if e.txn == nil {
		e.txn = e.from.Txn()
	}
	e.txn.Insert([]byte(key), &value)
}

func (e *edit[T]) delete(key string) {
	if e.txn == nil {
		e.txn = e.from.Txn()
	}
	e.txn.Delete([]byte(key))
}

// done returns the index as it is now. CommitOnly leaves out the notification of
// watchers, of which there are none.
func (e *edit[T]) done() index[T] {
	if e.txn == nil {
		return index[T]{e.from}
	}
	return index[T]{e.txn.CommitOnly()}
}
