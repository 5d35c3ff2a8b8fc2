package cooldown_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// heard makes a hint of d that is heard at `at` and lasts for `length`.
func heard(observer id.Node, version uint64, at, length time.Duration) cooldown.Hint {
	now := start().Add(at)
	return cooldown.Hint{Deployment: "d", Observer: observer, Version: version, Reason: cooldown.RateLimited, Now: now, Until: now.Add(length)}
}

// hinting is what is hinted of d: until when, 0 if nothing is, and whether it may be probed.
type hinting struct {
	until time.Duration
	probe bool
}

// want checks what is hinted of d at a time.
func want(t *testing.T, s *cooldown.Set, at time.Duration, want hinting) {
	t.Helper()
	until, probe, hinted := s.Hinted("d", start().Add(at))
	got := hinting{0, probe}
	if hinted {
		got.until = until.Sub(start())
	}
	if got != want {
		t.Errorf("after %v: %v, want %v", at, got, want)
	}
}

const minute = time.Minute

func TestHintLastsAsItSays(t *testing.T) {
	t.Parallel()
	s := cooldown.New(middle)
	want(t, s, 0, hinting{0, false})
	if !s.Hint(heard("n1", 1, 0, minute)) {
		t.Fatal("not taken")
	}
	want(t, s, 0, hinting{minute, false})
	want(t, s, minute/2-1, hinting{minute, false})
	want(t, s, minute/2, hinting{minute, true})
	want(t, s, minute-1, hinting{minute, true})
	want(t, s, minute, hinting{0, false})
	if _, resting := s.InCooldown("d", start()); resting || s.All(start()) != nil {
		t.Error("a hint counts as a local rest")
	}
	if all := s.Hints(start()); len(all) != 1 || all[0] != heard("n1", 1, 0, minute) {
		t.Errorf("hints %v", all)
	}
	if all := s.Hints(start().Add(minute)); all != nil {
		t.Errorf("hints %v at the end", all)
	}
}

func TestHintsThatAreNoNews(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]cooldown.Hint{
		"a repeat":       heard("n1", 5, time.Second, 10*minute),
		"an older one":   heard("n1", 4, time.Second, 10*minute),
		"no version":     heard("n2", 0, time.Second, 10*minute),
		"over already":   heard("n2", 1, time.Second, 0),
		"over for long":  heard("n2", 1, time.Second, -minute),
		"an older, dead": heard("n1", 4, time.Second, -minute),
	} {
		s := cooldown.New(middle)
		s.Hint(heard("n1", 5, 0, minute))
		if s.Hint(h) {
			t.Errorf("%s was taken", name)
		}
		want(t, s, time.Second, hinting{minute, false})
		want(t, s, minute, hinting{0, false})
	}
}

func TestNewerHintsExtend(t *testing.T) {
	t.Parallel()
	s := cooldown.New(middle)
	s.Hint(heard("n1", 1, 0, minute))
	s.Hint(heard("n1", 2, time.Second, time.Second)) // would be shorter
	want(t, s, 2*time.Second, hinting{minute, false})
	s.Hint(heard("n1", 3, 10*time.Second, 2*minute))
	want(t, s, minute, hinting{2*minute + 10*time.Second, false})
	s.Hint(heard("n2", 1, 10*time.Second, 1000*time.Hour))
	want(t, s, minute, hinting{cooldown.MaxRetryAfter + 10*time.Second, false})
}

