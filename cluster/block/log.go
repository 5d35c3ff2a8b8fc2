package block

import (
	"context"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Size is the highest number of records of a block. A block never contains records on both sides
// of a multiple of it.
const Size = 256

// maxRaw is the number of bytes of records from which on a block ends early.
const maxRaw = 512 << 10

// Tx changes the replicated state and reads its own writes.
type Tx interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Set(space store.Space, key, value []byte)
	Delete(space store.Space, key []byte)
	Scan(r store.Range, fn func(key, value []byte) bool) error
}

// Reader reads the replicated state.
type Reader interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Scan(ctx context.Context, r store.Range, fn func(key, value []byte) bool) error
}

// Getter is a Tx or a Reader.
type Getter interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
}

// Log says where a log is stored and what its records are. It is a value without state.
type Log struct {
	Space  store.Space
	Prefix string
	// Unique has the kinds of terms that hardly two records share, such as the id of a request. They
	// are in a filter of each block; the others have postings.
	Unique string
	// Chain is set if each record repeats the hash of the record before it.
	Chain Chain
}

// Chain takes the hashes out of records of a hash chain, so that blocks store each hash once.
type Chain interface {
	// Split appends a record without its hashes. ok is false for a record that has none.
	Split(to, value []byte) (rest []byte, x Link, ok bool)
	// Join appends the record of which Split appended the rest.
	Join(to, rest []byte, x Link) []byte
	// Follow is Join with the hash that follows from the record and the one before it, which it returns.
	Follow(to, rest []byte, previous [32]byte) (out []byte, own [32]byte)
}

// Link has the hashes of a record of a chain.
type Link struct{ Previous, Own [32]byte }

// Term is a value by which records are found.
type Term [termSize]byte

const termSize = 9

// NewTerm returns the term of a value. The kind distinguishes equal values of different fields.
func NewTerm[T string | []byte](kind byte, value T) Term {
	t := Term{kind}
	binary.BigEndian.PutUint64(t[1:], xxhash.Sum64([]byte(value)))
	return t
}

func (l Log) unique(t Term) bool {
	for i := range len(l.Unique) {
		if l.Unique[i] == t[0] {
			return true
		}
	}
	return false
}

// Entry is a record to append.
type Entry struct {
	Number uint64 // that of the previous record and 1; of the first record any above 0
	Time   int64  // nanoseconds since 1970, at least 0, by which Query orders
	Terms  []Term
	Value  []byte
}

// Record is a record of a log. Its value is shared: the caller must not change it.
type Record struct {
	Number uint64
	Time   int64
	Value  []byte
}

// The kinds of keys.
const (
	kindHead      = 'h'
	kindRecord    = 'r'
	kindBlock     = 'b'
	kindDirectory = 'd'
	kindFilter    = 'f'
	kindTerms     = 't'
	kindPosting   = 'p'
	// Of sealed segments.
	kindSegment        = 's'
	kindSegmentTerms   = 'v'
	kindSegmentPosting = 'q'
	kindSegmentDropped = 'z'
)

// prefix returns the prefix of the keys of a kind.
func (l Log) prefix(kind byte) []byte {
	return append(append(make([]byte, 0, len(l.Prefix)+1+termSize+8), l.Prefix...), kind)
}

func (l Log) key(kind byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(l.prefix(kind), number)
}

func (l Log) posting(t Term, first uint64) []byte {
	return binary.BigEndian.AppendUint64(append(l.prefix(kindPosting), t[:]...), first)
}

// segmentPosting is the posting of a sealed segment, which begins with a record.
func (l Log) segmentPosting(t Term, first uint64) []byte {
	return binary.BigEndian.AppendUint64(append(l.prefix(kindSegmentPosting), t[:]...), first)
}

// numberOf decodes the number at the end of a key.
func numberOf(key []byte) uint64 {
	if len(key) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(key[len(key)-8:])
}

// head is the position of a log.
type head struct {
	last   uint64 // number of the last record
	packed uint64 // number of the last record in a block; the ones after it are records of their own
	raw    uint64 // bytes of those
	peak   int64  // highest time of the records in blocks, and of all that Import will pack
	// Of the records that Import packed: the number of the last, and the highest time.
	imported     uint64
	importedPeak int64
}

const (
	headVersion = 1
	headSize    = 1 + 6*8 + sumSize
)

func (l Log) head(r Getter) (h head, begun bool, err error) {
	b, ok, err := r.Get(l.Space, l.prefix(kindHead))
	if err != nil || !ok {
		return head{}, false, err
	}
	if len(b) != headSize || b[0] != headVersion || checksum(0, b[:headSize-sumSize]) != binary.BigEndian.Uint32(b[headSize-sumSize:]) {
		return head{}, false, damaged(nil, "The head of a log of records is damaged.")
	}
	field := func(i int) uint64 { return binary.BigEndian.Uint64(b[1+8*i:]) }
	return head{field(0), field(1), field(2), int64(field(3)), field(4), int64(field(5))}, true, nil
}

func (l Log) setHead(tx Tx, h head) {
	b := make([]byte, 0, headSize)
	b = append(b, headVersion)
	for _, n := range [...]uint64{h.last, h.packed, h.raw, uint64(h.peak), h.imported, uint64(h.importedPeak)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	tx.Set(l.Space, l.prefix(kindHead), binary.BigEndian.AppendUint32(b, checksum(0, b)))
}

// End returns the number of the last record of Append. begun is false before Begin and the first Append.
func (l Log) End(r Getter) (last uint64, begun bool, err error) {
	h, begun, err := l.head(r)
	return h.last, begun, err
}

// Imported returns the number of the last record of Import; 0 if there is none.
func (l Log) Imported(r Getter) (uint64, error) {
	h, _, err := l.head(r)
	return h.imported, err
}

// OpDamaged is the Op of the error for records that cannot be read.
const OpDamaged = "block"

func damaged(cause error, detail string) error {
	return &fault.Error{Op: OpDamaged, Kind: fault.Internal, Detail: detail, Err: cause}
}
