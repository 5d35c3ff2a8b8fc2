#!/usr/bin/env bash
# run-peer.sh NAME [ROUND]: start peers/NAME.sh and the mock on loopback, run the
# standard scenarios, print one JSON line for each, stop what was started.
#
# The gateway has core 0 (a peer may set CORES), the mock and the loader core 1.
# SCENARIOS="s1 s3-20" limits the run; QUIET_S is how long to wait, before each
# scenario, for other work on the machine to pass. REQUESTS is the least number of
# requests in s1, messages, prompt and the profile, and BURST that of the burst before s2-200-burst.
set -euo pipefail

NAME=${1:?usage: run-peer.sh NAME [ROUND]}
ROUND=${2:-1}
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/.." && pwd)
BIN=$ROOT/bin/bench # built by run.sh
ENVOY_BIN=${ENVOY_BIN:-$ROOT/.tmp/envoy-1.40.0/envoy/_bin/envoy}
SCENARIOS=${SCENARIOS:-idle s1 rss s2-20 s2-200 s2-200-burst s2-1000 s3-5 s3-20 s3-200 translated-200 guarded-200 s4-max s4-10 messages prompt embeddings speech profile disk}
QUIET_S=${QUIET_S:-90}
REQUESTS=${REQUESTS:-100000}
BURST=${BURST:-30000}
LOAD_CORE=1
MOCK=http://127.0.0.1:9100

CORES=0
HEADERS=()
READY_S=60
MIN_PROCS=1 # processes that a peer must turn out to have
SCRATCH=    # a peer's directory, removed at the end
PROFILE=    # where a peer writes a CPU profile, from SIGUSR1 to SIGUSR2
DATA=       # a peer's data directory
CLAUDE=     # a model whose provider speaks Anthropic's language; a peer may have none
PROMPT=     # a stored prompt of five variables
GUARDRAIL=  # one that looks for all personal data in responses
SPEAKER=mock-gpt LISTENER=mock-gpt # models for speech and for transcriptions
prepare() { :; } # what a peer does before it is started; may set HEADERS
mkdir -p "$HERE/results"
MOCK_PID= PEER_PID=
. "$HERE/peers/$NAME.sh"
BASE=http://127.0.0.1:$PORT/v1
URL=$BASE/chat/completions
LOG=$HERE/results/$NAME.log

. "$HERE/lib.sh"

cleanup() {
  stop "$PEER_PID"
  PEER_PID=
  stop "$MOCK_PID"
  MOCK_PID=
  [ -z "$SCRATCH" ] || rm -rf "$SCRATCH"
  SCRATCH=
}
trap cleanup EXIT
trap 'exit 130' INT TERM

unused 9100 "$PORT"

taskset -c $LOAD_CORE "$BIN/mockllm" >"$HERE/results/mock.log" 2>&1 &
MOCK_PID=$!
mock() { curl -fsS -o /dev/null -X POST "$MOCK/_mock/config?$1"; }

prepare
CURL_HEADERS=() LOAD_HEADERS=()
for h in "${HEADERS[@]}"; do
  CURL_HEADERS+=(-H "$h")
  LOAD_HEADERS+=(-H "$h")
