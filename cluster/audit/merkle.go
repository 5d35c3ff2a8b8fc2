package audit

import (
	"crypto/sha256"
	"math/bits"
)

// frontier is the part of a Merkle tree (RFC 6962, section 2.1) that is needed to append
// leaves: the roots of its complete subtrees, the largest first. A tree of n leaves has one for
// each bit that is set in n.
type frontier [][]byte

// leafHash returns the hash of a leaf, whose data is the hash of a record.
func leafHash(record [32]byte) [32]byte {
	var b [1 + sha256.Size]byte
	copy(b[1:], record[:])
	return sha256.Sum256(b[:])
}

// nodeHash returns the hash of two subtrees.
func nodeHash(left, right []byte) [32]byte {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left)
	copy(b[1+sha256.Size:], right)
	return sha256.Sum256(b[:])
}

// fits reports whether f can belong to a tree of this size.
func (f frontier) fits(size uint64) bool {
	for _, h := range f {
		if len(h) != sha256.Size {
			return false
		}
	}
	return len(f) == bits.OnesCount64(size)
}

// grown returns the frontier of a tree of size leaves plus one. It reuses the memory of f.
func (f frontier) grown(size uint64, leaf [32]byte) frontier {
	for ; size&1 == 1; size >>= 1 {
		leaf = nodeHash(f[len(f)-1], leaf[:])
		f = f[:len(f)-1]
	}
	return append(f, leaf[:])
}

// root returns the hash of the whole tree.
func (f frontier) root() [32]byte {
	if len(f) == 0 {
		return sha256.Sum256(nil)
	}
	root := [32]byte(f[len(f)-1])
	for i := len(f) - 2; i >= 0; i-- {
		root = nodeHash(f[i], root[:])
	}
	return root
}