func TestProbe(t *testing.T) {
	t.Parallel()
	half := start().Add(minute / 2)
	for _, test := range []struct {
		name    string
		outcome func(*cooldown.Set)
		until   time.Duration // of the hint, 40 s after it was heard; 0: there is none
		probe   bool
		resting bool
	}{
		{"succeeds", func(s *cooldown.Set) { s.Succeed("d") }, 0, false, false},
		{"fails", func(s *cooldown.Set) {
			s.Fail("d", cooldown.Failure{Reason: cooldown.RateLimited, Now: half}, cooldown.Policy{Time: minute})
		}, minute, false, true},
		{"fails and is tolerated", func(s *cooldown.Set) {
			s.Fail("d", cooldown.Failure{Now: half}, cooldown.Policy{Time: minute, AllowedFails: 3})
		}, minute, false, false},
		{"fails before another succeeds", func(s *cooldown.Set) {
			s.Fail("d", cooldown.Failure{Now: half}, cooldown.Policy{Time: minute, AllowedFails: 3})
			s.Succeed("d")
		}, minute, false, false},
		{"is never heard of again", func(*cooldown.Set) {}, minute, false, false},
		{"a repeat after its success", func(s *cooldown.Set) {
			s.Succeed("d")
			s.Hint(heard("n1", 1, 35*time.Second, minute))
		}, 0, false, false},
		{"news after its success, be they shorter", func(s *cooldown.Set) {
			s.Succeed("d")
			s.Hint(heard("n1", 2, 35*time.Second, 10*time.Second))
		}, 45 * time.Second, true, false},
		{"news before its success", func(s *cooldown.Set) {
			s.Hint(heard("n1", 2, 35*time.Second, minute))
			s.Succeed("d")
		}, 95 * time.Second, false, false},
		{"others' news before its success", func(s *cooldown.Set) {
			s.Hint(heard("n2", 1, 30*time.Second, 20*time.Second))
			s.Succeed("d")
		}, 50 * time.Second, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := cooldown.New(middle)
			if s.Probe("d", half) {
				t.Error("a probe of what nobody has hinted at")
			}
			s.Hint(heard("n1", 1, 0, minute))
			s.Succeed("d") // no probe yet: it says nothing
			if s.Probe("d", half.Add(-1)) {
				t.Error("a probe too early")
			}
			if !s.Probe("d", half) {
				t.Fatal("no probe")
			}
			if s.Probe("d", half) {
				t.Error("a second probe")
			}
			test.outcome(s)
			want(t, s, 40*time.Second, hinting{test.until, test.probe})
			if _, resting := s.InCooldown("d", start().Add(40*time.Second)); resting != test.resting {
				t.Errorf("rests: %v", resting)
			}
		})
	}
}

// TestOneProbe: however many ask at the same time, one gets it.
func TestOneProbe(t *testing.T) {
	t.Parallel()
	s := cooldown.New(middle)
	s.Hint(heard("n1", 1, 0, minute))
	var probes atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				s.Hinted("d", start().Add(minute/2))
				if s.Probe("d", start().Add(minute/2)) {
					probes.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := probes.Load(); n != 1 {
		t.Errorf("%d probes", n)
	}
}

// TestHintLaws: the latest end of all observers counts, in whatever order their
// hints come and however often they are repeated, as long as each keeps to
// never shortening its own.
func TestHintLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all []cooldown.Hint
		latest := time.Duration(0)
		for n := range rapid.IntRange(1, 6).Draw(t, "observers") {
			end := time.Duration(0)
			for version := range rapid.IntRange(1, 5).Draw(t, "versions") {
				end += time.Duration(rapid.Int64Range(1, int64(12*minute)).Draw(t, "longer"))
				all = append(all, heard(id.Node(fmt.Sprint(n)), uint64(version+1), 0, end))
			}
			latest = max(latest, end)
		}
		first, second := cooldown.New(middle), cooldown.New(middle)
		for _, h := range all {
			first.Hint(h)
		}
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		again := append(slices.Clone(all), all...)
		rnd.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		before := time.Time{}
		for _, h := range again {
			second.Hint(h)
			until, _, _ := second.Hinted("d", start())
			if until.Before(before) {
				t.Fatalf("shortened from %v to %v", before, until)
			}
			before = until
		}
		for _, s := range []*cooldown.Set{first, second} {
			if until, _, _ := s.Hinted("d", start()); until.Sub(start()) != min(latest, cooldown.MaxRetryAfter) {
				t.Fatalf("until %v, want %v", until.Sub(start()), latest)
			}
		}
		if a, b := first.Hints(start()), second.Hints(start()); !slices.Equal(a, b) {
			t.Fatalf("%v is not %v", a, b)
		}
	})
}

