package auditsink

import (
	"container/heap"
	"context"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// item is a record that was read and that the place has not taken for sure.
type item struct {
	record  audit.Record
	headers []audit.Header
	groups  []string // what it keeps its order in
	done    bool     // the place has taken it, or does not want it
	// blockers counts the items that must be taken before this one; followers are
	// those that count this one.
	blockers  int
	followers []*item
}

// window holds the records between the first that the place has not taken and the
// last that was read. It decides which records may be sent next: those that share no
// group with an earlier record that the place has not taken. What it says was taken
// has no holes: records above the first hole are in progress.Taken.
type window struct {
	limit int // records between what is saved and what is read

	mu      sync.Mutex
	changed chan struct{}    // closed, and replaced, at each change
	items   []*item          // in the order of their numbers; the first is not done
	bytes   int              // of the items
	next    uint64           // number of the next record to read
	saved   uint64           // the Next that the nodes have agreed on
	taken   []delivery.Range // taken before this window began
	last    map[string]*item // the last item of each group that has one in items
	ready   items            // may be sent
}

// maxWindowBytes bounds the records that are read ahead.
const maxWindowBytes = 32 << 20

func newWindow(from delivery.Progress, pace delivery.Pace) *window {
	return &window{
		limit: min(max(2*batchSize, 4*pace.Batch*pace.Parallel), 20_000), changed: make(chan struct{}),
		next: from.Next, saved: from.Next, taken: from.Taken, last: map[string]*item{},
	}
}

// notify wakes those that wait for a change. It is called with mu.
func (w *window) notify() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// room waits until there is room for records, and returns the number to read from and
// how many. It returns 0, 0 when ctx is done.
func (w *window) room(ctx context.Context) (from uint64, n int) {
	for {
		w.mu.Lock()
		from, n = w.next, w.limit-int(w.next-min(w.saved, w.next))
		full, changed := n <= 0 || w.bytes >= maxWindowBytes, w.changed
		w.mu.Unlock()
		if !full {
			return from, min(n, batchSize)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, 0
		}
	}
}

// add appends records in their order. groups returns what a record must keep its order
// in; no group at all means that the place does not want the record.
func (w *window) add(records []audit.Record, groups func(audit.Record) []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range records {
		x := &item{record: r}
		w.next = r.Number + 1
		w.items = append(w.items, x)
		w.bytes += r.Size()
		in := groups(r)
		if len(in) == 0 || w.took(r.Number) {
			x.done = true
			continue
		}
		x.groups = in
		_, x.headers = audit.Delivered(r)
		for _, g := range in {
			if before := w.last[g]; before != nil {
				before.followers = append(before.followers, x)
				x.blockers++
			}
			w.last[g] = x
		}
		if x.blockers == 0 {
			heap.Push(&w.ready, x)
		}
	}
	w.advance()
	w.notify()
}

// took reports whether the place took a record before this window began.
func (w *window) took(number uint64) bool {
	for len(w.taken) > 0 && w.taken[0].Last < number {
		w.taken = w.taken[1:]
	}
	return len(w.taken) > 0 && w.taken[0].First <= number
}

// claim waits for records that may be sent, and returns at most n of them, in their
// order. It returns none when ctx is done. The caller sends them and calls finish.
func (w *window) claim(ctx context.Context, n int) []*item {
	for ctx.Err() == nil {
		w.mu.Lock()
		out, changed := w.pick(n), w.changed
		w.mu.Unlock()
		if len(out) > 0 {
			return out
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return nil
}

// pick takes items out of ready. An item whose blockers are all in the same batch goes
// with them: they arrive together, in their order.
func (w *window) pick(n int) (out []*item) {
	within := map[*item]int{} // how many of an item's blockers are in out
	var unlocked items        // ready within this batch only
	size := 1                 // of the array's brackets and commas
	for len(out) < n && len(w.ready)+len(unlocked) > 0 {
		from := &w.ready
		if len(w.ready) == 0 || len(unlocked) > 0 && unlocked[0].record.Number < w.ready[0].record.Number {
			from = &unlocked
		}
		x := (*from)[0]
		if size += len(x.record.External) + 1; size > maxBatchBytes && len(out) > 0 {
			break
		}
		heap.Pop(from)
		out = append(out, x)
		if n == 1 {
			break
		}
		for _, f := range x.followers {
			if within[f]++; within[f] == f.blockers {
				heap.Push(&unlocked, f)
			}
		}
	}
	return out
}

// finish notes that the place has taken items that claim returned.
func (w *window) finish(taken []*item) (next uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range taken {
		x.done = true
	}
	for _, x := range taken {
		for _, f := range x.followers {
			if f.blockers--; f.blockers == 0 && !f.done {
				heap.Push(&w.ready, f)
			}
		}
		for _, g := range x.groups {
			if w.last[g] == x {
				delete(w.last, g)
			}
		}
		x.followers = nil
	}
	w.advance()
	w.notify()
	return w.low()
}

// advance drops the items up to the first that is not done.
func (w *window) advance() {
	n := 0
	for n < len(w.items) && w.items[n].done {
		w.bytes -= w.items[n].record.Size()
		n++
	}
	clear(w.items[:n])
	w.items = w.items[n:]
}

// low is the number of the first record that the place has not taken. It is called
// with mu.
func (w *window) low() uint64 {
	if len(w.items) == 0 {
		return w.next
	}
	return w.items[0].record.Number
}

// progress returns what the place has taken.
func (w *window) progress() delivery.Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := delivery.Progress{Next: w.low()}
	run := false // the item before is done
	for _, x := range w.items {
		switch {
		case x.done && run:
			out.Taken[len(out.Taken)-1].Last = x.record.Number
		case x.done:
			out.Taken = append(out.Taken, delivery.Range{First: x.record.Number, Last: x.record.Number})
		}
		run = x.done
	}
	// What was taken before and is not read yet stays taken.
	out.Taken = append(out.Taken, w.taken...)
	return out
}

// agreed notes what the nodes have agreed on, which makes room.
func (w *window) agreed(next uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.saved = next
	w.notify()
}

// due waits until half of the window is to be saved, or until ctx is done.
func (w *window) due(ctx context.Context) {
	for {
		w.mu.Lock()
		due, changed := int(w.low()-min(w.saved, w.low())) >= w.limit/2, w.changed
		w.mu.Unlock()
		if due {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// items is a heap by number.
type items []*item

func (s *items) Len() int           { return len(*s) }
func (s *items) Less(i, j int) bool { return (*s)[i].record.Number < (*s)[j].record.Number }
func (s *items) Swap(i, j int)      { (*s)[i], (*s)[j] = (*s)[j], (*s)[i] }
func (s *items) Push(x any)         { *s = append(*s, x.(*item)) } //nolint:forcetypeassert // only items are pushed
func (s *items) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return x
}
