// Package inflight limits the bytes of request bodies that one node holds at a time, in total
// and per key, and the speed of long bodies. It has no goroutine.
//
// When more than three quarters of the total are held, a key may hold only a small part of the
// rest. Keys that hold much are therefore rejected before the total is reached, and small
// bodies of other keys still fit.
package inflight

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
	"golang.org/x/time/rate"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Shares is the number of equal shares of the total; a key may hold one.
const Shares = 4

// crowdedPart divides the free bytes when few are left: a key may hold one such part. The k-th
// key that takes all it can leaves 16/17 of the free bytes, so 20 keys leave a third of the
// last quarter.
const crowdedPart = 16

// Codes of the rejections.
const (
	CodeTotal = "overloaded"
	CodeShare = "request_bytes_exceeded"
)

// retryAfter is when there may be room again. Bodies are held for the duration of their
// requests, which is seconds.
const retryAfter = time.Second

// Limiter counts the bytes in flight. It is safe for concurrent use.
type Limiter struct {
	total, share int64
	onLevel      func(int)     // nil: no callback
	pace         *rate.Limiter // nil: no limit of the speed
	fullSpeed    rate.Limit    // of pace, while few bytes are in flight
	waited       atomic.Int64  // nanoseconds, of all bodies

	mu struct {
		sync.Mutex
		held  int64
		level int
		keys  map[id.KeyHash]share // of the keys that hold bytes

		alone *Reservation // the body that moves alone, or did so first
		moved time.Time    // when it did so last
	}
}

// share is the bytes of one key.
type share struct {
	held int64
	turn chan struct{} // its long bodies take turns; nil before the first one
}

// New returns a limiter of total bytes, of which each key may hold a quarter.
func New(total int64) *Limiter {
	l := &Limiter{total: total, share: total / Shares}
	l.mu.keys = make(map[id.KeyHash]share)
	return l
}

// The levels of Watch: the first begins at 32 MiB, and each further one at twice as much. A
// level ends at a quarter of the bytes at which it began.
const (
	firstLevel = 32 << 20
	lastLevel  = 4
)

// Watch sets a function to call with a new level when many bytes are in flight: 1 from 32 MiB on,
// 2 from 64 MiB, 3 from 128 MiB, 4 from 256 MiB, and 0 when few are left. It must be called
// before the limiter is used. The function must not block and must not use the limiter.
func (l *Limiter) Watch(level func(int)) { l.onLevel = level }

func (l *Limiter) changedLocked() {
	before := l.mu.level
	for l.mu.level < lastLevel && l.mu.held >= firstLevel<<l.mu.level {
		l.mu.level++
	}
	for l.mu.level > 0 && l.mu.held <= firstLevel<<(l.mu.level-1)/4 {
		l.mu.level--
	}
	if l.mu.level == before {
		return
	}
	l.setPaceLocked()
	if l.onLevel != nil {
		l.onLevel(l.mu.level)
	}
}

// Held returns the number of bytes in flight.
func (l *Limiter) Held() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.held
}

// Measure exports the bytes in flight and the time that bodies have waited for the pace.
func (l *Limiter) Measure(m metric.Meter) error {
	_, err := m.Float64ObservableCounter("gateway.request.body.wait", metric.WithUnit("s"), metric.WithDescription("Time that long request bodies have waited for limits.long_body_bytes_per_second, together."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			o.Observe(time.Duration(l.waited.Load()).Seconds())
			return nil
		}))
	if err != nil {
		return err
	}
	_, err = m.Int64ObservableGauge("gateway.request.bytes.inflight", metric.WithDescription("Bytes of request bodies that are held."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(l.Held())
			return nil
		}))
	return err
}

// Reservation is the bytes of one request. The zero Reservation holds nothing and has no
// limiter. It must not be copied after Begin.
type Reservation struct {
	limiter *Limiter
	key     id.KeyHash
	held    int64 // guarded by limiter.mu
	ended   bool  // guarded by limiter.mu
}

// Begin binds the reservation to the key that pays for it. It reserves nothing.
func (r *Reservation) Begin(l *Limiter, key id.KeyHash) { r.limiter, r.key = l, key }

// Grow reserves n more bytes, or none. Then the error is a *fault.Error: RateLimited if the key
// has reached its share, and Unavailable if there is no room. After Release it reserves nothing
// and returns nil.
func (r *Reservation) Grow(n int64) error {
	l := r.limiter
	if l == nil || n <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.growLocked(n)
}

// Reach increases the reservation to n bytes if it is smaller.
func (r *Reservation) Reach(n int64) error {
	l := r.limiter
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.growLocked(n - r.held)
}

func (r *Reservation) growLocked(n int64) error {
	l := r.limiter
	of := l.mu.keys[r.key]
	switch {
	case r.ended || n <= 0:
		return nil
	case of.held+n > l.share:
		return &fault.Error{
			Op: "inflight", Kind: fault.RateLimited, Code: CodeShare, RetryAfter: retryAfter,
			Detail: "The request bodies of this API key that are in flight have reached the limit. Try again when one of its requests has ended.",
			Details: map[string]any{
				"scope": "key", "limit_type": "inflight_request_bytes", "limit": l.share, "remaining": l.share - of.held,
			},
		}
	case l.crowdedLocked(of.held+n, l.total-l.mu.held-n):
		return &fault.Error{
			Op: "inflight", Kind: fault.Unavailable, Code: CodeTotal, RetryAfter: retryAfter,
			Detail: "The gateway holds as many bytes of request bodies as it may. Try again.",
		}
	}
	l.mu.held += n
	of.held += n
	l.mu.keys[r.key] = of
	r.held += n
	l.changedLocked()
	return nil
}

// crowdedLocked reports whether there is no room for a key that would hold and leave this
// number of bytes.
func (l *Limiter) crowdedLocked(key, free int64) bool {
	return free < 0 || free < l.total/Shares && key > free/crowdedPart
}

// Release frees the reservation. Further calls do nothing.
func (r *Reservation) Release() {
	l := r.limiter
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.ended {
		return
	}
	r.ended = true
	l.movedLocked(r)
	l.mu.held -= r.held
	of := l.mu.keys[r.key]
	if of.held -= r.held; of.held > 0 {
		l.mu.keys[r.key] = of
	} else {
		delete(l.mu.keys, r.key)
	}
	r.held = 0
	l.changedLocked()
}
