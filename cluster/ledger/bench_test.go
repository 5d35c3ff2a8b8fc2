package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// BenchmarkPost posts runs of 256 attempts by 50 keys of 5 teams, to a state with all of their
// accounts. Its rate is that of one core.
func BenchmarkPost(b *testing.B) {
	s, err := store.Open(store.Config{Kind: store.StateStore, Dir: "state", FS: vfs.NewMem()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	const size = 256
	var events []*clusterv1.UsageEvent
	for i := range size {
		e := attempt(i%50, int64(i), &clusterv1.Charge{Kind: clusterv1.AccountKind_ACCOUNT_KIND_KEY, MaxPico: new(int64(1e18)), SoftPico: 1e17})
		e.Team, e.User, e.Organization, e.EndUser = fmt.Sprint("team-", i%5), fmt.Sprint("user-", i%50), "acme", fmt.Sprint("customer-", i%100)
		e.Request = fmt.Sprintf("req_%032x", i)
		e.EndUnixNano += int64(i)
		events = append(events, e)
	}
	r := run(b, "0123456789abcdef0123456789abcdef", 1, events...)
	at := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		tx := s.NewTx()
		if _, f := ledger.Post(tx, r, at); f != nil {
			b.Fatal(f)
		}
		if err := tx.CommitReplayable(); err != nil {
			b.Fatal(err)
		}
		tx.Close()
		r.First += size
	}
	b.ReportMetric(float64(b.N)*size/b.Elapsed().Seconds(), "events/s")
}
