#!/usr/bin/env bash
# run.sh [ROUNDS [PEER...]]: measures the gateway against plain Envoy on this
# machine and prints tables and figures.
#
# In each round every peer runs once, so that a bad minute of the machine does
# not fall on one of them alone, and the order turns from round to round. The
# figures are ratios within a round. They are printed, never judged by an exit
# status: no machine is fast enough to be a test.
#
# SCENARIOS, REQUESTS, BURST, QUIET_S and ENVOY_BIN may be set (see run-peer.sh). Lines go to results/all.jsonl;
# those of the run before are kept as results/before.jsonl.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/.." && pwd)
ROUNDS=${1:-3}
shift || true
PEERS=("$@")
[ ${#PEERS[@]} -gt 0 ] || PEERS=(envoy modelgateway)
export ENVOY_BIN=${ENVOY_BIN:-$ROOT/.tmp/envoy-1.40.0/envoy/_bin/envoy}
export SCENARIOS=${SCENARIOS:-idle s1 rss s2-200 s2-200-burst profile disk s3-200 translated-200 guarded-200 s4-max messages prompt embeddings speech transcription}

# The memory of a transcription is measured from that at rest, and a gateway that has
# had load keeps memory which would hide it. So it runs in a process of its own.
only() { tr ' ' '\n' <<<"$SCENARIOS" | grep -E "$@" | tr '\n' ' ' || true; }
ALONE=$(only '^transcription$')
SHARED=$(only -v '^(transcription)?$')

for tool in taskset curl jq ss pgrep; do
  command -v "$tool" >/dev/null || {
    echo "run.sh: $tool is needed" >&2
    exit 1
  }
done
cd "$ROOT"
go build -o bin/bench/ ./bench/cmd/...
ln -sf ../libmodelgateway_streamend.so ../libmodelgateway_attach.so bin/bench/ # Envoy loads them from beside the gateway
mkdir -p "$HERE/results"
OUT=$HERE/results/all.jsonl
[ ! -s "$OUT" ] || mv "$OUT" "$HERE/results/before.jsonl"
: >"$OUT"

for ((r = 1; r <= ROUNDS; r++)); do
  jq -nc --arg round "$r" --argjson sync "$(bin/bench/syncprobe -dir "$HERE/results")" \
    '{labels: {peer: "disk", scenario: "fsync", round: $round, version: "one synced append"}, sync_ms: $sync}' >>"$OUT"
  # What latencies are added to.
  direct=$(only '^(s[23]-|speech$)')
  [ -z "$direct" ] || SCENARIOS=$direct "$HERE/run-peer.sh" direct "$r" >>"$OUT" || echo "direct failed in round $r" >&2
  for ((i = 0; i < ${#PEERS[@]}; i++)); do
    peer=${PEERS[(i + r - 1) % ${#PEERS[@]}]}
    [ -z "$ALONE" ] || SCENARIOS=$ALONE "$HERE/run-peer.sh" "$peer" "$r" >>"$OUT" || echo "$peer failed in round $r" >&2
    [ -z "$SHARED" ] || SCENARIOS=$SHARED "$HERE/run-peer.sh" "$peer" "$r" >>"$OUT" || echo "$peer failed in round $r" >&2
  done
done
bin/bench/report -in "$OUT"
