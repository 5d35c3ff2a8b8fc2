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
{"labels":{"peer":"envoy","scenario":"s1","round":"1"},"requests":200000,"usage":{"gw_cpu_us_per_req":50,"whole":{"requests":200010,"gw_cpu_us_per_req":60,"quiet":true},"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"s1","round":"1"},"requests":10,"usage":{"gw_cpu_us_per_req":400,"whole":{"requests":20,"gw_cpu_us_per_req":480,"quiet_after_s":30},"core_speed":{"median_us":200}}}
{"labels":{"peer":"modelgateway","scenario":"s1","round":"2"},"requests":10,"usage":{"gw_cpu_us_per_req":900,"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"s2-200","round":"1"},"requests":10,"errors":3,"latency_ms":{"p50":53,"p99":55}}
{"labels":{"peer":"direct","scenario":"s2-200-burst","round":"1"},"requests":10,"latency_ms":{"p50":50,"p99":51}}
{"labels":{"peer":"modelgateway","scenario":"s2-200-burst","round":"1"},"requests":10,"latency_ms":{"p50":50.5,"p99":58}}
{"labels":{"peer":"modelgateway","scenario":"disk","round":"1"},"disk":{"requests":100,"table_bytes":30000,"bytes":2097152}}
{"labels":{"peer":"modelgateway","scenario":"idle","round":"1"},"rss_mb":120,"pss_mb":110}
`
	tab := readLines(t, lines)
	var out strings.Builder
	tab.figures(&out)
	for _, want := range []string{
		"| 1 KB chat, recorded and posted: CPU against plain Envoy | 4.00 x [4.00–4.00] | ≤ 5.6 x | ≤ 4.6 x | aim reached |",
		"added p50 (one fsync: 0.50 ms) | 3.00 ms [3.00–3.00] | ≤ 1.3 ms | ≤ 0.8 ms | over |",
		"provider: added p99 | 4.00 ms [4.00–4.00] | ≤ 4 ms | ≤ 2.5 ms | within due |",
		"30,000 requests: added p50 | 0.50 ms [0.50–0.50] | ≤ 1.3 ms | ≤ 0.8 ms | aim reached |",
		"30,000 requests: added p99 | 7.00 ms [7.00–7.00] | ≤ 4 ms | ≤ 2.5 ms | over |",
		"| p99 after the burst above that without | 3.00 ms [3.00–3.00] | ≤ 2 ms | – | over |",
		"| memory with Envoy, at rest | 120.00 MB [120.00–120.00] | ≤ 110 MB | ≤ 90 MB | over |",
		"| memory with Envoy, after load | – | ≤ 160 MB | ≤ 130 MB | not measured |",
		"| disk: bytes a request | 300.00 B [300.00–300.00] | ≤ 350 B | ≤ 250 B | within due |",
		"modelgateway, s1, round 1: still at work 30 s after the last request",
		"modelgateway, round 1: S1 made 10 requests, too few",
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

// TestFiguresOfOtherRequests compares with a chat, a stream and plain Envoy of the same round; a
// rate has a lower limit. The core was twice as slow for the embeddings.
func TestFiguresOfOtherRequests(t *testing.T) {
	const lines = `{"labels":{"peer":"modelgateway","scenario":"s1","round":"1"},"requests":200000,"usage":{"gw_cpu_us_per_req":400,"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"messages","round":"1"},"requests":10,"usage":{"gw_cpu_us_per_req":420,"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"messages","round":"2"},"requests":10,"usage":{"gw_cpu_us_per_req":900,"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"prompt","round":"1"},"requests":10,"usage":{"gw_cpu_us_per_req":480,"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"s3-200","round":"1"},"requests":10,"usage":{"gw_cpu_us_per_req":2000,"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"translated-200","round":"1"},"requests":10,"usage":{"gw_cpu_us_per_req":3000,"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"guarded-200","round":"1"},"requests":10,"usage":{"gw_cpu_us_per_req":3800,"core_speed":{"median_us":100}}}
{"labels":{"peer":"envoy","scenario":"transcription","round":"1"},"requests":10,"latency_ms":{"p50":40}}
{"labels":{"peer":"modelgateway","scenario":"transcription","round":"1"},"requests":10,"request_bytes":26214400,"latency_ms":{"p50":60},"usage":{"gw_rss_before_mb":100,"gw_rss_peak_mb":150,"core_speed":{"median_us":100}}}
{"labels":{"peer":"direct","scenario":"speech","round":"1"},"requests":10,"ttft_ms":{"p50":20.5}}
{"labels":{"peer":"modelgateway","scenario":"speech","round":"1"},"requests":10,"ttft_ms":{"p50":22}}
{"labels":{"peer":"modelgateway","scenario":"embeddings","round":"1"},"requests":10,"rps":900,"usage":{"core_speed":{"median_us":200}}}
`
	var out strings.Builder
	readLines(t, lines).figures(&out)
	for _, want := range []string{
		"| 1 KB message, spliced: CPU against chat | 1.05 x [1.05–1.05] | ≤ 1.1 x | – | within due |",
		"200 at once: CPU against a spliced one | 1.50 x [1.50–1.50] | ≤ 1.6 x | – | within due |",
		"200 at once: CPU against one without | 1.90 x [1.90–1.90] | ≤ 1.8 x | – | over |",
		"five variables: CPU against chat | 1.20 x [1.20–1.20] | ≤ 1.12 x | – | over |",
		"at rest, of its body | 2.00 x [2.00–2.00] | ≤ 3 x | – | within due |",
		"time against plain Envoy, p50 | 1.50 x [1.50–1.50] | ≤ 1.3 x | – | over |",
		"| speech: added time to the first piece, p50 | 1.50 ms [1.50–1.50] | ≤ 3 ms | – | within due |",
		"| embeddings of 1 KB on one core | 1800.00 /s [1800.00–1800.00] | ≥ 2000 /s | – | under |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestNoise reads a round in which other work delayed the requests without a gateway.
func TestNoise(t *testing.T) {
	const lines = `{"labels":{"peer":"direct","scenario":"s2-200","round":"1"},"requests":10,"latency_ms":{"p50":50.2,"p99":142}}
{"labels":{"peer":"modelgateway","scenario":"s2-200","round":"1"},"requests":10,"latency_ms":{"p50":50.1,"p99":92}}
`
	var out strings.Builder
	readLines(t, lines).figures(&out)
	for _, want := range []string{"added p99 | -50.00 ms [-50.00–-50.00] | ≤ 4 ms | ≤ 2.5 ms | noise |", "-0.10 ms [-0.10–-0.10] | ≤ 1.3 ms | ≤ 0.8 ms | aim reached |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestParts reads the profiles of two rounds; in the second, the core was twice as slow.
func TestParts(t *testing.T) {
	const lines = `{"labels":{"peer":"modelgateway","scenario":"profile","round":"1"},"profile":{"go_cpu_s":1,"parts":{"a":0.75,"b":0.25}},"usage":{"whole":{"requests":10000,"quiet_after_s":2,"gw_cpu_us_per_req_by":{"envoy":40,"profiled":100}},"core_speed":{"median_us":100}}}
{"labels":{"peer":"modelgateway","scenario":"profile","round":"2"},"profile":{"go_cpu_s":2,"parts":{"a":0.65,"b":0.35}},"usage":{"whole":{"requests":10000,"quiet_after_s":4,"gw_cpu_us_per_req_by":{"envoy":80,"profiled":200}},"core_speed":{"median_us":200}}}
{"labels":{"peer":"envoy","scenario":"s1","round":"1"},"usage":{"core_speed":{"median_us":100}}}
`
	var out strings.Builder
	readLines(t, lines).printParts(&out)
	const want = `
**Parts of the gateway's Go CPU** (S1 once more with a profile, 10000 requests and the 3 s of work after them)

| part | % of Go's CPU | µs/req at usual core speed |
|---|---|---|
| a | 70.0 [65.0–75.0] | 70.0 [65.0–75.0] |
| b | 30.0 [25.0–35.0] | 30.0 [25.0–35.0] |
| all of Go | 100 | 100 |
| Envoy of the gateway | – | 40 [40–40] |
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func readLines(t *testing.T, lines string) *table {
	t.Helper()
	path := filepath.Join(t.TempDir(), "all.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	tab, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}
