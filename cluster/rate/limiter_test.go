package rate_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/rate"
)

// start is when the clocks of these tests begin.
func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func of(what rate.What, limit uint32) rate.Bucket {
	return rate.Bucket{Account: id.Account{Kind: id.AccountKey, Owner: "k"}, What: what, Limit: limit}
}

// exceeded is what a request was refused for; nil if it was not.
func exceeded(tb interface{ Fatalf(string, ...any) }, err error) *rate.Exceeded {
	if err == nil {
		return nil
	}
	var f *fault.Error
	var e *rate.Exceeded
	if !errors.As(err, &f) || f.Kind != fault.RateLimited || f.Code != "rate_limit_exceeded" || !errors.As(err, &e) {
		tb.Fatalf("a refusal of another kind: %v", err)
	}
	return e
}

func TestRequestsPerMinute(t *testing.T) {
	t.Parallel()
	l, now, b := rate.New(start()), start(), []rate.Bucket{of(rate.RequestsPerMinute, 7)}
	for i := range 7 {
		tk, err := l.Take(now, b, 0)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		requests, tokens := tk.Tightest()
		want := rate.Level{Limit: 7, Remaining: int64(6 - i), Reset: (time.Duration(i+1)*time.Minute + 6*time.Microsecond) / 7}
		want.Reset = want.Reset.Truncate(time.Microsecond)
		if diff := cmp.Diff(want, requests); diff != "" || tokens != (rate.Level{}) {
			t.Errorf("after request %d: %s, tokens %v", i, diff, tokens)
		}
	}
	_, err := l.Take(now, b, 0)
	e := exceeded(t, err)
	if e == nil || e.Remaining != 0 || e.Wait.Round(time.Millisecond) != 8571*time.Millisecond {
		t.Fatalf("the eighth: %+v", e)
	}
	if f := fault.From(err); f.RetryAfter != e.Wait || !strings.Contains(f.Detail, "this key") || !strings.Contains(f.Detail, "7 requests per minute") {
		t.Errorf("what the caller is told: %+v", f)
	}
	if _, err := l.Take(now.Add(e.Wait-time.Microsecond), b, 0); err == nil {
		t.Error("a request before its time")
	}
	if _, err := l.Take(now.Add(e.Wait), b, 0); err != nil {
		t.Errorf("a request at its time: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	team := rate.Bucket{Account: id.Account{Kind: id.AccountTeamModel, Owner: "red", Part: "m"}, Model: "m", What: rate.TokensPerDay, Limit: 100}
	for _, test := range []struct {
		name   string
		b      rate.Bucket
		before int64 // tokens of a request before
		text   string
		retry  time.Duration
		final  bool
	}{
		{"tokens", of(rate.TokensPerMinute, 60), 60, "The rate limit of this key is reached: 60 tokens per minute, of which 0 remain. Try again in 1s.", time.Second, false},
		{"tokens of a model", team, 100, "The rate limit of this team and model is reached: 100 tokens per day, of which 0 remain. Try again in 14m24s.", 864 * time.Second, false},
		{"parallel", of(rate.Parallel, 1), 0, "The rate limit of this key is reached: 1 parallel requests, of which 0 remain. Try again when one of them has ended.", time.Second, false},
		{"nothing", of(rate.RequestsPerMinute, 0), 0, "The rate limit of this key is reached: 0 requests per minute, of which 0 remain. It allows nothing; ask the gateway's administrator.", 0, true},
	} {
		l := rate.New(start())
		if test.b.Limit > 0 {
			if _, err := l.Take(start(), []rate.Bucket{test.b}, test.before); err != nil {
				t.Fatal(err)
			}
		}
		_, err := l.Take(start(), []rate.Bucket{test.b}, 1)
		if exceeded(t, err) == nil {
			t.Fatalf("%s: not refused", test.name)
		}
		if f := fault.From(err); f == nil || f.Detail != test.text || f.RetryAfter != test.retry || f.NoRetry != test.final {
			t.Errorf("%s: %+v", test.name, f)
		}
	}
}

func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	l := rate.New(start())
	wide, narrow, parallel := of(rate.RequestsPerMinute, 10), of(rate.TokensPerMinute, 10), of(rate.Parallel, 2)
	narrow.Model = "m"
	if _, err := l.Take(start(), []rate.Bucket{wide, parallel, narrow}, 10); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		_, err := l.Take(start(), []rate.Bucket{wide, parallel, narrow}, 1)
		if e := exceeded(t, err); e == nil || e.Bucket != narrow {
			t.Fatalf("what was exceeded: %+v", e)
		}
	}
	tk, err := l.Take(start(), []rate.Bucket{wide, parallel}, 1)
	if err != nil {
		t.Fatalf("refused requests were counted: %v", err)
	}
	if requests, _ := tk.Tightest(); requests.Remaining != 8 {
		t.Errorf("%d requests remain, want 8", requests.Remaining)
	}
}

