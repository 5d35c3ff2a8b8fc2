package auditsink_test

import (
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// TestLeaderChanges has two nodes deliver one log by turns, and for a while at once,
// to a receiver that fails now and then. Every record arrives; without those that
// came before they are in order; and few come twice.
func TestLeaderChanges(t *testing.T) {
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			a := newBench(t)
			b := newBench(t)
			b.log, b.cursors, b.to = a.log, a.cursors, a.to
			var calls atomic.Int64
			a.to.answer = func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				time.Sleep(20 * time.Millisecond)
				if calls.Add(1)%97 == 0 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}
			a.lead(false)
			b.lead(false)
			_, stopA := a.start(a.config())
			_, stopB := b.start(b.config())
			changes := 0
			for range 60 {
				a.log.add(random.IntN(30))
				time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
				if random.IntN(4) == 0 {
					changes++
					leads := random.IntN(3)
					a.lead(leads != 0)
					b.lead(leads != 1)
				}
			}
			a.lead(true)
			b.lead(false)
			time.Sleep(time.Hour)
			stopA()
			stopB()
			head, _ := a.log.Head(t.Context())
			seen := map[string]bool{}
			var first []string
			for _, id := range a.to.taken() {
				if !seen[id] {
					seen[id] = true
					first = append(first, id)
				}
			}
			if diff := cmp.Diff(ids(1, int(head)), first); diff != "" {
				t.Errorf("seed %d: %s", seed, diff)
			}
			if at := a.cursors.read(delivery.Webhook); at != head+1 {
				t.Errorf("seed %d: the cursor is at %d of %d", seed, at, head)
			}
			t.Logf("seed %d: %d records, %d deliveries, %d changes", seed, head, len(a.to.taken()), changes)
		})
	}
}

// TestStopSaves: who stops in order leaves nothing to deliver twice.
func TestStopSaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for range 10 {
			_, stop := b.start(b.config())
			b.log.add(7)
			time.Sleep(100 * time.Millisecond)
			stop()
		}
		if diff := cmp.Diff(ids(1, 70), b.to.taken()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestOnlyTheLeaderDelivers: the others do not even connect.
func TestOnlyTheLeaderDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.lead(false)
		d, stop := b.start(b.config())
		defer stop()
		b.log.add(10)
		time.Sleep(time.Hour)
		if len(b.to.dials()) != 0 || b.cursors.count() != 0 {
			t.Errorf("dialed %v, %d saves", b.to.dials(), b.cursors.count())
		}
		if d.Status()[0].Active {
			t.Error("it says that it delivers")
		}
		b.lead(true)
		time.Sleep(2 * time.Second)
		if diff := cmp.Diff(ids(1, 10), b.to.taken()); diff != "" {
			t.Error(diff)
		}
	})
}