done
START=$(date +%s%N)
if [ ${#CMD[@]} -gt 0 ]; then
  taskset -c "$CORES" "${CMD[@]}" >"$LOG" 2>&1 &
  PEER_PID=$!
fi
ask='{"model":"mock-gpt","messages":[{"role":"user","content":"hi"}]}'
for i in $(seq $((READY_S * 10))); do
  code=$(curl -s -m 5 -o /dev/null -w '%{http_code}' -H 'content-type: application/json' "${CURL_HEADERS[@]}" -d "$ask" "$URL" || true)
  [ "$code" = 200 ] && break
  if [ -n "$PEER_PID" ] && ! kill -0 "$PEER_PID" 2>/dev/null; then
    say "$NAME ended while starting; see $LOG"
    exit 1
  fi
  if [ "$i" = $((READY_S * 10)) ]; then
    say "$NAME is not ready after $READY_S s (last answer: $code); see $LOG"
    exit 1
  fi
  sleep 0.1
done
START_S=$(awk "BEGIN{printf \"%.1f\", ($(date +%s%N)-$START)/1e9}")
if [ -n "$PEER_PID" ]; then
  procs=$("$BIN/procsample" -pid "$PEER_PID" | jq .procs)
  if [ "$procs" -lt "$MIN_PROCS" ]; then
    say "$NAME has $procs processes, not $MIN_PROCS: a part of its cost would go uncounted"
    exit 1
  fi
fi
say "$NAME round $ROUND ready after $START_S s: $VERSION"

RPS=999999 # of S1; a peer is not offered more than it can take
emit() { # SCENARIO EXTRA-JSON
  jq -nc --arg peer "$NAME" --arg version "$VERSION" --arg scenario "$1" --arg round "$ROUND" --argjson extra "$2" \
    '{labels: {peer: $peer, version: $version, scenario: $scenario, round: $round}} + $extra'
}
memory() {
  if [ -n "$PEER_PID" ]; then
    emit "$1" "$("$BIN/procsample" -pid "$PEER_PID" | jq -c --argjson s "$START_S" '. + {start_s: $s}')"
  else
    emit "$1" '{}'
  fi
}
quiet() { "$BIN/procsample" -quiet 0.25 -at-most "${QUIET_S}s"; }
load() { # SCENARIO LOADGEN-ARGUMENTS...
  quiet
  load_now "$@"
}
load_now() {
  local scenario=$1
  shift
  taskset -c $LOAD_CORE "$BIN/loadgen" -url "$URL" "${LOAD_HEADERS[@]}" -pid "${PEER_PID:-0}" -mock-pid "$MOCK_PID" \
    -mock "$MOCK" -probe-core 0 -label "peer=$NAME" -label "version=$VERSION" -label "scenario=$scenario" \
    -label "round=$ROUND" "$@"
}
# seconds_for N LEAST: how long N requests take in a closed loop, and a fifth more.
seconds_for() { awk "BEGIN{s = 1.2 * $1 / $RPS; printf \"%.1fs\", (s > $2 ? s : $2)}"; }
whole() { [ -z "$PEER_PID" ] || echo "-quiet-after 30s"; }
near() { awk "BEGIN{exit !($RPS < 1.15 * $1)}"; } # RATE: the greatest rate is near it
skipped() { emit "$1" "{\"skipped\": \"greatest rate $RPS/s is less than 1.15 times $2/s\"}"; }
# full SCENARIO LOADGEN-ARGUMENTS...: a closed loop of at least REQUESTS requests, with the work that they leave;
# the result is in LINE.
full() {
  local scenario=$1 RPS
  shift
  mock 'latency=0ms&body=1024'
  RPS=$(load "$scenario" "$@" -mode closed -conns 32 -warmup 2s -duration 3s | jq .rps)
  for _ in 1 2 3; do # once more if the machine became so slow that they were too few
    LINE=$(load "$scenario" "$@" -mode closed -conns 32 -warmup 1s -duration "$(seconds_for "$REQUESTS" 15)" $(whole))
    RPS=$(jq .rps <<<"$LINE")
    jq -e ".requests < $REQUESTS" <<<"$LINE" >/dev/null || break
  done
}
# streams SCENARIO N LOADGEN-ARGUMENTS...: N at a time.
streams() {
  local scenario=$1 n=$2
  shift 2
  mock 'latency=20ms&chunks=50&interval=20ms'
  load "$scenario" -stream -expect-chunks 50 "$@" -mode closed -conns "$n" -warmup 3s -duration "$([ "$n" -ge 200 ] && echo 15s || echo 10s)"
}
# open SCENARIO RATE MOCK ARGUMENTS...: skipped where the greatest rate is near.
open() {
  local scenario=$1 rate=$2 behaviour=$3
  shift 3
  if near "$rate"; then
    skipped "$scenario" "$rate"
    return
  fi
  mock "$behaviour"
  load "$scenario" -mode open -rate "$rate" "$@"
}

for s in $SCENARIOS; do
  say "$NAME $s"
  case $s in
    idle) sleep 5; memory idle ;;
    s1)
      full s1
      RPS=$(jq .rps <<<"$LINE")
      echo "$LINE"
      ;;
    messages)
      [ -n "$CLAUDE" ] || continue
      full messages -kind messages -url "$BASE/messages" -model "$CLAUDE" -H 'anthropic-version: 2023-06-01'
      echo "$LINE"
      ;;
    prompt)
      [ -n "$PROMPT" ] || continue
      full prompt -prompt "$PROMPT"
      echo "$LINE"
      ;;
    embeddings)
      mock 'latency=0ms&dim=1536'
      load embeddings -kind embeddings -url "$BASE/embeddings" -mode closed -conns 32 -warmup 2s -duration 10s
      ;;
    speech)
      mock 'latency=20ms&chunks=20&interval=20ms&piece=4096'
      load speech -kind speech -url "$BASE/audio/speech" -model "$SPEAKER" -expect-bytes 81920 -mode closed -conns 8 -warmup 1s -duration 10s
      ;;
    transcription)
      sleep 5 # until the gateway is at rest
      mock 'latency=0ms&body=1024'
      # Each comes and goes on at 32 MiB/s in the long run, and the next one comes when that is over.
      load transcription -kind transcription -url "$BASE/audio/transcriptions" -model "$LISTENER" -size 26214400 \
        -mode open -rate 0.5 -arrival const -warmup 2s -duration 20s $([ -z "$PEER_PID" ] || echo -peak)
      ;;
    rss) sleep 1; memory rss-after-s1 ;;
    profile)
      [ -n "$PROFILE" ] || continue
      mock 'latency=0ms&body=1024'
      kill -USR1 "$PEER_PID"
      line=$(load profile -mode closed -conns 32 -warmup 0s -duration "$(seconds_for "$REQUESTS" 15)" $(whole))
      kill -USR2 "$PEER_PID"
      for _ in $(seq 100); do [ -s "$PROFILE" ] && break; sleep 0.1; done
      jq -c --argjson profile "$("$BIN/cpushare" -profile "$PROFILE")" '. + {profile: $profile}' <<<"$line"
      ;;
    disk)
      [ -n "$DATA" ] || continue
      # Tables have what is kept; the logs are reused, and bounded.
      size() { find "$DATA" -type f "$@" -printf '%s\n' | awk '{s += $1} END{print s + 0}'; }
      emit disk "$(jq -nc --argjson requests "$(curl -fsS "$MOCK/_mock/stats" | jq .requests)" \
        --argjson tables "$(size -path '*/state/*' -name '*.sst')" \
        --argjson all "$(size ! -name ballast)" '{disk: {requests: $requests, table_bytes: $tables, bytes: $all}}')"
      ;;
    s2-20) open s2-20 20 'latency=50ms&body=1024' -warmup 2s -duration 15s ;;
    s2-200) open s2-200 200 'latency=50ms&body=1024' -warmup 2s -duration 15s ;;
    s2-200-burst)
      # Its first seconds are those after the burst, so it waits for nothing.
      if near 200; then
        skipped "$s" 200
        continue
      fi
      mock 'latency=0ms&body=1024'
      load burst -mode closed -conns 32 -warmup 0s -duration "$(seconds_for "$BURST" 1)" >/dev/null
      mock 'latency=50ms&body=1024'
      load_now "$s" -mode open -rate 200 -warmup 1s -duration 20s
      ;;
    s2-1000) open s2-1000 1000 'latency=50ms&body=1024' -warmup 2s -duration 10s ;;
    s3-*) streams "$s" "${s#s3-}" ;;
    translated-*)
      [ -n "$CLAUDE" ] || continue
      streams "$s" "${s#translated-}" -model "$CLAUDE"
      ;;
    guarded-*)
      [ -n "$GUARDRAIL" ] || continue
      # The last word is held back until the end of the text, and comes in a chunk of its own.
      streams "$s" "${s#guarded-}" -expect-chunks 51 -H "x-gateway-guardrail-id: $GUARDRAIL"
      ;;
    s4-max)
      mock 'latency=0ms&body=1024'
      line=$(load s4-max -mode closed -conns 8 -size 262144 -warmup 2s -duration 8s)
      echo "$line"
      S1=$RPS RPS=$(jq .rps <<<"$line")
      ;;
    s4-10)
      open s4-10 10 'latency=0ms&body=1024' -size 262144 -warmup 1s -duration 12s
      RPS=${S1:-$RPS}
      ;;
    *) say "no scenario $s"; exit 1 ;;
  esac
done
say "$NAME round $ROUND done"
