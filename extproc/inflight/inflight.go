// Package inflight bounds the bytes of request bodies that one node holds at one
// time, in total and per key, and how fast long bodies move. It has no goroutine.
//
// Once three quarters of the total are held, a key may hold no more than a small part
// of what is left free. Keys that hold much are therefore rejected before the total is
// reached, and small bodies of other keys still have room.
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

// Shares says which part of the total a key may hold at most.
const Shares = 4

// crowdedPart says which part of what is left free a key may hold when little is left.
// The k-th key that takes all it gets leaves 16/17 of what it found, so 20 keys leave a
// third of the last quarter.
const crowdedPart = 16

// Codes of the rejections.
const (
	CodeTotal = "overloaded"
	CodeShare = "request_bytes_exceeded"
)

// retryAfter is when room may be found again: bodies are held for as long as their
// requests take, which is seconds.
const retryAfter = time.Second

// Limiter counts the bytes in flight. It is safe for concurrent use.
type Limiter struct {
	total, share  int64
	onMany, onFew func()        // nil: nobody watches
	pace          *rate.Limiter // nil: bodies move as fast as they come
	waited        atomic.Int64  // nanoseconds, all bodies together

	mu struct {
		sync.Mutex
		held int64
		many bool
		keys map[id.KeyHash]share // of those that hold bytes
	}
}

// share is what one key holds.
type share struct {
	held int64
	turn chan struct{} // its long bodies take turns at it; nil before there is one
}

// New returns a limiter of total bytes, of which each key may hold a quarter.
func New(total int64) *Limiter {
	l := &Limiter{total: total, share: total / Shares}
	l.mu.keys = make(map[id.KeyHash]share)
	return l
}

// Watch reports many bytes from the first bound on, and few below the second.
const (
	manyBytes = 32 << 20
	fewBytes  = 8 << 20
)

// Watch has a function called when many bytes come to be in flight, and another when few
// are left. It must be called before the limiter is used. The functions must be quick
// and must not use the limiter.
func (l *Limiter) Watch(many, few func()) { l.onMany, l.onFew = many, few }

func (l *Limiter) changedLocked() {
	switch {
	case l.onMany == nil:
	case !l.mu.many && l.mu.held >= manyBytes:
		l.mu.many = true
		l.onMany()
	case l.mu.many && l.mu.held <= fewBytes:
		l.mu.many = false
		l.onFew()
	}
}

// Held returns how many bytes are in flight.
func (l *Limiter) Held() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.held
}

// Measure has the meter show how many bytes are in flight, and how long bodies have waited
// for the pace.
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

// Reservation is what one request holds. The zero Reservation holds nothing and
// belongs to no limiter. It must not be copied after Begin.
type Reservation struct {
	limiter *Limiter
	key     id.KeyHash
	held    int64 // guarded by limiter.mu
	ended   bool  // guarded by limiter.mu
}

// Begin binds the reservation to the key that pays for it. It reserves nothing.
func (r *Reservation) Begin(l *Limiter, key id.KeyHash) { r.limiter, r.key = l, key }

// Grow reserves n more bytes, or none: then the error is a *fault.Error, RateLimited
// if the key has reached its share, and Unavailable if there is no room. After
// Release it reserves nothing and returns nil.
func (r *Reservation) Grow(n int64) error {
	l := r.limiter
	if l == nil || n <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.growLocked(n)
}

// Reach reserves what n bytes need beyond those that are reserved already.
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

// crowdedLocked reports that there is no room for a key that would hold so many bytes
// and leave so many free.
func (l *Limiter) crowdedLocked(key, free int64) bool {
	return free < 0 || free < l.total/Shares && key > free/crowdedPart
}

// Release returns what is reserved. Further calls do nothing.
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
