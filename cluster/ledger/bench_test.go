package ledger_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// rows is the number of records of BenchmarkOneKey: 10,000,000 take some minutes and 2 GB.
var rows = flag.Int("ledger.rows", 100_000, "usage records that BenchmarkOneKey reads from")

// openToMeasure opens a state whose usage records are packed.
func openToMeasure(b *testing.B, cfg store.Config) *store.Store {
	b.Helper()
	s, err := store.Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	tx := s.NewTx()
	defer tx.Close()
	if f := ledger.BeginRows(tx); f != nil {
		b.Fatal(f)
	}
	if err := tx.CommitReplayable(); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkOneKey reads what one of 1,000 keys has used within 30 days: the latest page of 100 records, and all records.
func BenchmarkOneKey(b *testing.B) {
	s := openToMeasure(b, store.Config{Kind: store.StateStore, Dir: b.TempDir()})
	const size = 256
	each := int64(30*24*time.Hour) / int64(*rows)
	random := rand.New(rand.NewPCG(1, 2))
	first := uint64(1)
	for n := 0; n < *rows; n += size {
		var events []*clusterv1.UsageEvent
		for i := range size {
			key := random.IntN(1000)
			e := attempt(key, int64(i), nil)
			e.Team, e.User, e.Organization = fmt.Sprint("team-", key%50), fmt.Sprint("user-", key), "acme"
			e.Request = fmt.Sprintf("req_%016x%016x", random.Uint64(), random.Uint64())
			e.StartUnixNano = day0().UnixNano() + int64(n+i)*each
			e.EndUnixNano = e.GetStartUnixNano() + random.Int64N(int64(20*time.Second))
			events = append(events, e)
		}
		tx := s.NewTx()
		if _, f := ledger.Post(tx, run(b, "0123456789abcdef0123456789abcdef", first, events...), day0()); f != nil {
			b.Fatal(f)
		}
		if err := tx.CommitReplayable(); err != nil {
			b.Fatal(err)
		}
		tx.Close()
		first += size
	}
	key := keyOf(7)
	for name, f := range map[string]ledger.LogFilter{
		"page": {Key: &key, NewestFirst: true, Limit: 100, From: day0()},
		"all":  {Key: &key, From: day0(), Reads: 1 << 40},
	} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = 0
				if err := ledger.Logs(b.Context(), s, f, func(ledger.Record) bool { n++; return true }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n), "records")
		})
	}
}

// BenchmarkPost posts runs of 256 attempts by 50 keys of 5 teams, to a state with all of their
// accounts. Its rate is that of one core.
func BenchmarkPost(b *testing.B) {
	s := openToMeasure(b, store.Config{Kind: store.StateStore, Dir: "state", FS: vfs.NewMem()})
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
