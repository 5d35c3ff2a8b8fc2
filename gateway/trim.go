package gateway

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// trimmer gives the system back what a load has left in the heap, when the load is over. Go would
// keep it: its heap may grow to three times of what lives, and it collects an idle process every
// two minutes only.
type trimmer struct {
	allocated func() uint64 // bytes so far
	free      func()        // collects, and gives back what is free

	last    uint64 // allocated a moment ago
	trimmed uint64 // allocated when the heap was trimmed
}

// The gateway is at rest if it allocates less than restBytes from one look to the next, some ten
// requests. Since the last time it has to have allocated worthBytes, or there is little to free.
const (
	trimEvery  = time.Second
	restBytes  = 512 << 10
	worthBytes = 16 << 20
)

func newTrimmer() *trimmer {
	t := &trimmer{allocated: allocatedBytes, free: debug.FreeOSMemory}
	t.last = t.allocated()
	return t
}

// allocatedBytes returns how many bytes the process has allocated in the heap.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return math.MaxUint64 // a runtime without this figure; nothing is trimmed
	}
	return sample[0].Value.Uint64()
}

// Run looks at the heap from time to time until ctx ends. An operator who has set the collector
// keeps what it does.
func (t *trimmer) Run(ctx context.Context) error {
	if !tuned() {
		return nil
	}
	ticker := time.NewTicker(trimEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			t.look()
		}
	}
}

func (t *trimmer) look() {
	now := t.allocated()
	rests := now-t.last < restBytes
	t.last = now
	if rests && now-t.trimmed >= worthBytes {
		t.free()
		t.trimmed = now
	}
}
