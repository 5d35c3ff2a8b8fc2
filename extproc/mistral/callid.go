package mistral

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

// callIDLength is the number of characters of a call's id.
const callIDLength = 9

// callIDs are the characters of a call's id.
const callIDs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// callID returns the id under which Mistral takes a call. An id of its own stays as it is.
func callID(id string) string {
	if len(id) == callIDLength && strings.Trim(id, callIDs) == "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	n := binary.BigEndian.Uint64(sum[:])
	var out [callIDLength]byte
	for i := range out {
		out[i] = callIDs[n%uint64(len(callIDs))]
		n /= uint64(len(callIDs))
	}
	return string(out[:])
}
