package rate_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/rate"
)

const everything = math.MaxInt

// remaining is how much of a limit of tokens or requests is left at a node.
func remaining(tb interface {
	Helper()
	Fatalf(string, ...any)
}, l *rate.Limiter, at time.Time, b rate.Bucket,
) int64 {
	tb.Helper()
	if b.What == rate.RequestsPerMinute {
		b.Limit *= 1000 // to take one is what tells
		tk, err := l.Take(at, []rate.Bucket{b}, 0)
		if err != nil {
			tb.Fatalf("%v", err)
		}
		requests, _ := tk.Tightest()
		return requests.Remaining + 1 - int64(b.Limit) + int64(b.Limit)/1000
	}
	tk, err := l.Take(at, []rate.Bucket{b}, 0)
	if e := exceeded(tb, err); e != nil {
		return e.Remaining
	}
	tk.Done(at, 0)
	_, tokens := tk.Tightest()
	return tokens.Remaining
}

func mustTake(tb testing.TB, l *rate.Limiter, at time.Time, b rate.Bucket, tokens int64) rate.Ticket {
	tb.Helper()
	tk, err := l.Take(at, []rate.Bucket{b}, tokens)
	if err != nil {
		tb.Fatal(err)
	}
	return tk
}

func TestHearing(t *testing.T) {
	t.Parallel()
	here, there, b, at := rate.New(start()), rate.New(start()), of(rate.TokensPerMinute, 1000), start()
	mustTake(t, here, at, b, 100)
	tk := mustTake(t, there, at, b, 300)
	word := there.Changed(at, everything)
	hear := func(version uint64, uses []rate.Use, want int64) {
		t.Helper()
		here.Hear(at, "there", version, uses)
		if got := remaining(t, here, at, b); got != want {
			t.Errorf("version %d: %d remain, want %d", version, got, want)
		}
	}
	hear(5, word, 600)
	hear(5, word, 600) // again
	hear(6, word, 600) // sent again
	tk.Done(at, 50)
	hear(8, there.Changed(at, everything), 850)
	hear(5, word, 850) // late
	mustTake(t, there, at, b, 100)
	hear(9, there.Changed(at, everything), 750)
	here.Hear(at, "another", 1, word)
	if got := remaining(t, here, at, b); got != 450 {
		t.Errorf("with another node: %d remain, want 450", got)
	}
}

// TestCanceledElsewhere: what is canceled counts at no other node, even where it was told
// of, and where a part of it had run out when it was.
func TestCanceledElsewhere(t *testing.T) {
	t.Parallel()
	here, there, b, at := rate.New(start()), rate.New(start()), of(rate.RequestsPerMinute, 6), start()
	for version := range uint64(100) {
		tk := mustTake(t, there, at, b, 0)
		here.Hear(at, "there", 2*version+1, there.Changed(at, everything))
		at = at.Add(100 * time.Millisecond) // a hundredth of a request
		tk.Cancel(at)
		tk.Done(at, 0) // changes nothing
		here.Hear(at, "there", 2*version+2, there.Changed(at, everything))
	}
	for _, l := range []*rate.Limiter{here, there} {
		if got := remaining(t, l, at, b); got < 5 {
			t.Errorf("%d requests remain of 6, want at least 5", got)
		}
	}
}

// TestFirstWord: of a node that nothing was heard of lately what has not run
// out counts, and not what it took in all its life.
func TestFirstWord(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]time.Duration{"never heard": 0, "not heard lately": 10 * time.Minute} {
		here, there, b, at := rate.New(start()), rate.New(start()), of(rate.TokensPerMinute, 1000), start()
		mustTake(t, there, at, b, 1)
		if silent > 0 {
			here.Hear(at, "there", 1, there.Changed(at, everything))
		}
		for range 30 {
			at = at.Add(20 * time.Second)
			mustTake(t, there, at, b, 333)
		}
		mustTake(t, there, at, b, 500)
		here.Hear(at, "there", 2, there.Recent(at, everything))
		if got := remaining(t, here, at, b); got != 167 {
			t.Errorf("%s: %d remain, want 167", name, got)
		}
		restarted := rate.New(at.Add(time.Second))
		mustTake(t, restarted, at, b, 100)
		here.Hear(at, "there", 3, restarted.Changed(at, everything))
		if got := remaining(t, here, at, b); got != 67 {
			t.Errorf("%s, after its restart: %d remain, want 67", name, got)
		}
	}
}

