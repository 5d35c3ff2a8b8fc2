package cooldown_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/id"
)

func start() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// Jitters at the ends and in the middle of their range.
func lowest(uint64) uint64    { return 0 }
func middle(n uint64) uint64  { return n / 2 }
func highest(n uint64) uint64 { return n - 1 }

func TestFail(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for _, test := range []struct {
		name       string
		random     func(uint64) uint64
		policy     cooldown.Policy
		reason     cooldown.Reason
		retryAfter time.Duration
		want       time.Duration // 0: no rest
	}{
		{"nominal", middle, cooldown.Policy{Time: minute}, cooldown.ServerError, 0, minute},
		{"20 % shorter", lowest, cooldown.Policy{Time: minute}, cooldown.TimedOut, 0, 48 * time.Second},
		{"20 % longer", highest, cooldown.Policy{Time: minute}, cooldown.Connection, 0, 72 * time.Second},
		{"the provider asks for more", lowest, cooldown.Policy{Time: minute}, cooldown.RateLimited, 2 * minute, 2 * minute},
		{"never less than it asks for", highest, cooldown.Policy{Time: 0}, cooldown.RateLimited, minute, 72 * time.Second},
		{"it asks for less", middle, cooldown.Policy{Time: minute}, cooldown.RateLimited, time.Second, minute},
		{"it asks for too much", lowest, cooldown.Policy{Time: minute}, cooldown.RateLimited, 1000 * time.Hour, cooldown.MaxRetryAfter},
		{"it asks for the most that there is", highest, cooldown.Policy{Time: minute}, cooldown.RateLimited, 1<<63 - 1, 72 * minute},
		{"a negative wish", middle, cooldown.Policy{Time: minute}, cooldown.RateLimited, -time.Hour, minute},
		{"tolerated", middle, cooldown.Policy{Time: minute, AllowedFails: 1}, cooldown.ServerError, 0, 0},
		{"a 429 is not tolerated", middle, cooldown.Policy{Time: minute, AllowedFails: 1}, cooldown.RateLimited, 0, minute},
		{"nor is a 401", middle, cooldown.Policy{Time: minute, AllowedFails: 1}, cooldown.Unauthorized, 0, minute},
		{"nor a provider that says when", middle, cooldown.Policy{AllowedFails: 1}, cooldown.ServerError, minute, 66 * time.Second},
		{"no time", middle, cooldown.Policy{}, cooldown.ServerError, 0, 0},
		{"disabled", middle, cooldown.Policy{Time: minute, Disabled: true}, cooldown.RateLimited, minute, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := cooldown.New(test.random)
			rest, ok := s.Fail("d", cooldown.Failure{Reason: test.reason, RetryAfter: test.retryAfter, Now: start()}, test.policy)
			until, resting := s.InCooldown("d", start())
			if ok != (test.want > 0) || ok != resting || rest.Until != until {
				t.Fatalf("rest %v %v, resting %v until %v", ok, rest, resting, until)
			}
			if !ok {
				return
			}
			if got := until.Sub(start()); got < test.want-time.Millisecond || got > test.want+time.Millisecond {
				t.Errorf("it rests for %v, want %v", got, test.want)
			}
			if _, resting := s.InCooldown("d", until); resting {
				t.Error("it rests beyond its time")
			}
			want := []cooldown.Rest{{Deployment: "d", Reason: test.reason, Until: until}}
			if diff := cmp.Diff(want, s.All(until.Add(-1))); diff != "" {
				t.Errorf("all that rest (-want +got)\n%s", diff)
			}
			if all := s.All(until); all != nil {
				t.Errorf("%v rest beyond their time", all)
			}
		})
	}
}

func TestAllowedFails(t *testing.T) {
	t.Parallel()
	policy := cooldown.Policy{Time: time.Second, AllowedFails: 2}
	fail := func(s *cooldown.Set, at time.Duration) bool {
		_, rests := s.Fail("d", cooldown.Failure{Now: start().Add(at)}, policy)
		return rests
	}
	s := cooldown.New(middle)
	if fail(s, 0) || fail(s, 1) || !fail(s, 2) {
		t.Error("want a rest at the third failure within the minute")
	}
	s = cooldown.New(middle)
	if fail(s, 0) || fail(s, 1) || fail(s, time.Minute) || fail(s, time.Minute+1) || !fail(s, time.Minute+2) {
		t.Error("want failures forgotten after a minute")
	}
	s = cooldown.New(middle)
	if fail(s, 0) || fail(s, 1) {
		t.Error("want two failures tolerated")
	}
	s.Succeed("d")
	s.Succeed("never seen")
	if fail(s, 2) || fail(s, 3) || !fail(s, 4) {
		t.Error("want failures forgotten after a success")
	}
}

