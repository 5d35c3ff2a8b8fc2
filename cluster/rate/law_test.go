package rate_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/rate"
)

// model is a bucket that remembers everything and works it out again each time: what
// was taken, by what is known of it now.
type model struct {
	limit  int64
	period time.Duration
	events []*event
}

type event struct {
	at     time.Duration
	amount int64
}

// held is what is in the bucket at a time, in tokens times nanoseconds of the period.
func (m *model) held(at time.Duration) int64 {
	held, last := int64(0), time.Duration(0)
	for _, e := range m.events {
		held = max(held-int64(e.at-last)*m.limit, 0) + m.units(e.amount)
		last = e.at
	}
	return max(held-int64(at-last)*m.limit, 0)
}

func (m *model) units(tokens int64) int64 { return tokens * int64(m.period) }

// fits is whether there is room, by the rule of Take.
func (m *model) fits(at time.Duration, amount int64) bool {
	held := m.held(at)
	if amount > m.limit {
		return held == 0
	}
	return held+m.units(amount) <= m.units(m.limit)
}

// TestDecidesAsTheModel: one node admits exactly what the model does, whatever the
// order in which requests begin and end: what a request turns out to have used counts as
// if it had been known from the beginning, what it used above the estimate from its end
// on, and one that is canceled as if it had never been.
func TestDecidesAsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Uint32Range(1, 200).Draw(t, "limit")
		what := rapid.SampledFrom([]rate.What{rate.RequestsPerMinute, rate.TokensPerMinute, rate.TokensPerDay}).Draw(t, "what")
		m := &model{limit: int64(limit), period: time.Minute}
		tick := 10 * time.Millisecond
		if what == rate.TokensPerDay {
			m.period, tick = 24*time.Hour, 15*time.Second
		}
		l, at, b := rate.New(start()), time.Duration(0), []rate.Bucket{of(what, limit)}
		type running struct {
			ticket   rate.Ticket
			event    *event
			estimate int64
		}
		var open []running
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at += tick * time.Duration(rapid.SampledFrom([]int{0, 0, 1, 7, 100, 1500, 7000}).Draw(t, "later"))
			if len(open) > 0 && rapid.Bool().Draw(t, "ends") {
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				r := open[i]
				open = append(open[:i], open[i+1:]...)
				if rapid.Bool().Draw(t, "canceled") {
					r.ticket.Cancel(start().Add(at))
					r.event.amount = 0
					continue
				}
				used := rapid.Int64Range(0, r.estimate*3/2).Draw(t, "used")
				r.ticket.Done(start().Add(at), used)
				if what == rate.RequestsPerMinute {
					continue // it was one request, whatever it used
				}
				r.event.amount = min(used, r.estimate)
				if used > r.estimate {
					m.events = append(m.events, &event{at, used - r.estimate})
				}
				continue
			}
			n := rapid.Int64Range(0, int64(limit)*5/4).Draw(t, "tokens")
			if what == rate.RequestsPerMinute {
				n = 1
			}
			tk, err := l.Take(start().Add(at), b, n)
			if want := m.fits(at, n); want != (err == nil) {
				t.Fatalf("at %v, %d tokens of %d: %v; the bucket holds %d", at, n, limit, err, m.held(at)/int64(m.period))
			}
			if err != nil {
				if again := at + exceeded(t, err).Wait; !m.fits(again, n) {
					t.Fatalf("told to come back at %v, when there is no room", again)
				}
				continue
			}
			e := &event{at, n}
			m.events, open = append(m.events, e), append(open, running{tk, e, n})
		}
	})
}

// TestNoWindowHasMore: in no time W more is admitted than limit * W / period + limit.
func TestNoWindowHasMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Uint32Range(1, 100).Draw(t, "limit")
		l, at, b := rate.New(start()), time.Duration(0), []rate.Bucket{of(rate.TokensPerMinute, limit)}
		var events []event
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			at += time.Duration(rapid.Int64Range(0, int64(3*time.Minute)/int64(limit)).Draw(t, "later"))
			n := rapid.Int64Range(0, int64(limit)).Draw(t, "tokens")
			if _, err := l.Take(start().Add(at), b, n); err == nil {
				events = append(events, event{at, n})
			}
		}
		noWindowHasMore(t, events, int64(limit), 0)
	})
}

// noWindowHasMore checks it of admitted tokens, with a slack.
func noWindowHasMore(t *rapid.T, events []event, limit, slack int64) {
	for i := range events {
		sum := int64(0)
		for _, e := range events[i:] {
			sum += e.amount
			if w := e.at - events[i].at; (sum-limit-slack)*int64(time.Minute) > limit*int64(w) {
				t.Fatalf("%d tokens in %v from %v on, by a limit of %d a minute", sum, w, events[i].at, limit)
			}
		}
	}
}

// TestManyEstimates: with more requests under way than are told apart exactly, no more is
// given back than what was not used, and in the end all of it runs out.
func TestManyEstimates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const limit, estimate = 100_000, 500
		m := &model{limit: limit, period: time.Minute}
		l, at, b := rate.New(start()), time.Duration(0), []rate.Bucket{of(rate.TokensPerMinute, limit)}
		type running struct {
			ticket rate.Ticket
			event  *event
		}
		var open []running
		for range rapid.IntRange(50, 190).Draw(t, "requests") {
			at += time.Millisecond * time.Duration(rapid.IntRange(0, 100).Draw(t, "later"))
			tk, err := l.Take(start().Add(at), b, estimate)
			if err != nil {
				t.Fatal(err)
			}
			e := &event{at, estimate}
			m.events, open = append(m.events, e), append(open, running{tk, e})
		}
		for len(open) > 0 {
			at += time.Millisecond * time.Duration(rapid.IntRange(0, 300).Draw(t, "later"))
			i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
			r := open[i]
			r.event.amount = rapid.Int64Range(0, estimate).Draw(t, "used")
			r.ticket.Done(start().Add(at), r.event.amount)
			open = append(open[:i], open[i+1:]...)
			tk, err := l.Take(start().Add(at), b, 0)
			if err != nil {
				t.Fatal(err)
			}
			tk.Done(start().Add(at), 0)
			_, tokens := tk.Tightest()
			if room := m.units(limit) - m.held(at); room < m.units(tokens.Remaining) {
				t.Fatalf("%d remain, by the model %d", tokens.Remaining, room/int64(m.period))
			}
		}
		if _, err := l.Take(start().Add(at+time.Minute), b, limit); err != nil {
			t.Fatalf("a bucket that nobody used for a minute: %v", err)
		}
	})
}
