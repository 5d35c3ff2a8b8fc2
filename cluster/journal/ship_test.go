package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// numbered journals n events of 10 pico-dollars each and waits for them.
func numbered(t *testing.T, n *node, from, count int) {
	t.Helper()
	events := make([]journal.Event, count)
	for i := range events {
		events[i] = fullEvent(id.Request(fmt.Sprintf("req_%d", from+i)))
		events[i].Cost = 10
	}
	await(t, n.Settle(nil, events))
}

func TestBatchIsBounded(t *testing.T) {
	n := start(t, config(vfs.NewMem()), journal.Config{})
	if first, events, err := n.Batch(t.Context(), 0, 10, 1<<20); first != 0 || events != nil || err != nil {
		t.Errorf("an empty journal ships %d events from %d, %v", len(events), first, err)
	}
	numbered(t, n, 1, 9)
	_, all, err := n.Batch(t.Context(), 0, 100, 1<<20)
	if err != nil || len(all) != 9 {
		t.Fatalf("%d events, %v", len(all), err)
	}
	size := len(all[0])
	for _, tc := range []struct {
		name               string
		after              uint64
		maxEvents, maxSize int
		first              uint64
		count              int
	}{
		{"all", 0, 100, 1 << 20, 1, 9},
		{"after some", 4, 100, 1 << 20, 5, 5},
		{"so many", 2, 3, 1 << 20, 3, 3},
		{"so many bytes", 0, 100, 3 * size, 1, 3},
		{"a byte less", 0, 100, 3*size - 1, 1, 2},
		{"one, however large", 0, 100, 1, 1, 1},
		{"after the last", 9, 100, 1 << 20, 0, 0},
		{"after what is to come", 50, 100, 1 << 20, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first, events, err := n.Batch(t.Context(), tc.after, tc.maxEvents, tc.maxSize)
			if err != nil || first != tc.first || len(events) != tc.count {
				t.Errorf("%d events from %d, %v; want %d from %d", len(events), first, err, tc.count, tc.first)
			}
		})
	}
}