// TestNeverShortened: whatever happens, a deployment that was to rest until T rests until T.
func TestNeverShortened(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := cooldown.New(func(n uint64) uint64 { return rapid.Uint64Range(0, n-1).Draw(t, "jitter") })
		now := start()
		var until time.Time
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "pass")))
			if rapid.Bool().Draw(t, "succeed") {
				s.Succeed("d")
			} else {
				s.Fail("d", cooldown.Failure{
					Reason:     cooldown.Reason(rapid.IntRange(0, 4).Draw(t, "reason")),
					RetryAfter: time.Duration(rapid.Int64Range(-1, int64(3*time.Hour)).Draw(t, "retry after")),
					Now:        now,
				}, cooldown.Policy{Time: time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "time")), AllowedFails: rapid.IntRange(0, 2).Draw(t, "allowed")})
			}
			got, resting := s.InCooldown("d", now)
			if now.Before(until) && (!resting || got.Before(until)) {
				t.Fatalf("was to rest until %v, now %v until %v", until, resting, got)
			}
			if resting && got.Sub(now) > cooldown.MaxRetryAfter*6/5 {
				t.Fatalf("rests for %v", got.Sub(now))
			}
			if resting {
				until = got
			}
		}
	})
}

func TestKeepForgets(t *testing.T) {
	t.Parallel()
	testForgets(t, func(s *cooldown.Set) { s.Keep(func(d id.Deployment) bool { return d == "stays" }) })
}

func TestDropForgets(t *testing.T) {
	t.Parallel()
	testForgets(t, func(s *cooldown.Set) {
		for _, d := range []id.Deployment{"goes", "idle", "never seen"} {
			s.Drop(d)
		}
	})
}

func testForgets(t *testing.T, forget func(*cooldown.Set)) {
	t.Helper()
	s := cooldown.New(middle)
	for _, d := range []id.Deployment{"stays", "goes"} {
		s.Fail(d, cooldown.Failure{Now: start()}, cooldown.Policy{Time: time.Minute})
		s.Begin(d)
	}
	end := s.Begin("idle")
	end()
	for _, d := range []id.Deployment{"stays", "goes"} {
		s.Hint(cooldown.Hint{Deployment: d, Observer: "n", Version: 1, Now: start(), Until: start().Add(time.Minute)})
	}
	forget(s)
	if all := s.Hints(start()); len(all) != 1 || all[0].Deployment != "stays" {
		t.Errorf("hints %v", all)
	}
	if all := s.All(start()); len(all) != 1 || all[0].Deployment != "stays" {
		t.Errorf("%v rest", all)
	}
	if s.InFlight("goes") != 1 || s.InFlight("stays") != 1 || s.InFlight("idle") != 0 {
		t.Error("a request that runs is forgotten")
	}
}

func TestInFlight(t *testing.T) {
	t.Parallel()
	s := cooldown.New(rand.Uint64N)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				end := s.Begin("d")
				if s.InFlight("d") < 1 {
					t.Error("a running request is not counted")
				}
				s.Fail("d", cooldown.Failure{Now: start()}, cooldown.Policy{Time: time.Second})
				s.InCooldown("d", start())
				end()
				end()
			}
		})
	}
	wg.Wait()
	if n := s.InFlight("d"); n != 0 {
		t.Errorf("%d in flight at the end", n)
	}
	if n := s.InFlight("never seen"); n != 0 {
		t.Errorf("%d in flight at a deployment that was never used", n)
	}
}

func TestReasonsHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for r := cooldown.ServerError; r <= cooldown.Unauthorized; r++ {
		if name := r.String(); name == "unknown" || seen[name] {
			t.Errorf("reason %d is %q", r, name)
		} else {
			seen[name] = true
		}
	}
}