func TestWaitsForTheSlowest(t *testing.T) {
	t.Parallel()
	l := rate.New(start())
	b := []rate.Bucket{of(rate.RequestsPerMinute, 60), of(rate.TokensPerMinute, 6), of(rate.TokensPerDay, 1), of(rate.Parallel, 1)}
	if _, err := l.Take(start(), b, 1); err != nil {
		t.Fatal(err)
	}
	_, err := l.Take(start(), b, 6)
	if e := exceeded(t, err); e == nil || e.Bucket.What != rate.TokensPerDay || e.Wait != 24*time.Hour {
		t.Errorf("%+v", e)
	}
}

func TestLargerThanTheLimit(t *testing.T) {
	t.Parallel()
	l, b := rate.New(start()), []rate.Bucket{of(rate.TokensPerMinute, 100)}
	if _, err := l.Take(start(), b, 1); err != nil {
		t.Fatal(err)
	}
	_, err := l.Take(start(), b, 300)
	if e := exceeded(t, err); e == nil || e.Wait != 600*time.Millisecond {
		t.Fatalf("into a bucket that is not empty: %+v", e)
	}
	if _, err := l.Take(start().Add(600*time.Millisecond), b, 300); err != nil {
		t.Fatalf("into an empty bucket: %v", err)
	}
	_, err = l.Take(start().Add(600*time.Millisecond), b, 100)
	if e := exceeded(t, err); e == nil || e.Wait != 3*time.Minute || e.Remaining != 0 {
		t.Errorf("with a debt: %+v", e)
	}
}

