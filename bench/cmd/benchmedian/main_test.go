package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	const in = `goos: linux
pkg: example.org/ledger
BenchmarkOneKey/all-2         	       1	 540000000 ns/op	     10050 records
BenchmarkOneKey/page-2        	      37	  32000000 ns/op	       100.0 records
BenchmarkOneKey/all-2         	       1	 500000000 ns/op	     10050 records
BenchmarkOneKey/all-2         	       1	 700000000 ns/op	     10050 records
PASS
ok  	example.org/ledger	12.3s
BenchmarkVerify 	       5	   2500000 ns/op	   133000 records/s	  64 B/op	       2 allocs/op
BenchmarkVerify 	       5	   3500000 ns/op	   131000 records/s	  64 B/op	       2 allocs/op
ok  	example.org/audit	1.3s
`
	const want = `
| benchmark | unit | median |
|---|---|---|
| BenchmarkOneKey/all | ms | 540 [500–700] |
| BenchmarkOneKey/all | records | 10050 [10050–10050] |
| BenchmarkOneKey/page | ms | 32.0 |
| BenchmarkOneKey/page | records | 100 |
| BenchmarkVerify | ms | 3.00 [2.50–3.50] |
| BenchmarkVerify | records/s | 132000 [131000–133000] |
| BenchmarkVerify | B/op | 64.0 [64.0–64.0] |
| BenchmarkVerify | allocs/op | 2.00 [2.00–2.00] |
`
	var out strings.Builder
	if err := run(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestRunRefusesOtherText(t *testing.T) {
	for _, in := range []string{
		"", "PASS\nok  \tx\t1s\n", "BenchmarkA-2 1 x ns/op\n",
		"BenchmarkA-2 1 5 ns/op\n--- FAIL: BenchmarkB\n", "BenchmarkA-2 1 5 ns/op\nFAIL\tx\t1s\n",
	} {
		if err := run(strings.NewReader(in), &strings.Builder{}); err == nil {
			t.Errorf("%q: no error", in)
		}
	}
}