// TestCancel: a request that is canceled was in none of its buckets.
func TestCancel(t *testing.T) {
	t.Parallel()
	l, at := rate.New(start()), start()
	buckets := []rate.Bucket{of(rate.RequestsPerMinute, 1), of(rate.TokensPerMinute, 10), of(rate.TokensPerDay, 10), of(rate.Parallel, 1)}
	for range 100 {
		tk, err := l.Take(at, buckets, 10)
		if err != nil {
			t.Fatalf("what was canceled counts: %v", err)
		}
		tk.Cancel(at)
		tk.Cancel(at) // changes nothing
	}
	rate.Ticket{}.Cancel(at)
}

func TestParallelElsewhere(t *testing.T) {
	t.Parallel()
	here, there, b, at := rate.New(start()), rate.New(start()), of(rate.Parallel, 3), start()
	first := mustTake(t, there, at, b, 0)
	mustTake(t, there, at, b, 0)
	here.Hear(at, "there", 1, there.Changed(at, everything))
	mine := mustTake(t, here, at, b, 0)
	if _, err := here.Take(at, []rate.Bucket{b}, 0); exceeded(t, err) == nil {
		t.Fatal("a fourth request")
	}
	first.Done(at, 0)
	here.Hear(at, "there", 2, there.Changed(at, everything))
	mustTake(t, here, at, b, 0).Done(at, 0)
	mine.Done(at, 0)

	// It is told again and again, so it holds; until there is nobody to tell it.
	version := uint64(3)
	for range 60 {
		at = at.Add(time.Second)
		if word := there.Changed(at, everything); len(word) > 0 {
			here.Hear(at, "there", version, word)
			version++
		}
	}
	a, c := mustTake(t, here, at, b, 0), mustTake(t, here, at, b, 0)
	if _, err := here.Take(at, []rate.Bucket{b}, 0); exceeded(t, err) == nil {
		t.Error("a request that is told of was forgotten")
	}
	if version > 12 {
		t.Errorf("the same was told %d times in a minute", version-3)
	}
	at = at.Add(rate.Silence)
	gone := mustTake(t, here, at, b, 0)
	for _, tk := range []rate.Ticket{a, c, gone} {
		tk.Done(at, 0)
	}
}

// TestToldAgain: what was told is told twice more, and then no more.
func TestToldAgain(t *testing.T) {
	t.Parallel()
	l, at := rate.New(start()), start()
	mustTake(t, l, at, of(rate.RequestsPerMinute, 1), 0)
	var told []int
	for i := range 60 {
		if n := len(l.Changed(at.Add(time.Duration(i)*200*time.Millisecond), everything)); n > 0 {
			told = append(told, i)
		}
	}
	if diff := cmp.Diff([]int{0, 5, 10}, told); diff != "" {
		t.Errorf("told in fifths of a second: %s", diff)
	}
}

// TestBusiestFirst: what does not fit is not lost.
func TestBusiestFirst(t *testing.T) {
	t.Parallel()
	l, here := rate.New(start()), rate.New(start())
	bucket := func(i int) rate.Bucket {
		b := of(rate.TokensPerMinute, 1000)
		b.Account.Owner = fmt.Sprint(i)
		return b
	}
	for i := range 50 {
		mustTake(t, l, start(), bucket(i), int64(10*(i+1)))
	}
	for round := range 5 {
		word := l.Changed(start(), 10)
		if len(word) != 10 {
			t.Fatalf("round %d: %d were told", round, len(word))
		}
		for _, u := range word {
			if most, least := int64(500-100*round), int64(400-100*round); u.Used > most || u.Used <= least {
				t.Errorf("round %d: a change of %d", round, u.Used)
			}
		}
		here.Hear(start(), "l", uint64(round+1), word)
	}
	if word := l.Changed(start(), 10); len(word) != 0 {
		t.Errorf("told again at once: %v", word)
	}
	for i := range 50 {
		if got := remaining(t, here, start(), bucket(i)); got != int64(1000-10*(i+1)) {
			t.Errorf("bucket %d: %d remain", i, got)
		}
	}
	if word := l.Recent(start(), 3); len(word) != 3 || word[0].Used != 500 || word[2].Used != 480 {
		t.Errorf("the fullest: %v", word)
	}
}

