package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
)

// TestKnownRoots uses the test vectors of Certificate Transparency's implementations.
func TestKnownRoots(t *testing.T) {
	var f frontier
	for n, want := range []string{
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
		"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
		"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
		"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
		"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
		"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	} {
		if root := f.root(); hex.EncodeToString(root[:]) != want || !f.fits(uint64(n)) {
			t.Errorf("the root of %d leaves is %x", n, root)
		}
		if n < 8 {
			leaf := []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"}[n]
			data, err := hex.DecodeString(leaf)
			if err != nil {
				t.Fatal(err)
			}
			f = f.grown(uint64(n), sha256.Sum256(append([]byte{0}, data...)))
		}
	}
}

// TestFrontierIsTheTree compares roots with the definition in RFC 6962.
func TestFrontierIsTheTree(t *testing.T) {
	var f frontier
	var leaves [][32]byte
	var root func(x [][32]byte) [32]byte
	root = func(x [][32]byte) [32]byte {
		if len(x) == 1 {
			return leafHash(x[0])
		}
		k := 1
		for 2*k < len(x) {
			k *= 2
		}
		left, right := root(x[:k]), root(x[k:])
		return nodeHash(left[:], right[:])
	}
	for n := range 130 {
		leaf := sha256.Sum256(fmt.Append(nil, n))
		leaves = append(leaves, leaf)
		f = f.grown(uint64(n), leafHash(leaf))
		if f.root() != root(leaves) {
			t.Fatalf("%d leaves", n+1)
		}
	}
}
