package consensus

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// clocks is a machine that records the times of its entries.
type clocks struct{ times []int64 }

func (m *clocks) Apply(_ *store.Tx, e Entry) Outcome {
	m.times = append(m.times, e.Time.UnixNano())
	return Outcome{}
}

func (m *clocks) Restored(*store.Store, uint64) error { return nil }

// TestOutcomesExpire: an outcome is kept for a day by the clock of the state, which does not go
// back with a leader's clock. Expired outcomes are removed a few at a time.
func TestOutcomesExpire(t *testing.T) {
	m := &clocks{}
	c, err := Open(Config{
		Log: testStore(t), Dir: "state", FS: vfs.NewMem(), Machine: m, Node: "one",
		CommandID: func(command []byte) []byte { return command },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	index := uint64(0)
	apply := func(at time.Duration, id string) result {
		t.Helper()
		index++
		data, err := proto.Marshal(&clusterv1.Entry{TimeUnixNano: int64(at), Command: []byte(id)})
		if err != nil {
			t.Fatal(err)
		}
		return c.state.apply(&raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: data})
	}
	kept := func(space store.Space) int {
		t.Helper()
		n := 0
		err := c.View(func(s *store.Store) error {
			return s.Scan(t.Context(), store.Range{Space: space}, func(_, _ []byte) bool { n++; return true })
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const day = 24 * time.Hour
	for i := range 10 {
		apply(day, string(rune('a'+i)))
	}
	if res := apply(day/2, "back"); res.index != 11 || m.times[10] != int64(day) || !c.Clock().Equal(time.Unix(0, int64(day))) {
		t.Errorf("the clock went back: %v", m.times)
	}
	if res := apply(2*day, "a"); res.index != 1 {
		t.Errorf("after a day the command has index %d", res.index)
	}
	if got := kept(store.SpaceOutcome); got != 11 {
		t.Errorf("%d outcomes are kept", got)
	}
	for i, want := range []int{7, 3, 0, 0} {
		apply(2*day+1, "")
		if got := kept(store.SpaceOutcome); got != want || kept(store.SpaceOutcomeTime) != want {
			t.Errorf("after %d entries %d outcomes are kept", i+1, got)
		}
	}
	if res := apply(2*day+1, "a"); res.index != index {
		t.Errorf("a command with an expired outcome has index %d", res.index)
	}
}