// TestNonsenseIsNotHeard: what others say costs nobody a panic, and a bucket at most
// one period.
func TestNonsenseIsNotHeard(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, b, at := rate.New(start()), of(rate.TokensPerMinute, 1000), start()
		if _, err := l.Take(at, []rate.Bucket{b}, 1); err != nil {
			t.Fatal(err)
		}
		name := l.Changed(at, everything)[0].Bucket
		number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-10, 2000), rapid.Just(int64(math.MaxInt64)))
		for range rapid.IntRange(1, 20).Draw(t, "words") {
			at = at.Add(time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "later")))
			l.Hear(at, id.Node(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "from")), rapid.Uint64().Draw(t, "version"), []rate.Use{{
				Bucket: rapid.SampledFrom([]rate.Name{name, {1}}).Draw(t, "bucket"), What: rate.What(rapid.Uint8Range(0, 6).Draw(t, "what")),
				Limit: rapid.Uint32().Draw(t, "limit"), Born: rapid.Uint64Range(0, 3).Draw(t, "born"),
				Used: number.Draw(t, "used"), Level: number.Draw(t, "level"), InFlight: number.Draw(t, "flight"),
			}})
		}
		if _, err := l.Take(at.Add(2*time.Minute), []rate.Bucket{b}, 1000); err != nil {
			t.Fatalf("two minutes later: %v", err)
		}
	})
}

// TestForgets: buckets that are as if they had never been used take no memory, and what is
// under way, or told by others, is not forgotten.
func TestForgets(t *testing.T) {
	t.Parallel()
	l, at := rate.New(start()), start()
	pinned := of(rate.Parallel, 1)
	mustTake(t, l, at, pinned, 0)
	most := 0
	for i := range 200_000 {
		at = at.Add(10 * time.Millisecond)
		b := of(rate.RequestsPerMinute, 60)
		b.Account.Owner = fmt.Sprint(i)
		mustTake(t, l, at, b, 0).Done(at, 0)
		most = max(most, l.Len())
	}
	// In a second, after which one of 60 requests has run out, there are a hundred.
	if most > 10_000 {
		t.Errorf("%d buckets were kept", most)
	}
	if _, err := l.Take(at, []rate.Bucket{pinned}, 0); exceeded(t, err) == nil {
		t.Error("a request under way was forgotten")
	}
}

// TestNodesTogether: nodes that hear of each other late let no more through in any time
// than one node would, but for what they take in the time that a word needs.
func TestNodesTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const step = 200 * time.Millisecond
		limit := rapid.Int64Range(100, 600).Draw(t, "limit")
		nodes := make([]*rate.Limiter, rapid.IntRange(2, 4).Draw(t, "nodes"))
		for i := range nodes {
			nodes[i] = rate.New(start())
		}
		delay := rapid.IntRange(1, 3).Draw(t, "delay")
		eager := rapid.IntRange(1, 5).Draw(t, "requests a step")
		lossy := rapid.Bool().Draw(t, "some words are lost")
		type word struct {
			due, from int
			uses      []rate.Use
		}
		var words []word
		var events []event
		b, lost := []rate.Bucket{of(rate.RequestsPerMinute, uint32(limit))}, 0
		for tick := range 5 * 60 {
			at := time.Duration(tick) * step
			for len(words) > 0 && words[0].due <= tick {
				for i, l := range nodes {
					if i != words[0].from {
						l.Hear(start().Add(at), id.Node(fmt.Sprint(words[0].from)), uint64(words[0].due), words[0].uses)
					}
				}
				words = words[1:]
			}
			for i, l := range nodes {
				for range eager {
					if _, err := l.Take(start().Add(at), b, 0); err == nil {
						events = append(events, event{at, 1})
					}
				}
				if uses := l.Changed(start().Add(at), everything); len(uses) > 0 {
					if lost++; !lossy || lost%5 != 0 {
						words = append(words, word{tick + delay, i, uses})
					}
				}
			}
		}
		// A word needs delay steps and one more to be asked for. One that is lost is made up
		// for by the next, within a second.
		late := delay + 1
		if lossy {
			late += 6
		}
		slack := int64((len(nodes) - 1) * eager * late)
		total := int64(len(events))
		if most := limit + limit + slack; total > most {
			t.Fatalf("%d requests in a minute, by a limit of %d a minute and a slack of %d", total, limit, slack)
		}
		if want := min(limit, int64(len(nodes)*eager*5*60)) * 9 / 10; total < want {
			t.Fatalf("%d requests in a minute, by a limit of %d: less than nine tenths", total, limit)
		}
	})
}

func BenchmarkChanged(b *testing.B) {
	l := rate.New(start())
	for i := range 20_000 {
		x := of(rate.TokensPerMinute, 100)
		x.Account.Owner = fmt.Sprint(i)
		if _, err := l.Take(start(), []rate.Bucket{x}, 50); err != nil {
			b.Fatal(err)
		}
	}
	at := start()
	for b.Loop() {
		at = at.Add(time.Microsecond)
		l.Changed(at, 400)
	}
}
