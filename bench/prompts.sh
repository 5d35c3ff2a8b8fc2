#!/usr/bin/env bash
# prompts.sh: measures prompts without Envoy and without a network: what a composition takes, the
# bounds of templates, the memory of a library and a change of the View with it. It prints a table
# of medians of ROUNDS rounds, with what is due. It never fails for being slow.
#
# The last rows compare the Go part of a chat with and without a prompt. make bench compares the
# whole: the gateway and its Envoy.
set -euo pipefail
ROUNDS=${ROUNDS:-3}
cd "$(dirname "$0")/.."
OUT=$(mktemp)
trap 'rm -f "$OUT"' EXIT
run() { # PACKAGE BENCHMARKS [FLAG...]
  go test "./$1" -run '^$' -bench "^($2)\$" -benchmem -count "$ROUNDS" "${@:3}" >>"$OUT" || { cat "$OUT" >&2; false; }
}
run cluster/prompts 'BenchmarkCompose'
run cluster/prompts 'BenchmarkMemory|BenchmarkOpen' -benchtime 1x
run cluster/prompts/template 'BenchmarkBombs' -benchtime 5x
run cluster 'BenchmarkViewChangePrompts'
run extproc 'BenchmarkPrompts'
awk '
  function add(name, unit, v) { key = name SUBSEP unit; values[key] = values[key] " " v }
  function median(name, unit,   n, v, i, j, t) {
    n = split(values[name, unit], v, " ")
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n ? v[int((n + 1) / 2)] : "missing"
  }
  function row(what, measured, due) { printf "| %s | %s | %s |\n", what, measured, due }
  function us(name) { return sprintf("%.1f µs", median(name, "ns/op") / 1000) }
  /^Benchmark/ { sub(/-[0-9]+$/, "", $1); for (i = 3; i < NF; i += 2) add($1, $(i + 1), $i) }
  END {
    print "\n| prompts | measured | due |\n|---|---|---|"
    row("a prompt of 1 KB with five variables is composed", us("BenchmarkCompose") ", " median("BenchmarkCompose", "allocs/op") " allocations", "≤ 25 µs, ≤ 15 allocations")
    row("the costliest of the bombs ends after", median("BenchmarkBombs", "worst-ms") " ms", "≤ 50 ms")
    row("the most that one allocates", sprintf("%.1f MiB", median("BenchmarkBombs", "worst-MiB")), "≤ 4 MiB")
    row("10,000 prompts of 10 versions of 1 KB", sprintf("%.0f MB", median("BenchmarkMemory", "MB")), "≤ 120 MB")
    row("what is compiled of them, all prompts in use", sprintf("%.0f MB", median("BenchmarkOpen", "MB")), "")
    row("a label is moved among them: the change of the View", us("BenchmarkViewChangePrompts/label/of=10000"), "≤ 20 µs")
    row("a version is made", us("BenchmarkViewChangePrompts/version/of=10000"), "≤ 20 µs")
    plain = median("BenchmarkPrompts/no_library", "ns/op")
    row("a chat of 1 KB in Go, without prompts", us("BenchmarkPrompts/no_library"), "")
    row("the same with a library that it does not use", sprintf("%.2f x", median("BenchmarkPrompts/no_prompt", "ns/op") / plain), "1 x")
    row("the same with a prompt of 1 KB and five variables", sprintf("%.2f x; %d allocations more", median("BenchmarkPrompts/chat", "ns/op") / plain, median("BenchmarkPrompts/chat", "allocs/op") - median("BenchmarkPrompts/no_library", "allocs/op")), "≤ 1.12 x with Envoy (make bench)")
  }' "$OUT"
