package audit

import (
	"context"
	"encoding/binary"
	"hash/maphash"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// The indexes of a whole chain are checked by a sum over their keys, for to look each
// record up in each index takes ten times as long as all else. Where the sum of what
// the records say is not that of what is there, a second walk looks them up, and finds
// which one is at fault.

// keySum is a sum over keys that does not depend on their order. Its seed is nobody's
// to know beforehand, so nobody can make up other keys with the same sum.
type keySum struct {
	seed  maphash.Seed
	sum   uint64
	count uint64
}

func (k *keySum) add(key []byte) {
	k.sum += maphash.Bytes(k.seed, key)
	k.count++
}

// sumIndexes has the walk add up what the indexes have to have of its records.
func (w *walk) sumIndexes() { w.sum = &keySum{seed: maphash.MakeSeed()} }

// indexed checks what the indexes have of a record, or notes what they have to have.
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

// sameIndexes reports whether the indexes have the records up to a number, as the walk
// has added them up, and no others. What is behind that was written meanwhile.
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
