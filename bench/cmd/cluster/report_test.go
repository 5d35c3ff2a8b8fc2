package main

import (
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	var times []time.Duration
	for i := range 100 {
		times = append(times, time.Duration(100-i)*time.Millisecond) // 1 to 100, backwards
	}
	r := &report{}
	r.add("hundred", times, 99*time.Millisecond)
	r.add("slow", times, 50*time.Millisecond)
	r.add("few", times[:2], 100*time.Millisecond)
	r.add("none", nil, time.Second)
	r.note("%d things", 3)
	var b strings.Builder
	r.print(&b)
	for _, want := range []string{
		"| hundred | 100 | 50.0 | 99.0 | 100.0 | 99 | met |",
		"| slow | 100 | 50.0 | 99.0 | 100.0 | 50 | missed |",
		"| few | 2 | 99.0 | 100.0 | 100.0 | 100 | met |",
		"| none | 0 | 0.0 | 0.0 | 0.0 | 1000 | not measured |",
		"3 things",
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
}

func TestHasOne(t *testing.T) {
	for answer, want := range map[string]bool{
		`{"keys":["a"],"total_count":1}`:     true,
		`{"keys":[],"total_count":0}`:        false,
		`{"keys":["a","b"],"total_count":2}`: false,
		`no JSON`:                            false,
	} {
		if got := hasOne([]byte(answer)); got != want {
			t.Errorf("%s: %v", answer, got)
		}
	}
}
