package flood_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/flood"
)

// The memory of a flood is bounded, however many keys it comes from: keys beyond the bound
// are counted anonymously.
func TestBoundsTheSourcesOfAFlood(t *testing.T) {
	t.Parallel()
	var f flood.Filter
	var out []journal.Event
	take := func(n int, now time.Time) {
		ev := journal.Event{
			Attempt: usage.Attempt{
				Key: id.HashKey(strconv.Itoa(n)), Team: "blue", EndUser: "bob",
			},
			Notice: &journal.Notice{Code: "budget_exceeded", Account: id.Account{Kind: id.AccountTeam, Owner: "blue"}, AccountEpoch: 1},
		}
		out = append(out, f.Take(now, &ev)...)
	}
	const keys = 3 * flood.MaxSources
	for range 12 {
		for n := range keys {
			take(n, time.Unix(1_700_000_000, 0))
		}
	}
	out = append(out, f.FlushAll()...)
	total, nobodys := uint64(0), uint64(0)
	for _, ev := range out {
		total += max(ev.Notice.Count, 1)
		if ev.Key == (id.KeyHash{}) {
			nobodys += max(ev.Notice.Count, 1)
			if ev.Team != "" || ev.EndUser != "" || ev.Notice.Account != (id.Account{}) || ev.Notice.AccountEpoch != 0 {
				t.Fatalf("a nameless notice says %+v", ev)
			}
		}
	}
	if total != 12*keys || nobodys != 12*(keys-flood.MaxSources) {
		t.Errorf("%d are counted, %d of them anonymous", total, nobodys)
	}
	if most := (flood.MaxSources + 1) * (flood.MaxPerSource + 1); len(out) > most {
		t.Errorf("%d are recorded, want %d at most", len(out), most)
	}
}
