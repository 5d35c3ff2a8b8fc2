package rate

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// What is the quantity that a bucket counts. The numbers are sent between nodes.
type What uint8

// The quantities.
const (
	RequestsPerMinute What = 1 + iota
	TokensPerMinute
	TokensPerDay
	Parallel // requests in flight
)

// String returns the unit of the limit, as in "60 requests per minute".
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

// name returns What for the details of an error.
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

// Bucket is one limit of one account. Account, Model and What identify it. The limit may change
// from one request to the next; earlier usage stays counted.
type Bucket struct {
	Account id.Account
	Model   string // empty for all models
	What    What
	Limit   uint32
	Scale   float64 // multiplies the limit, with a result of at least 1; 1 or 0: no change
}

// limit returns the effective limit.
func (b *Bucket) limit() uint32 {
	if b.Limit == 0 || !(b.Scale > 0 && b.Scale < 1) {
		return b.Limit
	}
	return max(1, uint32(float64(b.Limit)*b.Scale))
}

// Name identifies a bucket between nodes: a hash of its identity.
type Name [16]byte

// name returns the bucket's name. The hash must be collision-resistant, because users choose
// the ids of teams and users.
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
