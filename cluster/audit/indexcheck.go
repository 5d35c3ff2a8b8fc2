package audit

import (
	"context"
	"encoding/binary"
	"hash/maphash"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// The indexes of a whole chain are checked by a sum over their keys, because looking up each
// record in each index takes ten times as long as everything else. If the sums differ, a second
// walk looks the records up to find the wrong one.

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
func (w *walk) sumIndexes() { w.sum = &keySum{seed: maphash.MakeSeed()} }

// indexed checks the index keys of a record, or adds them to the sum.
func (w *walk) indexed(r Reader, number uint64, x indexed) error {
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