// TestHintsAreBounded: a member that invents deployments or observers fills no memory,
// and what has ended makes room.
func TestHintsAreBounded(t *testing.T) {
	t.Parallel()
	s := cooldown.New(middle)
	for i := range 100 {
		s.Hint(heard(id.Node(fmt.Sprint(i)), 1, 0, minute+time.Duration(i)))
	}
	if n := len(s.Hints(start())); n > 16 {
		t.Errorf("%d observers' hints are kept", n)
	}
	want(t, s, 0, hinting{minute + 99, false})
	taken := 0
	for i := range 110_000 {
		h := heard("n", 1, 0, minute)
		h.Deployment = id.Deployment(fmt.Sprint(i))
		if s.Hint(h) {
			taken++
		}
	}
	if taken != 100_000-1 {
		t.Errorf("%d deployments taken", taken)
	}
	h := heard("n", 1, 2*minute, minute)
	h.Deployment = "another"
	if !s.Hint(h) || len(s.Hints(h.Now)) != 1 {
		t.Error("what has ended makes no room")
	}
	s.Keep(func(id.Deployment) bool { return false })
	if _, _, hinted := s.Hinted("another", h.Now); hinted {
		t.Error("a deployment that is gone is hinted at")
	}
}

func TestRestsAreReported(t *testing.T) {
	t.Parallel()
	var got []cooldown.Rest
	s := cooldown.New(middle, cooldown.OnRest(func(r cooldown.Rest) { got = append(got, r) }))
	fail := func(at time.Duration, p cooldown.Policy) {
		s.Fail("d", cooldown.Failure{Now: start().Add(at)}, p)
	}
	fail(0, cooldown.Policy{Time: minute, AllowedFails: 1})      // tolerated
	fail(1, cooldown.Policy{Time: minute, Disabled: true})       // nobody rests
	fail(0, cooldown.Policy{Time: minute, AllowedFails: 1})      // rests
	fail(0, cooldown.Policy{Time: time.Second, AllowedFails: 1}) // not longer
	fail(minute/2, cooldown.Policy{Time: minute})                // longer
	s.Hint(heard("n", 1, 0, 10*minute))                          // not ours
	for i, until := range []time.Duration{minute, minute + minute/2} {
		if i >= len(got) || got[i] != (cooldown.Rest{Deployment: "d", Until: start().Add(until)}) {
			t.Errorf("reported %v", got)
		}
	}
	if len(got) != 2 {
		t.Errorf("reported %v", got)
	}
}

func TestInFlightOfAllNodes(t *testing.T) {
	t.Parallel()
	s := cooldown.New(middle, cooldown.WithRemote(func(d id.Deployment) int64 { return int64(len(d)) }))
	end := s.Begin("abc")
	s.Begin("idle")()
	if n := s.InFlight("abc"); n != 4 {
		t.Errorf("%d in flight, want 4", n)
	}
	if n := s.InFlight("other"); n != 5 {
		t.Errorf("%d in flight, want 5", n)
	}
	for d, n := range s.Running() {
		if d != "abc" || n != 1 {
			t.Errorf("%d run at %s", n, d)
		}
	}
	end()
	for d := range s.Running() {
		t.Errorf("%s runs", d)
	}
}

func BenchmarkRestingAndHinted(b *testing.B) {
	for _, hints := range []int{0, 1000} {
		b.Run(fmt.Sprint(hints), func(b *testing.B) {
			s := cooldown.New(middle)
			for i := range hints {
				h := heard("n", 1, 0, minute)
				h.Deployment = id.Deployment(fmt.Sprint(i))
				s.Hint(h)
			}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s.InCooldown("7", start())
					s.Hinted("7", start())
				}
			})
		})
	}
}
