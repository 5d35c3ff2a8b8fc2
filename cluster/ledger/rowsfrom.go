package ledger

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/block"
)

// RowsFrom calls fn for the usage records from a number on, in the order of recording, until fn
// returns false. It begins with the first record that is still there. While records of an older
// version are left to pack, there are none, because those get numbers before the others.
func RowsFrom(ctx context.Context, r Reader, number uint64, fn func(number uint64, r Record) bool) error {
	older, err := HasOlderRows(ctx, r)
	if err != nil {
		return unreadable(err)
	}
	if older {
		return nil
	}
	var broken error
	err = rowLog().Range(ctx, r, number, block.All, func(x block.Record) bool {
		var rec Record
		var place []byte
		if place, broken = placeOf(x); broken != nil {
			return false
		}
		if rec, broken = readRecord(place, x.Value); broken != nil {
			return false
		}
		return fn(x.Number, rec)
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// CountRows returns how many usage records have a number from first to last. It may count records that
// were trimmed. No number from the last packed one of an older version to olderRows is used.
func CountRows(r Reader, first, last uint64) (n uint64, err error) {
	end, _, err := rowLog().End(r)
	if err != nil {
		return 0, unreadable(err)
	}
	packed, err := rowLog().Imported(r)
	if err != nil {
		return 0, unreadable(err)
	}
	between := func(least, most uint64) uint64 {
		from, to := max(first, least), min(last, most)
		return max(to+1, from) - from
	}
	if end < olderRows {
		return between(1, end), nil
	}
	return between(1, packed) + between(olderRows, end), nil
}
