package audit

import (
	"context"
	"encoding/binary"
	"hash/maphash"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// The index of the log is checked by package block. Records of older versions have indexes of their own. Those of a
// whole chain are checked by a sum over their keys, because looking up each record in each index takes ten times as
// long as everything else. If the sums differ, a second walk looks the records up to find the wrong one.

// keySum is an order-independent sum over keys. Its seed is random, so that an attacker cannot
// construct other keys with the same sum.
type keySum struct {
	seed  maphash.Seed
	sum   uint64
	count uint64
}

func (k *keySum) add(key []byte) {
	k.sum += maphash.Bytes(k.seed, key)
	k.count++
}

// sumIndexes makes the walk sum up the expected index keys of its records.
func (w *walk) sumIndexes(ctx context.Context, r Reader) (err error) {
	w.sum = &keySum{seed: maphash.MakeSeed()}
	w.index, err = logOf(w.workspace).NewCheck(ctx, r)
	return err
}

// indexProblem says what a problem of an index means.
func indexProblem(problem string) string {
	return "queries may not find the records that are packed with it: " + problem
}

// indexed checks the index of a record, if that of the whole chain is checked.
func (w *walk) indexed(number uint64, time int64) error {
	if w.index == nil {
		return nil
	}
	w.terms = appendTerms(w.terms[:0], w.external, w.internal)
	at, problem, err := w.index.Add(number, max(time, 0), w.terms)
	if problem != "" {
		w.fail(at, indexProblem(problem))
	}
	return err
}

// indexedOlder checks the index keys of a record of an older version, or adds them to the sum.
func (w *walk) indexedOlder(r Reader, number uint64, x indexed) error {
	for _, key := range indexKeys(w.workspace, number, x) {
		if w.sum != nil {
			w.sum.add(key)
			continue
		}
		_, ok, err := r.Get(store.SpaceAuditIndex, key)
		if err != nil {
			return err
		}
		if !ok {
			w.fail(number, "an index does not have the record, so that queries do not find it")
		}
	}
	return nil
}

// sameIndexes reports whether the indexes contain exactly the summed keys of the records up to
// a number. It ignores later records, which were written during the walk.
func (w *walk) sameIndexes(ctx context.Context, r Reader, last uint64) (bool, error) {
	there := keySum{seed: w.sum.seed}
	x := store.Range{Space: store.SpaceAuditIndex, Prefix: append([]byte(w.workspace), 0)}
	err := r.Scan(ctx, x, func(key, _ []byte) bool {
		if len(key) < indexSuffix || binary.BigEndian.Uint64(key[len(key)-8:]) <= last {
			there.add(key)
		}
		return true
	})
	return there == *w.sum, err
}
