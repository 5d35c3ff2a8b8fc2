package audit

import (
	"crypto/sha256"
	"math/bits"
)

// frontier is what of a Merkle tree (RFC 6962, section 2.1) is needed to let it grow:
// the roots of its complete subtrees, the largest first. A tree of n leaves has one
// for each bit that is set in n.
type frontier [][]byte

// leafHash is the hash of a leaf: a record's hash is its data.
func leafHash(record [32]byte) [32]byte {
	var b [1 + sha256.Size]byte
	copy(b[1:], record[:])
	return sha256.Sum256(b[:])
}

// nodeHash is the hash of two subtrees.
func nodeHash(left, right []byte) [32]byte {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left)
	copy(b[1+sha256.Size:], right)
	return sha256.Sum256(b[:])
}

// fits reports whether f can be of a tree of so many leaves.
func (f frontier) fits(size uint64) bool {
	for _, h := range f {
		if len(h) != sha256.Size {
			return false
		}
	}
	return len(f) == bits.OnesCount64(size)
}

// grown is the frontier of a tree of size leaves with one more. It takes f's memory.
func (f frontier) grown(size uint64, leaf [32]byte) frontier {
	for ; size&1 == 1; size >>= 1 {
		leaf = nodeHash(f[len(f)-1], leaf[:])
		f = f[:len(f)-1]
	}
	return append(f, leaf[:])
}

// root is the hash of the whole tree.
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
