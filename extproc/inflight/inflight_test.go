package inflight_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/inflight"
)

func begin(l *inflight.Limiter, key string) *inflight.Reservation {
	r := &inflight.Reservation{}
	r.Begin(l, id.HashKey(key))
	return r
}

func code(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Code
	}
	return ""
}

func TestShareAndTotal(t *testing.T) {
	t.Parallel()
	l := inflight.New(400)
	a := begin(l, "a")
	if err := a.Grow(100); err != nil {
		t.Fatalf("a quarter: %v", err)
	}
	if err := begin(l, "a").Grow(1); code(err) != inflight.CodeShare {
		t.Errorf("above a quarter: %v", err)
	}
	for _, key := range []string{"b", "c"} {
		if err := begin(l, key).Grow(100); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
	}
	d := begin(l, "d")
	if err := d.Grow(10); code(err) != inflight.CodeTotal {
		t.Errorf("much of the last quarter: %v", err)
	}
	if err := d.Grow(5); err != nil {
		t.Errorf("a small part of the last quarter: %v", err)
	}
	a.Release()
	a.Release()
	if err := a.Grow(1); err != nil || l.Held() != 205 {
		t.Errorf("a released reservation grows: %v, %d bytes are held", err, l.Held())
	}
	if err := d.Reach(5); err != nil || l.Held() != 205 {
		t.Errorf("what is reserved already is reserved again: %v, %d bytes are held", err, l.Held())
	}
	if err := d.Reach(100); err != nil || l.Held() != 300 {
		t.Errorf("after a release: %v, %d bytes are held", err, l.Held())
	}
}

// However many keys take all that they get, in bodies of any size, small bodies of
// further keys have room.
func TestRoomForOthers(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{64 << 20, 63 << 20, 10 << 20, 1 << 20, 100_000} {
		for _, keys := range []int{4, 20, 100} {
			l := inflight.New(512 << 20)
			for i := range keys {
				for begin(l, strconv.Itoa(i)).Grow(size) == nil {
				}
			}
			if err := begin(l, "other").Grow(64 << 10); err != nil {
				t.Errorf("%d keys with bodies of %d bytes hold %d: a small body gets %v", keys, size, l.Held(), err)
			}
		}
	}
}

// Whatever order requests come and end in, nothing is left of them.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	l := inflight.New(1 << 20)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for range 200 {
				r := begin(l, string(rune('a'+i%5)))
				for r.Grow(9_999) == nil {
				}
				if held := l.Held(); held < 0 || held > 1<<20 {
					t.Errorf("%d bytes are held", held)
				}
				r.Release()
			}
		})
	}
	wg.Wait()
	if n := l.Held(); n != 0 {
		t.Errorf("%d bytes are held when nothing is in flight", n)
	}
}

// A level begins at twice the bytes of the one before it, and ends at a quarter of its own.
func TestLevels(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	l := inflight.New(4096 * mib)
	var levels []int
	l.Watch(func(level int) { levels = append(levels, level) })
	hold := func(bytes int64) *inflight.Reservation {
		r := begin(l, "a")
		if err := r.Grow(bytes * mib); err != nil {
			t.Fatal(err)
		}
		return r
	}
	small := hold(8)
	first := hold(23)
	if len(levels) > 0 {
		t.Errorf("31 MiB have the levels %v", levels)
	}
	second, all := hold(1), hold(500)
	for _, r := range []*inflight.Reservation{all, second, first, small} {
		r.Release()
	}
	if want := []int{1, 4, 2, 0}; !slices.Equal(levels, want) {
		t.Errorf("the levels are %v, want %v", levels, want)
	}
}
