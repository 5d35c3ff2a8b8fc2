package main

import (
	"strings"
	"testing"
	"time"
)

func hundred() []time.Duration {
	var out []time.Duration
	for i := range 100 {
		out = append(out, time.Duration(100-i)*time.Millisecond) // 1 to 100, backwards
	}
	return out
}

func TestReport(t *testing.T) {
	r := &report{}
	r.rate("fast", 500, effort{time: 250 * time.Millisecond, cpu: 100 * time.Millisecond})
	r.size("small", 200, 12_300)
	r.times("hundred", hundred(), judged(hundred(), 0.99, 99*time.Millisecond))
	r.times("slow", hundred(), judged(hundred(), 0.99, 98*time.Millisecond))
	r.times("few", hundred()[:2], "")
	r.times("none", []time.Duration{}, judged(nil, 0.99, time.Second))
	var b strings.Builder
	r.print(&b)
	want := `
| figure | n | a second | CPU µs each | bytes each | p50 ms | p99 ms | most ms | aim, ms |
|---|---|---|---|---|---|---|---|---|
| fast | 500 | 2000 | 200.0 | | | | | |
| small | 200 | | | 62 | | | | |
| hundred | 100 | | | | 50.00 | 99.00 | 100.00 | p99 99.00: met |
| slow | 100 | | | | 50.00 | 99.00 | 100.00 | p99 98.00: missed |
| few | 2 | | | | 99.00 | 100.00 | 100.00 |  |
| none | 0 | | | | 0.00 | 0.00 | 0.00 | p99 1000.00: not measured |
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestDelaysAreToTheFirstStepThatHasTheEvent(t *testing.T) {
	begin := time.Unix(0, 0)
	w := newWatch(nil)
	w.steps[nil] = []step{{seq: 2, at: begin.Add(time.Second)}, {seq: 5, at: begin.Add(2 * time.Second)}}
	got := w.delays([]settled{{seq: 1, at: begin}, {seq: 2, at: begin}, {seq: 3, at: begin.Add(time.Second / 2)}, {seq: 6, at: begin}})
	want := []time.Duration{time.Second, time.Second, 3 * time.Second / 2} // 6 was never posted
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %s, want %s", i, got[i], want[i])
		}
	}
}
