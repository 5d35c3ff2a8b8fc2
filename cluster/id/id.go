package id

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ModelName is the alias that callers send as `model`; several deployments may share one.
type ModelName string

// Deployment identifies one deployment; it is what `x-gateway-model-id` carries.
type Deployment string

// Endpoint identifies a distinct upstream (scheme, host, port, TLS settings).
// It is also the stem of the names of its Envoy clusters.
type Endpoint string

// Request is the one identity of a request from end to end: `req_` and 32 hex digits.
type Request string

// Node identifies a node for the lifetime of its data directory: 32 hex digits.
type Node string

// Organization identifies an organization. Like the ids below it is chosen by
// whoever makes it, or a random UUID.
type Organization string

// Team identifies a team.
type Team string

// User identifies a user.
type User string

// Customer identifies an end user of an application within an organization, or among
// those that keys without an organization name.
type Customer string

// EndUser names an end user for the whole gateway: those of different organizations are
// different, whatever their ids. It can be compared and be a map's key.
type EndUser struct {
	Organization Organization // empty: keys without an organization name it
	ID           Customer
}

// Name returns the id for people and the audit log: after the organization and a slash
// if the end user has one.
func (u EndUser) Name() string {
	if u.Organization == "" {
		return string(u.ID)
	}
	return string(u.Organization) + "/" + string(u.ID)
}

// Account returns the account of the end user.
func (u EndUser) Account() Account {
	return Account{Kind: AccountCustomer, Owner: string(u.ID), Part: string(u.Organization)}
}

// Compare orders end users by their ids, and those of one id by organization.
func (u EndUser) Compare(v EndUser) int {
	return cmp.Or(cmp.Compare(u.ID, v.ID), cmp.Compare(u.Organization, v.Organization))
}

// Budget identifies a budget that several may have the terms of.
type Budget string

// requestPrefix is the form that the audit record gives a request id.
const requestPrefix = "req_"

// RequestFromUUID makes the request id from the UUID that Envoy gives a request,
// so that whatever Envoy says of a request can be found by the same name.
// Anything that is not a UUID yields a fresh random id.
func RequestFromUUID(uuid string) Request {
	if len(uuid) != 36 {
		return NewRequest()
	}
	var b [len(requestPrefix) + 32]byte
	copy(b[:], requestPrefix)
	n := len(requestPrefix)
	for i := range len(uuid) {
		c := uuid[i]
		switch {
		case c == '-' && (i == 8 || i == 13 || i == 18 || i == 23):
			continue
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
		default:
			return NewRequest()
		}
		if n == len(b) {
			return NewRequest()
		}
		b[n] = c
		n++
	}
	if n != len(b) {
		return NewRequest()
	}
	return Request(b[:])
}

// NewRequest returns a fresh random request id.
func NewRequest() Request {
	return Request(requestPrefix + randomHex())
}

// NewNode returns a fresh random node id.
func NewNode() Node { return Node(randomHex()) }

// NewUUID returns a fresh random UUID, version 4 (RFC 9562).
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // as below
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand.Read aborts the process instead
	return hex.EncodeToString(b[:])
}

// KeyHash is the SHA-256 of a whole virtual key, `sk-` included. Keys are
// looked up by it and it alone is stored; it prints as `sha256:<hex>`.
type KeyHash [sha256.Size]byte

// HashKey hashes a key as its holder sends it.
func HashKey(key string) KeyHash { return sha256.Sum256([]byte(key)) }

// keyHashPrefix is the form of a key hash in audit records and query parameters.
const keyHashPrefix = "sha256:"

// String returns the hash as `sha256:<64 hex digits>`.
func (h KeyHash) String() string {
	return string(h.Append(make([]byte, 0, len(keyHashPrefix)+hex.EncodedLen(len(h)))))
}

// Append appends String to b.
func (h KeyHash) Append(b []byte) []byte { return hex.AppendEncode(append(b, keyHashPrefix...), h[:]) }

// Hex returns the hash as 64 hex digits, as accounts of the ledger are named by it.
func (h KeyHash) Hex() string {
	var out [2 * len(h)]byte
	hex.Encode(out[:], h[:])
	return string(out[:])
}

// ParseKeyHash reads `sha256:<hex>` or bare hex.
func ParseKeyHash(s string) (KeyHash, bool) {
	var h KeyHash
	s = strings.TrimPrefix(s, keyHashPrefix)
	if len(s) != hex.EncodedLen(len(h)) {
		return KeyHash{}, false
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return KeyHash{}, false
	}
	return h, true
}
