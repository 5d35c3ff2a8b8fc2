// Package porttest gives tests ports of this machine that something else is to
// listen at, later or again.
//
// A port that the system chooses for a listener is anybody's again when that is
// closed: another test's listener may have it before the program starts that it was
// meant for, and tests run in many processes at once. The ports of this package are
// below those that the system chooses from, and no other test of this module is given
// one until the test that has it ends.
package porttest

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
)

// Ports are given in pairs: who listens at the first has the second.
const (
	lowest = 20_000
	pairs  = 5_000
)

// Free returns a port of 127.0.0.1 that nobody listens at. It is the test's own until
// it ends.
func Free(t *testing.T) netip.AddrPort {
	t.Helper()
	first := rand.IntN(pairs) //nolint:gosec // nobody has to guess it
	for i := range pairs {
		claim := address(lowest + 2*((first+i)%pairs))
		held, err := listen(t, claim)
		if err != nil {
			continue
		}
		free := address(int(claim.Port()) + 1)
		l, err := listen(t, free)
		if err != nil {
			_ = held.Close()
			continue
		}
		_ = l.Close()
		t.Cleanup(func() { _ = held.Close() })
		return free
	}
	t.Fatalf("no port from %d to %d is free", lowest, lowest+2*pairs)
	return netip.AddrPort{}
}

func address(port int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))
}

func listen(t *testing.T, at netip.AddrPort) (net.Listener, error) {
	t.Helper()
	return (&net.ListenConfig{}).Listen(t.Context(), "tcp", at.String())
}
