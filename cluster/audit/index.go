package audit

import "encoding/binary"

// The kinds of indexes.
const (
	byTime    = 't'
	byKey     = 'k'
	byType    = 'e'
	byOrg     = 'o'
	byRequest = 'r'
)

// indexSuffix is the length of time and number in an index key.
const indexSuffix = 16

// indexed has the indexed values of a record.
type indexed struct {
	time    int64  // nanoseconds
	key     []byte // a key's hash; empty for none
	kind    string
	request string // empty for none
	org     string // empty for none
}

// indexPrefix returns the prefix of the index keys of a value.
func indexPrefix(workspace string, by byte, value []byte) []byte {
	b := make([]byte, 0, len(workspace)+len(value)+3)
	b = append(append(b, workspace...), 0, by)
	return append(append(b, value...), 0)
}

// indexKey returns the index key of a record for a prefix.
func indexKey(prefix []byte, nanos int64, number uint64) []byte {
	b := make([]byte, 0, len(prefix)+indexSuffix)
	b = append(b, prefix...)
	b = binary.BigEndian.AppendUint64(b, indexTime(nanos))
	return binary.BigEndian.AppendUint64(b, number)
}

// indexTime returns a time for an index; times before 1970 become 1970.
func indexTime(nanos int64) uint64 { return uint64(max(nanos, 0)) }

// indexKeys returns the keys of a record in store.SpaceAuditIndex.
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
