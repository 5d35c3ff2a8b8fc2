package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFigures reads two rounds in which the core was twice as slow for one of
// the peers: the ratios are of the same round, at the same speed.
func TestFigures(t *testing.T) {
	const lines = `{"labels":{"peer":"disk","scenario":"fsync","round":"1"},"sync_ms":{"p50":0.5}}
{"labels":{"peer":"direct","scenario":"s2-200","round":"1"},"requests":10,"latency_ms":{"p50":50,"p99":51}}
{"labels":{"peer":"envoy","scenario":"s1","round":"1"},"requests":10,"usage":{"gw_cpu_us_per_req":50,"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"s1","round":"1"},"requests":10,"usage":{"gw_cpu_us_per_req":400,"core_speed":{"median_us":200}}}
{"labels":{"peer":"modelgateway","scenario":"s1","round":"2"},"requests":10,"usage":{"gw_cpu_us_per_req":900,"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"s2-200","round":"1"},"requests":10,"errors":3,"latency_ms":{"p50":53,"p99":55}}
{"labels":{"peer":"modelgateway","scenario":"idle","round":"1"},"rss_mb":120,"pss_mb":110}
`
	path := filepath.Join(t.TempDir(), "all.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	tab, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	tab.figures(&out)
	for _, want := range []string{
		"| 1 KB chat: CPU against plain Envoy | 4.00 x [4.00–4.00] | ≤ 6 x | ≤ 4.2 x | aim reached |",
		"one fsync of 0.50 ms) | 3.00 ms [3.00–3.00] | ≤ 2 ms | – | over |",
		"added p99 | 4.00 ms [4.00–4.00] | ≤ 8 ms | – | within due |",
		"| memory with Envoy, at rest | 120.00 MB [120.00–120.00] | ≤ 150 MB | – | within due |",
		"| memory with Envoy, after load | – | ≤ 200 MB | – | not measured |",
		"modelgateway, s2-200, round 1: 3 of 10 requests failed",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for _, p := range tab.peers {
		if p == "disk" {
			t.Error("the disk is listed among the peers")
		}
	}
}
