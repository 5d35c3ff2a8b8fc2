#!/usr/bin/env bash
# guardrails.sh: measures guardrails on one core, without Envoy and without a network: what the engines take for a KB, how much
# of a stream is held back, and what a stream and a chat cost with a guardrail and without. It prints the medians of ROUNDS
# rounds. It never fails for being slow.
set -euo pipefail
ROUNDS=${ROUNDS:-3}
cd "$(dirname "$0")/.."
OUT=$(mktemp)
trap 'rm -f "$OUT"' EXIT
run() { # PACKAGE BENCHMARKS
  go test "./$1" -run '^$' -bench "^($2)\$" -benchmem -cpu 1 -count "$ROUNDS" >>"$OUT" || { cat "$OUT" >&2; false; }
}
run extproc/guard 'BenchmarkEngines|BenchmarkHeldBack'
run extproc 'BenchmarkGuardrails'
awk '
  function add(name, unit, v) { key = name SUBSEP unit; values[key] = values[key] " " v }
  function median(name, unit,   n, v, i, j, t) {
    n = split(values[name, unit], v, " ")
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n ? v[int((n + 1) / 2)] : "missing"
  }
  function row(what, measured, due) { printf "| %s | %s | %s |\n", what, measured, due }
  function kb(name) { return sprintf("%.0f µs a KB", median("BenchmarkEngines/" name, "µs/KB")) }
  function times(a, b) { return sprintf("%.2f times", median("BenchmarkGuardrails/" a, "ns/op") / median("BenchmarkGuardrails/" b, "ns/op")) }
  /^Benchmark/ { sub(/-[0-9]+$/, "", $1); for (i = 3; i < NF; i += 2) add($1, $(i + 1), $i) }
  END {
    print "| | measured | due |"; print "|---|---|---|"
    row("personal data, all entities", kb("presidio/1KB"), "120")
    row("without people and places", kb("presidio-without-names/1KB"), "35")
    row("64 KB, all entities", sprintf("%.1f ms", median("BenchmarkEngines/presidio/64KB", "ns/op") / 1e6), "8")
    row("8 MiB, all entities: time for a KB against 64 KB", sprintf("%.2f times", median("BenchmarkEngines/presidio/8192KB", "µs/KB") / median("BenchmarkEngines/presidio/64KB", "µs/KB")), "1")
    row("200 words and 20 patterns", kb("content_filter/1KB"), "60")
    row("secrets", kb("detect_secret/1KB"), "-")
    row("held back of a stream of 4 bytes a piece, p50, p99, most", median("BenchmarkHeldBack", "p50-held-bytes") ", " median("BenchmarkHeldBack", "p99-held-bytes") ", " median("BenchmarkHeldBack", "p100-held-bytes") " bytes", "12, 64, 256")
    row("a stream of 50 pieces with a guardrail for responses, Go alone", times("stream/post_call", "stream/without"), "1.8 of the whole CPU")
    row("a short chat with a guardrail for requests, Go alone", times("whole/pre_call", "whole/without"), "-")
  }' "$OUT"
