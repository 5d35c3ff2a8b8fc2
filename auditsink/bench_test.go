package auditsink_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/auditsink"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// BenchmarkWebhook delivers a real log to a server on loopback, and reports records a
// second. 500 requests a second make 1,000 records. "client" is what an HTTP client
// does that posts the same bodies one by one and does nothing else: one by one
// cannot be faster.
//
//	go test ./auditsink -run '^$' -bench Webhook
func BenchmarkWebhook(b *testing.B) {
	for _, one := range []struct {
		name    string
		pace    delivery.Pace
		takes   time.Duration
		nth     int64 // of the requests each nth fails; 0: none
		records int
	}{
		{"batch-500/receiver-20ms", delivery.Pace{Batch: 500}, 20 * time.Millisecond, 0, 100_000},
		{"batch-500/receiver-20ms/failures-2%", delivery.Pace{Batch: 500}, 20 * time.Millisecond, 50, 100_000},
		{"parallel-32/receiver-20ms/failures-2%", delivery.Pace{Parallel: 32}, 20 * time.Millisecond, 50, 10_000},
		{"single/receiver-0ms/failures-2%", delivery.Pace{}, 0, 50, 5000},
		{"single/receiver-20ms", delivery.Pace{}, 20 * time.Millisecond, 0, 500},
		{"single/receiver-0ms", delivery.Pace{}, 0, 0, 20_000},
	} {
		b.Run(one.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				deliverAll(b, one.pace, one.takes, one.nth, one.records)
			}
		})
	}
	b.Run("client/receiver-0ms", func(b *testing.B) {
		to := httptest.NewServer(&sink{})
		defer to.Close()
		body := []byte(fmt.Sprintf("%0600d", 1))
		for b.Loop() {
			answer, err := http.Post(to.URL, "application/json", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
	})
}

// sink is a receiver that takes a while, and fails each nth request.
type sink struct {
	takes time.Duration
	nth   int64
	calls atomic.Int64
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	time.Sleep(s.takes)
	if s.nth > 0 && s.calls.Add(1)%s.nth == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// deliverAll measures the delivery of a log of so many records.
func deliverAll(b *testing.B, pace delivery.Pace, takes time.Duration, nth int64, records int) {
	b.Helper()
	state, err := store.Open(store.Config{Dir: "state", Kind: store.StateStore, FS: vfs.NewMem()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = state.Close() }()
	log := &stored{t: b, state: state, next: make(chan struct{})}
	for range records / 100 {
		log.add(100)
	}
	to := httptest.NewServer(&sink{takes: takes, nth: nth})
	defer to.Close()
	world := newBench(b)
	world.change(func(s *delivery.Settings) { s.URL = to.URL })
	c := world.config()
	c.Source = auditsink.Log{View: func(fn func(audit.Reader) error) error { return fn(state) }, Changed: log.changed, Workspace: audit.DefaultWorkspace}
	c.Transport, c.Guard, c.Pace = nil, delivery.Guard{AllowPrivate: true}, pace
	b.StartTimer()
	begun := time.Now()
	d, stop := world.start(c)
	for d.Status()[0].Delivered < uint64(records) {
		time.Sleep(time.Millisecond)
	}
	b.StopTimer()
	b.ReportMetric(float64(records)/time.Since(begun).Seconds(), "records/s")
	stop()
	b.StartTimer()
}