func TestTrim(t *testing.T) {
	mem := vfs.NewMem()
	n, err := boot(config(mem), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	numbered(t, n, 1, 5)
	check := func(last uint64, backlog int64, owed money.Pico, first uint64) {
		t.Helper()
		at, events, err := n.Batch(t.Context(), 0, 100, 1<<20)
		if err != nil || n.Last() != last || n.Backlog() != backlog || n.Owed() != owed || at != first || int64(len(events)) != backlog {
			t.Errorf("last %d, backlog %d, owed %v, %d events from %d, %v; want %d, %d, %v, from %d",
				n.Last(), n.Backlog(), n.Owed(), len(events), at, err, last, backlog, owed, first)
		}
	}
	check(5, 5, 50, 1)
	for _, upto := range []uint64{0, 2, 2, 1} {
		if err := n.Trim(t.Context(), upto); err != nil {
			t.Fatal(err)
		}
	}
	check(5, 3, 30, 3)
	err = n.Trim(t.Context(), 6)
	if f := fault.From(err); err == nil || f.Kind != fault.Conflict || f.Code != journal.CodeBehind {
		t.Errorf("an event that never existed is trimmed: %v", err)
	}
	check(5, 3, 30, 3)
	restart := func() {
		t.Helper()
		if err := n.shut(); err != nil {
			t.Fatal(err)
		}
		if n, err = boot(config(mem), journal.Config{}); err != nil {
			t.Fatal(err)
		}
	}
	restart()
	check(5, 3, 30, 3)
	if err := n.Trim(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	restart() // no event is left, and no number is reused
	check(5, 0, 0, 0)
	numbered(t, n, 6, 1)
	check(6, 1, 10, 6)
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
}

func TestWait(t *testing.T) {
	n := start(t, config(vfs.NewMem()), journal.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Wait(ctx, 5) }()
	heard := make(chan error, 3)
	for range cap(heard) {
		go func() { heard <- n.Wait(t.Context(), 1) }()
	}
	numbered(t, n, 1, 1)
	await(t, n.Intent(fullIntent("req_i"))) // a commit without an event
	select {
	case err := <-heard:
		t.Errorf("Wait returned without an event, %v", err)
	default:
	}
	numbered(t, n, 2, 1)
	for range cap(heard) {
		if err := <-heard; err != nil {
			t.Error(err)
		}
	}
	if err := n.Wait(t.Context(), 1); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestShippingWhileWriting reads and trims during concurrent writes: every event is read once,
// in order, and the numbers have no gap.
func TestShippingWhileWriting(t *testing.T) {
	mem := vfs.NewMem()
	n, err := boot(config(mem), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 4, 200
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				r := id.Request(fmt.Sprintf("req_%d_%d", w, i))
				p := n.Intent(fullIntent(r))
				if i%10 == 0 {
					n.Notify(blocked(r))
				}
				settled := n.Settle([]*journal.Pending{p}, []journal.Event{fullEvent(r)})
				if i%7 == 0 && settled.Wait(t.Context()) != nil {
					return
				}
			}
		})
	}
	seen, notices, at := map[id.Request]int{}, 0, uint64(0)
	for want := writers * each * 11 / 10; int(at) < want; {
		if err := n.Wait(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		first, events, err := n.Batch(t.Context(), at, 37, 1<<20)
		if err != nil || first != at+1 {
			t.Fatalf("after %d follows %d, %v", at, first, err)
		}
		for i, value := range events {
			ev, err := journal.Decode("n", 1, first+uint64(i), value)
			if err != nil {
				t.Fatal(err)
			}
			if ev.Notice != nil {
				notices++
			} else {
				seen[ev.Request]++
			}
		}
		at += uint64(len(events))
		if err := n.Trim(t.Context(), at-at%3); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if len(seen) != writers*each || notices != writers*each/10 || n.Backlog() != int64(at%3) {
		t.Errorf("%d requests, %d notices, backlog %d", len(seen), notices, n.Backlog())
	}
	if n.Owed() != money.Pico(at%3)*12345 {
		t.Errorf("owed %v with %d events left", n.Owed(), at%3)
	}
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
}

// TestNoticesAreDroppedBeforeMoneyWaits: if too many records wait, a settle is accepted and a
// notice is dropped.
func TestNoticesAreDroppedBeforeMoneyWaits(t *testing.T) {
	s, err := store.Open(config(vfs.NewMem()))
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(journal.Config{Store: s, MaxPending: 2})
	if err != nil {
		t.Fatal(err)
	}
	j.Notify(blocked("req_1"))
	j.Notify(blocked("req_2"))
	j.Notify(blocked("req_3"))
	settled := j.Settle(nil, []journal.Event{fullEvent("req_4")})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- j.Run(ctx) }()
	await(t, settled)
	cancel()
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	j.Notify(blocked("req_5")) // stopped
	var got []id.Request
	for _, ev := range list(t, j, journal.Filter{}) {
		got = append(got, ev.Request)
	}
	if diff := cmp.Diff([]id.Request{"req_1", "req_2", "req_4"}, got); diff != "" || j.Dropped() != 2 {
		t.Errorf("dropped %d; %s", j.Dropped(), diff)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestTooMuchThatIsNotPosted(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  journal.Config
		trim uint64 // after which it is healthy again
		says []string
	}{
		{"events", journal.Config{MaxBacklog: 2}, 1, []string{"3 events wait, and at most 2 may."}},
		{"money", journal.Config{MaxOwed: 20}, 1, []string{"events that cost $0.00000000003 wait", "at most $0.00000000002 may."}},
		{"age", journal.Config{MaxAge: time.Nanosecond}, 3, []string{"the oldest event has waited for ", "and it may for 1ns."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := start(t, config(vfs.NewMem()), tc.cfg)
			await(t, n.Settle(nil, nil)) // it runs
			if err := n.Healthy(); err != nil {
				t.Fatal(err)
			}
			numbered(t, n, 1, 3)
			err := n.Healthy()
			for _, part := range append(tc.says, "succeeded or has not ended yet", "the load and the disk of the cluster's leader", "another node") {
				unavailable(t, err, part)
			}
			n.SetStall(&journal.Stall{Reason: "Nobody leads.", Remedy: "Start more nodes."})
			unavailable(t, n.Healthy(), ". Nobody leads. Start more nodes. This node accepts")
			if fault.From(err).Code != journal.CodeBacklog {
				t.Errorf("the code is %q", fault.From(err).Code)
			}
			if err := n.Settle([]*journal.Pending{n.Intent(fullIntent("req_9"))}, nil).Wait(t.Context()); err != nil {
				t.Errorf("a settle in flight is rejected: %v", err)
			}
			n.SetStall(nil)
			unavailable(t, n.Healthy(), "succeeded or has not ended yet")
			if err := n.Trim(t.Context(), tc.trim); err != nil {
				t.Fatal(err)
			}
			if err := n.Healthy(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTheLastAttemptOfADeadProcessIsFinal: of the crashed attempts of one request, one is
// final.
func TestTheLastAttemptOfADeadProcessIsFinal(t *testing.T) {
	mem := vfs.NewMem()
	n, err := boot(config(mem), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []usage.Attempt{{Request: "req_1", Number: 2}, {Request: "req_2", Number: 1}, {Request: "req_1", Number: 3}, {Request: "req_1", Number: 1}} {
		await(t, n.Intent(in))
	}
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
	n = start(t, config(mem), journal.Config{})
	got := map[string]bool{}
	for _, ev := range list(t, n.Journal, journal.Filter{}) {
		got[fmt.Sprintf("%s/%d", ev.Request, ev.Number)] = ev.Final
	}
	if diff := cmp.Diff(map[string]bool{"req_1/1": false, "req_1/2": false, "req_1/3": true, "req_2/1": true}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAGapIsNotShipped(t *testing.T) {
	n := start(t, config(vfs.NewMem()), journal.Config{})
	numbered(t, n, 1, 3)
	b := n.store.NewBatch()
	b.Delete(store.SpaceEvent, []byte("\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02"))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	b.Close()
	_, _, err := n.Batch(t.Context(), 0, 10, 1<<20)
	unavailable(t, err, "cannot be read")
}

func TestDecodeRejectsUnknownVersions(t *testing.T) {
	for _, value := range [][]byte{[]byte("\x08\x63"), []byte("\xff"), bytes.Repeat([]byte{0xff}, 20)} {
		_, err := journal.Decode("n", 1, 1, value)
		unavailable(t, err, "cannot be read")
	}
}
