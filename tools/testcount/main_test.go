package main

import (
	"fmt"
	"strings"
	"testing"
)

// manySlow is a test in each of n packages; the one in package i takes i seconds.
func manySlow(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "{\"Action\":\"pass\",\"Package\":\"p%d\",\"Test\":\"TestA\",\"Elapsed\":%d}\n", i, i)
	}
	return b.String()
}

func TestTally(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events string
		want   []string // in the output
		not    string   // not in the output
		failed int
	}{
		{
			name: "all pass",
			events: `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA/sub"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":1.5}`,
			want: []string{"ok   p (1.50s)\n", "\n2 passed, 0 failed\n"},
			not:  "noise",
		},
		{
			name: "a failing test shows its output",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"a_test.go:1: got 2\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"-test.shuffle 17\n"}
{"Action":"fail","Package":"p"}`,
			want:   []string{"FAIL p TestA", "a_test.go:1: got 2\n", "-test.shuffle 17\n", "\n0 passed, 1 failed\n"},
			failed: 1,
		},
		{
			name: "a package that does not build is one failure",
			events: `{"ImportPath":"p","Action":"build-output","Output":"p/a.go:3: undefined: x\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p"}`,
			want:   []string{"undefined: x", "\n0 passed, 1 failed\n"},
			failed: 1,
		},
		{
			name: "a panic shows its trace and is one failure",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: boom\n"}
{"Action":"fail","Package":"p"}`,
			want:   []string{"panic: boom", "\n0 passed, 1 failed\n"},
			failed: 1,
		},
		{
			name: "a skipped test is named",
			events: `{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"q"}`,
			want: []string{"SKIP p TestA\n", "0 passed, 0 failed, 1 skipped\n"},
		},
		{
			name: "the slowest are listed, the slowest first, subtests within their test",
			events: `{"Action":"pass","Package":"p","Test":"TestA/sub","Elapsed":2}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":2.5}
{"Action":"fail","Package":"p","Test":"TestB","Elapsed":12.25}
{"Action":"pass","Package":"p","Test":"TestC","Elapsed":0.5}
{"Action":"fail","Package":"p","Elapsed":15}
{"Action":"pass","Package":"q","Elapsed":31}`,
			want: []string{
				"slowest packages:\n    31.0s  q\n    15.0s  p\n",
				"slowest tests:\n    12.2s  p TestB\n     2.5s  p TestA\n3 passed, 1 failed\n",
			},
			failed: 1,
		},
		{
			name:   "no more than ten are listed",
			events: manySlow(11),
			want:   []string{"    11.0s  p11 TestA\n", "     2.0s  p2 TestA\n11 passed"},
			not:    "p1 TestA",
		},
		{
			name:   "other lines pass through",
			events: "warning: something\n",
			want:   []string{"warning: something\n"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			tl := newTally(&out)
			if err := tl.read(strings.NewReader(tc.events)); err != nil {
				t.Fatal(err)
			}
			tl.summary()
			for _, want := range tc.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in:\n%s", want, out.String())
				}
			}
			if tc.not != "" && strings.Contains(out.String(), tc.not) {
				t.Errorf("%q in:\n%s", tc.not, out.String())
			}
			if tl.failed != tc.failed {
				t.Errorf("failed %d, want %d", tl.failed, tc.failed)
			}
		})
	}
}
