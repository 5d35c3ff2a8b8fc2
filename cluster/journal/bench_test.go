package journal_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// BenchmarkRequest journals complete requests, intent and settle, with a wait for each, on a
// real disk. requests/sync is the size of a group commit.
func BenchmarkRequest(b *testing.B) {
	for _, writers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			var commits atomic.Int64
			n := start(b, store.Config{Dir: filepath.Join(b.TempDir(), "data"), MinFreeBytes: 1, BallastBytes: -1},
				journal.Config{Committed: func(journal.Commit) { commits.Add(1) }})
			in := fullIntent("req_0123456789abcdef0123456789abcdef")
			ev := fullEvent(in.Request)
			b.ReportAllocs()
			b.SetParallelism(max(writers/runtime.GOMAXPROCS(0), 1))
			request := func() {
				p := n.Intent(in)
				if err := p.Wait(b.Context()); err != nil {
					b.Error(err)
				}
				if err := n.Settle([]*journal.Pending{p}, []journal.Event{ev}).Wait(b.Context()); err != nil {
					b.Error(err)
				}
			}
			b.ResetTimer()
			if writers == 1 {
				for range b.N {
					request()
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						request()
					}
				})
			}
			b.ReportMetric(2*float64(b.N)/float64(commits.Load()), "records/sync")
		})
	}
}
