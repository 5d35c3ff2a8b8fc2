package rate

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// What is what a bucket counts. The numbers travel between nodes.
type What uint8

// What there are buckets of.
const (
	RequestsPerMinute What = 1 + iota
	TokensPerMinute
	TokensPerDay
	Parallel // requests under way
)

// String says what the limit is a number of, as in "60 requests per minute".
func (w What) String() string {
	switch w {
	case RequestsPerMinute:
		return "requests per minute"
	case TokensPerMinute:
		return "tokens per minute"
	case TokensPerDay:
		return "tokens per day"
	case Parallel:
		return "parallel requests"
	}
	return "unknown"
}

// name is What in the details of an error.
func (w What) name() string {
	switch w {
	case RequestsPerMinute:
		return "rpm"
	case TokensPerMinute:
		return "tpm"
	case TokensPerDay:
		return "tpd"
	case Parallel:
		return "parallel"
	}
	return "unknown"
}

// Bucket is one limit of one account. Account, Model and What say which it is; its
// limit may change from one request to the next, and what was taken stays taken.
type Bucket struct {
	Account id.Account
	Model   string // empty for all models
	What    What
	Limit   uint32
	Scale   float64 // the limit counts times this, but at least as 1; 1 or 0: as it is
}

// limit is the limit that counts.
func (b *Bucket) limit() uint32 {
	if b.Limit == 0 || !(b.Scale > 0 && b.Scale < 1) {
		return b.Limit
	}
	return max(1, uint32(float64(b.Limit)*b.Scale))
}

// Name is what nodes call a bucket among themselves: a hash of what it is.
type Name [16]byte

// name returns the bucket's name. The hash is one that nobody finds two equal texts
// for, because people choose the ids of teams and users.
func (b *Bucket) name() Name {
	var space [256]byte
	text := append(space[:0], byte(b.What), byte(b.Account.Kind))
	for _, s := range [...]string{b.Account.Owner, b.Account.Part, b.Model} {
		text = binary.AppendUvarint(text, uint64(len(s)))
		text = append(text, s...)
	}
	sum := sha256.Sum256(text)
	return Name(sum[:16])
}
