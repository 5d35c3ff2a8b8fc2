package auditsink_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/auditsink"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/signature"
)

// slow is an answer that takes a while. It fails each nth request; 0: none.
func slow(takes time.Duration, nth int64) func(http.ResponseWriter, *http.Request, []byte) {
	var calls atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		time.Sleep(takes)
		if nth > 0 && calls.Add(1)%nth == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
}

// TestDeliveriesDoNotWait holds the time that deliveries take, on a clock that moves
// only when everybody waits: one by one the receiver alone determines it, batches
// make it short, and a failure costs one more request and nothing else.
func TestDeliveriesDoNotWait(t *testing.T) {
	for _, tc := range []struct {
		name    string
		pace    delivery.Pace
		records int
		nth     int64
		within  time.Duration
	}{
		{"one by one", delivery.Pace{}, 1000, 0, 20 * time.Second},
		{"one by one, 2 % fail", delivery.Pace{}, 1000, 50, 20*time.Second + 21*20*time.Millisecond},
		{"batches", delivery.Pace{Batch: 500}, 50_000, 0, 4 * time.Second}, // 5,000 a second are 10 s
		{"batches, 2 % fail", delivery.Pace{Batch: 50}, 50_000, 50, 22 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.log.add(tc.records)
				b.to.answer = slow(20*time.Millisecond, tc.nth)
				c := b.config()
				c.Pace = tc.pace
				begun := time.Now()
				d, stop := b.start(c)
				defer stop()
				for d.Status()[0].Delivered < uint64(tc.records) && time.Since(begun) < time.Hour {
					time.Sleep(time.Millisecond)
				}
				if took := time.Since(begun); took > tc.within+100*time.Millisecond {
					t.Errorf("%d records took %s of the receiver's time, want %s", tc.records, took, tc.within)
				}
				if diff := cmp.Diff(ids(1, tc.records), b.to.taken()); diff != "" {
					t.Error(diff)
				}
				if strings.Contains(b.logged.String(), "cannot be delivered") {
					t.Errorf("a failure now and then is logged: %s", b.logged)
				}
			})
		})
	}
}

// pauses returns the waits between consecutive requests, on a clock that moves only
// when everybody waits: the receiver below responds at once.
func pauses(requests []request) (out []time.Duration) {
	for i := 1; i < len(requests); i++ {
		if d := requests[i].at.Sub(requests[i-1].at); d > 0 {
			out = append(out, d)
		}
	}
	return out
}

// TestFirstRetryDoesNotWait: a receiver that fails each 50th request costs one more
// request for each failure and no wait. Waits begin with the second failure in a row, or
// with the first if the receiver responds that there were too many requests, and grow.
func TestFirstRetryDoesNotWait(t *testing.T) {
	const records = 1000
	for _, tc := range []struct {
		name     string
		pace     delivery.Pace
		status   int
		fails    func(call int64) bool
		requests int
		atLeast  []time.Duration // the waits, at least so long and at most twice so
	}{
		{"each 50th fails", delivery.Pace{}, 503, func(n int64) bool { return n%50 == 0 }, records + 20, nil},
		{"each 2nd fails", delivery.Pace{}, 503, func(n int64) bool { return n%2 == 0 }, 2*records - 1, nil},
		{"each 50th batch fails", delivery.Pace{Batch: 2}, 503, func(n int64) bool { return n%50 == 0 }, records/2 + 10, nil},
		{
			"four fail in a row",
			delivery.Pace{},
			503, func(n int64) bool { return n%500 > 0 && n%500 <= 4 }, records + 12,
			repeat(3, 25*time.Millisecond, 50*time.Millisecond, 100*time.Millisecond),
		},
		{"too many requests", delivery.Pace{}, 429, func(n int64) bool { return n%250 == 0 }, records + 4, repeat(4, 50*time.Millisecond)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.log.add(records)
				var calls atomic.Int64
				b.to.answer = func(w http.ResponseWriter, _ *http.Request, _ []byte) {
					if tc.fails(calls.Add(1)) {
						w.WriteHeader(tc.status)
					}
				}
				c := b.config()
				c.Pace = tc.pace
				b.lead(false)
				_, stop := b.start(c)
				defer stop()
				b.lead(true)
				time.Sleep(time.Minute)
				if diff := cmp.Diff(ids(1, records), b.to.taken()); diff != "" {
					t.Error(diff)
				}
				all := b.to.requests()
				if len(all) != tc.requests {
					t.Errorf("%d requests, want %d", len(all), tc.requests)
				}
				got := pauses(all)
				if len(got) != len(tc.atLeast) {
					t.Fatalf("waits of %v, want %d", got, len(tc.atLeast))
				}
				for i, least := range tc.atLeast {
					if got[i] < least || got[i] > 2*least+time.Millisecond {
						t.Errorf("wait %d is %s, want %s to %s", i, got[i], least, 2*least)
					}
				}
			})
		})
	}
}

// repeat returns waits n times over.
func repeat(n int, waits ...time.Duration) []time.Duration { return slices.Repeat(waits, n) }

