package lease_test

import (
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// reserved returns the reserved amount; -1 if the request was denied.
func reserved(t *testing.T, m *member, amounts ...money.Pico) money.Pico {
	t.Helper()
	r, err := m.reserve(t.Context(), 1, amounts...)
	if err != nil {
		if fault.From(err).Code != "budget_exceeded" {
			t.Fatal(err)
		}
		return -1
	}
	return r.hold.Amount()
}

// The key's budget is 500. Each request reserves the largest amount that still fits, and is
// denied only if its smallest does not.
func TestTheLargestAmountThatFitsIsReserved(t *testing.T) {
	inWorld(t, 1000, time.Hour, func(w *world) {
		m := w.members[0]
		for i, want := range []money.Pico{300, 200, -1} {
			if got := reserved(w.t, m, 100, 200, 300); got != want {
				w.t.Errorf("request %d reserves %d, want %d", i, got, want)
			}
		}
	})
}

// Another node holds 300 of 500 and does not release them.
func TestASmallerAmountNeedsNoOtherNode(t *testing.T) {
	inWorld(t, 1000, time.Hour, func(w *world) {
		m, other := w.members[0], w.members[1]
		mustReserve(w.t, other, 1, 300)
		w.catchUp(1)
		if got := reserved(w.t, m, 100, 200, 300); got != 200 {
			w.t.Errorf("it reserves %d, want the 200 that the other node leaves", got)
		}
		if got := reserved(w.t, m, 1, 300); got != -1 {
			w.t.Errorf("it reserves %d of nothing", got)
		}
	})
}

// The amount that a request releases before its end is available to others at once, and only
// once.
func TestLoweredHoldsReleaseTheRest(t *testing.T) {
	inWorld(t, 1000, time.Hour, func(w *world) {
		t := w.t
		m := w.members[0]
		held := mustReserve(t, m, 1, 500)
		held.lower(200)
		held.lower(400) // more than it has: nothing changes
		mustReserve(t, m, 1, 300)
		if got := reserved(t, m, 1); got != -1 {
			t.Errorf("another %d fits into what is reserved", got)
		}
		held.settle(50)
		held.hold.Lower(0) // it has ended
		mustReserve(t, m, 1, 150)
		if got := reserved(t, m, 1); got != -1 {
			t.Errorf("another %d fits into what is spent and reserved", got)
		}
		var none *lease.Hold
		none.Lower(1)
		if none.Amount() != 0 {
			t.Error("no hold reserves something")
		}
	})
}