func TestDone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		used   int64
		after  time.Duration
		remain int64 // of 1000 tokens a minute, 600 of them estimated, after another one
	}{
		{"as estimated", 600, 0, 399},
		{"less", 100, 0, 899},
		{"nothing", 0, 0, 999},
		{"more", 900, 0, 99},
		{"more than there is", 5000, 0, 0},
		{"unknown", -1, 0, 399},
		{"less, when half has run out", 100, 18 * time.Second, 999},
		{"less, when all has run out", 100, 10 * time.Minute, 999},
	} {
		l, b := rate.New(start()), []rate.Bucket{of(rate.TokensPerMinute, 1000), of(rate.Parallel, 1)}
		tk, err := l.Take(start(), b, 600)
		if err != nil {
			t.Fatal(err)
		}
		tk.Done(start().Add(test.after), test.used)
		tk.Done(start().Add(test.after), 0) // changes nothing
		next, err := l.Take(start().Add(test.after), b, 1)
		if test.remain == 0 {
			if e := exceeded(t, err); e == nil || e.Remaining != 0 {
				t.Errorf("%s: %+v", test.name, e)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, tokens := next.Tightest(); tokens.Remaining != test.remain {
			t.Errorf("%s: %d remain, want %d", test.name, tokens.Remaining, test.remain)
		}
	}
}

func TestTightest(t *testing.T) {
	t.Parallel()
	l := rate.New(start())
	key, team := of(rate.RequestsPerMinute, 10), of(rate.RequestsPerMinute, 1000)
	team.Account = id.Account{Kind: id.AccountTeam, Owner: "red"}
	minute, day := of(rate.TokensPerMinute, 1000), of(rate.TokensPerDay, 1200)
	tk, err := l.Take(start(), []rate.Bucket{team, key, minute, day}, 600)
	if err != nil {
		t.Fatal(err)
	}
	requests, tokens := tk.Tightest()
	got := []rate.Level{requests, tokens}
	want := []rate.Level{{Limit: 10, Remaining: 9, Reset: 6 * time.Second}, {Limit: 1000, Remaining: 400, Reset: 36 * time.Second}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLimitsChange(t *testing.T) {
	t.Parallel()
	l := rate.New(start())
	take := func(limit uint32, scale float64) (int64, *rate.Exceeded) {
		b := of(rate.RequestsPerMinute, limit)
		b.Scale = scale
		tk, err := l.Take(start(), []rate.Bucket{b}, 0)
		requests, _ := tk.Tightest()
		return requests.Remaining, exceeded(t, err)
	}
	for range 5 {
		if _, e := take(10, 0); e != nil {
			t.Fatal(e)
		}
	}
	for _, test := range []struct {
		limit  uint32
		scale  float64
		remain int64 // -1: refused
	}{
		{10, 1, 4}, {20, 1, 13}, {7, 1, -1}, {8, 1, 0}, {20, 0.5, 1}, {20, math.NaN(), 10}, {20, 7, 9}, {1, 0.001, -1}, {20, 0.99, 7},
	} {
		remain, e := take(test.limit, test.scale)
		if e != nil {
			remain = -1
		}
		if remain != test.remain {
			t.Errorf("%d times %v: %d remain, want %d", test.limit, test.scale, remain, test.remain)
		}
	}
}

func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	l, b := rate.New(start()), []rate.Bucket{of(rate.RequestsPerMinute, 1)}
	if _, err := l.Take(start(), b, 0); err != nil {
		t.Fatal(err)
	}
	for _, by := range []time.Duration{-time.Second, -1000 * time.Hour, math.MinInt64, -time.Hour, 59 * time.Second} {
		if _, err := l.Take(start().Add(by), b, 0); err == nil {
			t.Errorf("%v freed a request", by)
		}
	}
	if _, err := l.Take(start().Add(time.Minute), b, 0); err != nil {
		t.Errorf("after a minute: %v", err)
	}
	b[0].Limit = 2
	if _, err := l.Take(start(), b, 0); err != nil {
		t.Errorf("a minute back, a limit of two: %v", err)
	}
	if _, err := l.Take(start().Add(math.MaxInt64), b, 0); err != nil {
		t.Errorf("after centuries: %v", err)
	}
}

func TestExtremes(t *testing.T) {
	t.Parallel()
	for _, what := range []rate.What{rate.TokensPerMinute, rate.TokensPerDay} {
		l, now := rate.New(start()), start()
		for _, limit := range []uint32{1, math.MaxUint32} {
			for _, tokens := range []int64{math.MaxInt64, -1, math.MinInt64, 0, 1} {
				b := []rate.Bucket{of(what, limit)}
				tk, err := l.Take(now, b, tokens)
				if e := exceeded(t, err); e != nil && (e.Wait <= 0 || e.Remaining < 0) {
					t.Errorf("%s, %d of %d: %+v", what, tokens, limit, e)
				}
				for _, used := range []int64{math.MaxInt64, math.MinInt64, 0} {
					tk.Done(now, used)
				}
				now = now.Add(math.MaxInt64 / 100)
			}
		}
	}
}

func TestNoBucketsAllocateNothing(t *testing.T) {
	l, at := rate.New(start()), start()
	if n := testing.AllocsPerRun(100, func() {
		tk, err := l.Take(at, nil, 5)
		if err != nil {
			t.Fatal(err)
		}
		if requests, tokens := tk.Tightest(); requests != (rate.Level{}) || tokens != (rate.Level{}) {
			t.Error("a bound where there is none")
		}
		tk.Done(at, 1)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// TestParallelIsNeverAbove has many at once at the same limit.
func TestParallelIsNeverAbove(t *testing.T) {
	t.Parallel()
	const limit = 5
	l, now := rate.New(start()), start()
	a, b := of(rate.Parallel, limit), of(rate.Parallel, 3*limit)
	b.Account.Owner = "other"
	var running, admitted atomic.Int64
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			buckets := []rate.Bucket{a, b}
			if i%2 == 0 {
				buckets = []rate.Bucket{b, a}
			}
			for range 200 {
				tk, err := l.Take(now, buckets, 1)
				if err != nil {
					continue
				}
				if n := running.Add(1); n > limit {
					t.Errorf("%d at once", n)
				}
				admitted.Add(1)
				running.Add(-1)
				tk.Done(now, 1)
			}
		})
	}
	wait.Wait()
	if admitted.Load() == 0 {
		t.Error("none was admitted")
	}
	for range limit {
		if _, err := l.Take(now, []rate.Bucket{a}, 0); err != nil {
			t.Fatalf("what had ended was under way: %v", err)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	l, now := rate.New(start()), time.Now()
	buckets := []rate.Bucket{of(rate.RequestsPerMinute, math.MaxUint32), of(rate.TokensPerMinute, math.MaxUint32), of(rate.Parallel, math.MaxUint32)}
	b.ReportAllocs()
	for b.Loop() {
		tk, err := l.Take(now, buckets, 10)
		if err != nil {
			b.Fatal(err)
		}
		now = now.Add(time.Millisecond)
		tk.Done(now, 5)
	}
}
