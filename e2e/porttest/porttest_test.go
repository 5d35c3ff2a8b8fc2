package porttest_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/modelgateway/modelgateway/e2e/porttest"
)

func TestFree(t *testing.T) {
	seen := map[netip.AddrPort]bool{}
	for range 200 {
		at := porttest.Free(t)
		if seen[at] {
			t.Fatalf("%v was given twice", at)
		}
		seen[at] = true
	}
	for at := range seen {
		for range 2 { // as often as a test wants to
			l, err := net.Listen("tcp", at.String())
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
