#!/usr/bin/env bash
# turns.sh [ROUNDS]: the ratios of CPU time between plain Envoy and kinds of requests through the
# gateway, which run at the same time and take turns of a few seconds.
#
# A core of a shared host changes its speed within the minutes that the scenarios of run.sh take.
# What takes turns has the same minutes. The figures are medians of the rounds' ratios, with the
# first and the third quartile. SLICE is the length of a turn, STREAM_SLICE that of streams.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/.." && pwd)
BIN=$ROOT/bin/bench
ROUNDS=${1:-12}
SLICE=${SLICE:-2s}
STREAM_SLICE=${STREAM_SLICE:-5s}
export ENVOY_BIN=${ENVOY_BIN:-$ROOT/.tmp/envoy-1.40.0/envoy/_bin/envoy}
MOCK=http://127.0.0.1:9100
. "$HERE/lib.sh"

cd "$ROOT"
go build -o bin/bench/ ./bench/cmd/...
ln -sf ../libmodelgateway_streamend.so ../libmodelgateway_attach.so bin/bench/ # Envoy loads them from beside the gateway
mkdir -p "$HERE/results"
OUT=$HERE/results/turns.jsonl
: >"$OUT"

PEER_PID= MOCK_PID= PLAIN_PID= SCRATCH=
cleanup() {
  for pid in "$PEER_PID" "$PLAIN_PID" "$MOCK_PID"; do stop "$pid"; done
  PEER_PID= PLAIN_PID= MOCK_PID=
  [ -z "$SCRATCH" ] || rm -rf "$SCRATCH"
  SCRATCH=
}
trap cleanup EXIT
trap 'exit 130' INT TERM

. "$HERE/peers/envoy.sh"
PLAIN=http://127.0.0.1:$PORT/v1
unused 9100 "$PORT"
taskset -c 1 "$BIN/mockllm" >"$HERE/results/mock.log" 2>&1 &
MOCK_PID=$!
mock() { curl -fsS -o /dev/null -X POST "$MOCK/_mock/config?$1"; }
taskset -c 0 "${CMD[@]}" >"$HERE/results/envoy.log" 2>&1 &
PLAIN_PID=$!
NAME=modelgateway LOG=$HERE/results/modelgateway.log
. "$HERE/peers/modelgateway.sh"
GATEWAY=http://127.0.0.1:$PORT/v1
unused "$PORT"
prepare
taskset -c 0 "${CMD[@]}" >"$LOG" 2>&1 &
PEER_PID=$!
ask='{"model":"mock-gpt","messages":[{"role":"user","content":"hi"}]}'
for base in "$PLAIN" "$GATEWAY"; do
  curl -fsS -o /dev/null --retry 60 --retry-delay 1 --retry-all-errors -H 'content-type: application/json' -H "${HEADERS[0]}" -d "$ask" "$base/chat/completions"
done

turn() { # NAME PID LOADGEN-ARGUMENTS...
  local name=$1 pid=$2
  shift 2
  taskset -c 1 "$BIN/loadgen" -H "${HEADERS[0]}" -pid "$pid" -mock-pid "$MOCK_PID" -mock "$MOCK" -label "what=$name" -label "round=$r" "$@" >>"$OUT"
}
for ((r = 1; r <= ROUNDS; r++)); do
  say "round $r"
  mock 'latency=0ms&body=1024'
  whole=(-mode closed -conns 32 -warmup 300ms -duration "$SLICE")
  turn plain "$PLAIN_PID" -url "$PLAIN/chat/completions" "${whole[@]}"
  turn chat "$PEER_PID" -url "$GATEWAY/chat/completions" "${whole[@]}"
  turn messages "$PEER_PID" -url "$GATEWAY/messages" -kind messages -model "$CLAUDE" -H 'anthropic-version: 2023-06-01' "${whole[@]}"
  turn chat-2k "$PEER_PID" -url "$GATEWAY/chat/completions" -size 2048 "${whole[@]}"
  turn prompt "$PEER_PID" -url "$GATEWAY/chat/completions" -prompt "$PROMPT" "${whole[@]}"
  mock 'latency=20ms&chunks=50&interval=20ms'
  streams=(-stream -expect-chunks 50 -mode closed -conns 200 -warmup 2s -duration "$STREAM_SLICE")
  turn plain-stream "$PLAIN_PID" -url "$PLAIN/chat/completions" "${streams[@]}"
  turn stream "$PEER_PID" -url "$GATEWAY/chat/completions" "${streams[@]}"
done

ratio() { # WHAT TO TEXT
  jq -rs --arg what "$1" --arg to "$2" --arg text "$3" '
    def cost($name): map(select(.labels.what == $name) | {key: .labels.round, value: .usage.gw_cpu_us_per_req}) | from_entries;
    cost($to) as $base | [cost($what) | to_entries[] | .value / $base[.key]] | sort
    | [.[length / 4 | floor], .[length / 2 | floor], .[length * 3 / 4 | floor]] | map(. * 100 | round / 100)
    | "| \($text) | \(.[1]) | \(.[0]) to \(.[2]) |"' "$OUT"
}
echo "| CPU of a request, $ROUNDS rounds | median | quartiles |"
echo "|---|---|---|"
ratio chat plain "1 KB chat against plain Envoy"
ratio stream plain-stream "stream of 50 chunks, 200 at once, against plain Envoy"
ratio messages chat "1 KB message against a 1 KB chat"
ratio prompt chat "1 KB chat with a prompt of 1 KB against a 1 KB chat"
ratio chat-2k chat "2 KB chat against a 1 KB chat"
ratio prompt chat-2k "1 KB chat with a prompt of 1 KB against a 2 KB chat"
failed=$(jq -s 'map(.errors) | add' "$OUT")
[ "$failed" = 0 ] || echo "$failed requests failed; the figures mean little."
