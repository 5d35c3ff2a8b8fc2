package audit

import "encoding/binary"

// What an index is by.
const (
	byTime    = 't'
	byKey     = 'k'
	byType    = 'e'
	byOrg     = 'o'
	byRequest = 'r'
)

// indexSuffix is how long time and number are in an index's key.
const indexSuffix = 16

// indexed is what the indexes know of a record.
type indexed struct {
	time    int64  // nanoseconds
	key     []byte // a key's hash; empty for none
	kind    string
	request string // empty for none
	org     string // empty for none
}

// indexPrefix is what the index's keys for a value begin with.
func indexPrefix(workspace string, by byte, value []byte) []byte {
	b := make([]byte, 0, len(workspace)+len(value)+3)
	b = append(append(b, workspace...), 0, by)
	return append(append(b, value...), 0)
}

// indexKey is the key of a record in the index that has the prefix.
func indexKey(prefix []byte, nanos int64, number uint64) []byte {
	b := make([]byte, 0, len(prefix)+indexSuffix)
	b = append(b, prefix...)
	b = binary.BigEndian.AppendUint64(b, indexTime(nanos))
	return binary.BigEndian.AppendUint64(b, number)
}

// indexTime is a time in an index; what was before 1970 lies at its beginning.
func indexTime(nanos int64) uint64 { return uint64(max(nanos, 0)) }

// indexKeys are the keys of a record in store.SpaceAuditIndex.
func indexKeys(workspace string, number uint64, x indexed) [][]byte {
	keys := make([][]byte, 0, 5)
	add := func(by byte, value []byte) {
		keys = append(keys, indexKey(indexPrefix(workspace, by, value), x.time, number))
	}
	add(byTime, nil)
	add(byType, []byte(x.kind))
	if len(x.key) > 0 {
		add(byKey, x.key)
	}
	if x.request != "" {
		add(byRequest, []byte(x.request))
	}
	if x.org != "" {
		add(byOrg, []byte(x.org))
	}
	return keys
}
