//go:build linux

package clustertest

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A link decides the same again with the same seed; every packet has one fate;
// none arrives earlier than the rule says; none that keeps the order is overtaken.
func TestDecide(t *testing.T) {
	share := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 10).Draw(t, "tenths")) / 10 })
	rapid.Check(t, func(t *rapid.T) {
		rule := Rule{
			Delay:  time.Duration(rapid.IntRange(0, 300).Draw(t, "delay")) * time.Millisecond,
			Jitter: time.Duration(rapid.IntRange(0, 100).Draw(t, "jitter")) * time.Millisecond,
			Loss:   share.Draw(t, "loss"), Duplicate: share.Draw(t, "duplicate"),
			Rate: rapid.SampledFrom([]int{0, 1e5, 1e7}).Draw(t, "rate"),
		}
		seed := rapid.Uint64().Draw(t, "seed")
		a, b := newLink(seed, 1, 2), newLink(seed, 1, 2)
		a.rule, b.rule = rule, rule
		now := time.Unix(1000, 0)
		last := now
		for range rapid.IntRange(1, 200).Draw(t, "packets") {
			now = now.Add(time.Duration(rapid.IntRange(0, 10).Draw(t, "gap")) * time.Millisecond)
			size := rapid.IntRange(20, 1500).Draw(t, "size")
			f := a.decide(now, size)
			if g := b.decide(now, size); g != f {
				t.Fatalf("fates %+v and %+v of one seed", f, g)
			}
			if f.copies == 0 {
				continue
			}
			if f.due.Before(last) {
				t.Fatalf("due %v before the packet ahead, %v", f.due, last)
			}
			if least := now.Add(max(0, rule.Delay-rule.Jitter)); f.due.Before(least) {
				t.Fatalf("due %v before %v", f.due, least)
			}
			if f.copies == 2 && rule.Duplicate == 0 {
				t.Fatal("duplicated without a rule")
			}
			last = f.due
		}
		if rule.Loss == 0 && a.count.Lost > 0 || rule.Loss == 1 && a.count.Lost != a.count.Offered {
			t.Fatalf("%+v with a loss of %v", a.count, rule.Loss)
		}
	})
}

// A line of 100,000 bytes a second passes 1,000 bytes every 10 ms, from the first on.
func TestRate(t *testing.T) {
	l := newLink(1, 1, 2)
	l.rule = Rule{Rate: 100_000}
	now := time.Unix(1000, 0)
	for i := 1; i <= 10; i++ {
		if f, want := l.decide(now, 1000), now.Add(time.Duration(i)*10*time.Millisecond); !f.due.Equal(want) {
			t.Errorf("packet %d is due at %v, want %v", i, f.due, want)
		}
	}
	later := now.Add(time.Second)
	if f, want := l.decide(later, 1000), later.Add(10*time.Millisecond); !f.due.Equal(want) {
		t.Errorf("after a pause: due at %v, want %v", f.due, want)
	}
}

// A link holds so many packets and no more.
func TestOverflow(t *testing.T) {
	l := newLink(1, 1, 2)
	l.rule = Rule{Delay: time.Second}
	now := time.Unix(1000, 0)
	for range linkHolds {
		l.queued += l.decide(now, 100).copies
	}
	if f := l.decide(now, 100); f.copies != 0 || l.count.Overflowed != 1 || l.queued != linkHolds {
		t.Errorf("%d are under way and one more has the fate %+v: %+v", l.queued, f, l.count)
	}
}

// A packet that is sent ahead is due before those that wait.
func TestReorder(t *testing.T) {
	l := newLink(1, 1, 2)
	l.rule = Rule{Delay: time.Second}
	now := time.Unix(1000, 0)
	first := l.decide(now, 100)
	l.queued = 1
	l.rule.Reorder = 1
	if second := l.decide(now, 100); !second.due.Before(first.due) || l.count.Reordered != 1 {
		t.Errorf("due at %v and %v", first.due, second.due)
	}
}

// A packet without a delay waits behind one whose time has come and that is not
// written yet.
func TestNoneIsOvertaken(t *testing.T) {
	l := &Lab{sooner: make(chan struct{}, 1)}
	l.mu.group = make([]int, 2)
	l.mu.links = [][]*link{{nil, newLink(1, 0, 1)}}
	line := l.mu.links[0][1]
	line.rule = Rule{Delay: time.Nanosecond}
	if n := l.admit(0, 1, []byte("first")); n != 0 || line.queued != 1 {
		t.Fatalf("the first packet is not on its way: %d at once, %d under way", n, line.queued)
	}
	line.rule = Rule{}
	line.lastDue = time.Time{} // long ago
	if n := l.admit(0, 1, []byte("second")); n != 0 || line.queued != 2 || string(l.mu.underWay[0].data) != "first" {
		t.Errorf("the second packet: %d at once, %d under way", n, line.queued)
	}
}