// TestBatches: each request is an array of the records that wait, in order and within
// 1 MiB, under one signature. The number follows the settings.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.change(func(s *delivery.Settings) { s.Pace.Batch = 500 })
		for n := range 200 {
			b.log.addOf(fmt.Sprint(n%7), "", strings.Repeat("f", 10<<10))
		}
		b.log.add(1100)
		_, stop := b.start(b.config())
		defer stop()
		time.Sleep(time.Second)
		b.log.add(1)
		time.Sleep(time.Second)
		b.change(func(s *delivery.Settings) { s.Pace.Batch = 1 })
		b.log.add(2)
		time.Sleep(2 * time.Second)
		if diff := cmp.Diff(ids(1, 1303), b.to.taken()); diff != "" {
			t.Error(diff)
		}
		var sizes []string
		for _, r := range b.to.requests() {
			if err := verify(r.header.Get(signature.Header), r.body, r.at, secret); err != nil {
				t.Error(err)
			}
			if len(r.body) > 1<<20 {
				t.Errorf("a request has %d bytes", len(r.body))
			}
			sizes = append(sizes, r.header.Get(auditsink.BatchHeader))
		}
		if n := len(sizes); n < 6 || n > 9 || sizes[n-3] != "1" || sizes[n-2] != "" || sizes[n-1] != "" {
			t.Errorf("records by request: %q", sizes)
		}
	})
}

// owned says whose the records of TestParallel are.
func owned(number int) (key, organization string) {
	switch number % 10 {
	case 0: // of the gateway itself
		return "", ""
	case 1, 2, 3: // keys of one organization
		return fmt.Sprint("key-", number%10), "org-a"
	case 4: // a key that changes its organization
		return "key-moves", fmt.Sprint("org-", number%3)
	}
	return fmt.Sprint("key-", number%40), ""
}

// TestParallel: requests go out at once, yet no record arrives before an earlier one of
// its key, or of its organization, also while requests fail.
func TestParallel(t *testing.T) {
	for _, batch := range []int{1, 7} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			const records = 4000
			for n := range records {
				key, organization := owned(n + 1)
				b.log.addOf(key, organization, "")
			}
			var out, most atomic.Int64
			b.to.answer = func(w http.ResponseWriter, _ *http.Request, body []byte) {
				if n := out.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Duration(5+len(body)%30) * time.Millisecond)
				out.Add(-1)
				if len(body)%11 == 0 && time.Now().UnixMilli()%2 == 0 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}
			c := b.config()
			c.Pace = delivery.Pace{Batch: batch, Parallel: 8}
			_, stop := b.start(c)
			defer stop()
			time.Sleep(10 * time.Minute)
			got := b.to.taken()
			last := map[string]string{}
			for _, id := range got {
				var n int
				if _, err := fmt.Sscanf(id, "evt_%x", &n); err != nil {
					t.Fatal(err)
				}
				key, organization := owned(n)
				for _, group := range []string{"k" + key, "o" + organization} {
					if len(group) == 1 && key+organization != "" {
						continue
					}
					if last[group] >= id {
						t.Fatalf("%s of %s arrived after %s", id, group, last[group])
					}
					last[group] = id
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(ids(1, records), got); diff != "" {
				t.Error(diff)
			}
			if most.Load() < 4 || most.Load() > 8 {
				t.Errorf("%d requests at a time", most.Load())
			}
			if at := b.cursors.read(delivery.Webhook); at != records+1 {
				t.Errorf("the cursor is at %d", at)
			}
		})
	}
}

// TestHoles has a receiver that refuses the records of one key for hours, over changes
// of the node that delivers. The others arrive, none is lost, and what was taken above
// the hole is not sent again.
func TestHoles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var mu sync.Mutex
		refused := true
		b.to.answer = func(w http.ResponseWriter, _ *http.Request, body []byte) {
			mu.Lock()
			defer mu.Unlock()
			if refused && strings.Contains(string(body), `"key-3"`) {
				w.WriteHeader(http.StatusBadRequest)
			}
		}
		c := b.config()
		c.Pace = delivery.Pace{Parallel: 4}
		const records = 300
		for range 3 {
			for n := range records / 3 {
				b.log.addOf(fmt.Sprint("key-", n%10), "", "")
			}
			_, stop := b.start(c)
			time.Sleep(time.Hour)
			stop()
		}
		if n := len(b.to.taken()); n != records/10*9 {
			t.Errorf("%d records of the other keys arrived, want each of %d once", n, records/10*9)
		}
		if at := b.cursors.read(delivery.Webhook); at != 4 {
			t.Errorf("the cursor is at %d, past a record that was not taken", at)
		}
		mu.Lock()
		refused = false
		mu.Unlock()
		// This node cannot save, as one that is killed: another one delivers again what
		// it sent, and leaves nothing out.
		b.cursors.set(true)
		_, stop := b.start(c)
		time.Sleep(time.Minute)
		stop()
		b.cursors.set(false)
		_, stop = b.start(c)
		time.Sleep(time.Minute)
		stop()
		got := b.to.taken()
		if n := len(got); n != records+records/10 {
			t.Errorf("%d deliveries, want %d", n, records+records/10)
		}
		slices.Sort(got)
		if diff := cmp.Diff(ids(1, records), slices.Compact(got)); diff != "" {
			t.Error(diff)
		}
		if at := b.cursors.read(delivery.Webhook); at != records+1 {
			t.Errorf("the cursor is at %d", at)
		}
	})
}
