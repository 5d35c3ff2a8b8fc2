#!/usr/bin/env bash
# run.sh [COMMAND...]: the gateway and an Envoy that it did not start, on loopback,
# with the fake provider behind them. With a COMMAND, runs it beside them with
# GATEWAY_URL and GATEWAY_KEY set, and ends with its status; without one, runs
# until Ctrl-C.
#
# LISTEN, MODELGATEWAY_ENVOY and DATA may be set. Needs bin/modelgateway and
# bin/upstream, which `make build bin/upstream` makes.
set -euo pipefail
cd "$(dirname "$0")/../.."

LISTEN=${LISTEN:-127.0.0.1:8080}
UPSTREAM=127.0.0.1:9100 # the address in gateway.yaml
ENVOY=${MODELGATEWAY_ENVOY:-$PWD/.tmp/envoy-1.40.0/envoy/_bin/envoy}
READY_S=60

say() { printf '%s\n' "$*" >&2; }
die() {
  say "run.sh: $*"
  exit 1
}

for program in bin/modelgateway bin/upstream "$ENVOY"; do
  [ -x "$program" ] || die "$program is missing; run: make build bin/upstream"
done
# Envoy shares a taken port with another Envoy in silence.
for address in "$LISTEN" "$UPSTREAM"; do
  ! (exec 3<>"/dev/tcp/${address%:*}/${address##*:}") 2>/dev/null || die "$address is taken"
done

PIDS=() NAMES=() # in the order of their start
WORK=$(mktemp -d)

# alive PID: it is a running job of this shell.
alive() { jobs -rp | grep -qx "$1"; }

# Ends what was started here, the last first: Envoy is asked to finish its answers
# while the gateway behind it still writes down what they cost.
cleanup() {
  local i tries
  trap - EXIT
  trap '' INT TERM
  for ((i = ${#PIDS[@]} - 1; i >= 0; i--)); do
    alive "${PIDS[i]}" || continue
    if [ "${NAMES[i]}" = Envoy ]; then drain; fi
    kill -TERM "${PIDS[i]}" 2>/dev/null || true
    for ((tries = 0; tries < 150; tries++)); do
      alive "${PIDS[i]}" || break
      sleep 0.1
    done
    ! alive "${PIDS[i]}" || kill -KILL "${PIDS[i]}" 2>/dev/null || true
    wait "${PIDS[i]}" 2>/dev/null || true
  done
  rm -rf "$WORK"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# drain: no new connections, and 10 s for the requests under way.
drain() {
  local tries active
  { admin POST /healthcheck/fail && admin POST /drain_listeners; } >/dev/null || return 0
  for ((tries = 0; tries < 100; tries++)); do
    active=$(admin GET '/stats?filter=http%5C.ingress%5C.downstream_rq_active' | sed 's/.*: //') || return 0
    [ "${active:-0}" != 0 ] || return 0
    sleep 0.1
  done
}
admin() { curl -fsS -m 2 -X "$1" --unix-socket "$(dirname "$BOOTSTRAP")/admin.sock" "http://envoy$2"; }

start() { # NAME COMMAND...
  local name=$1
  shift
  "$@" 2>"$WORK/${name// /-}.log" &
  PIDS+=($!)
  NAMES+=("$name")
}

# until_ready WHAT COMMAND...: repeats the command until it succeeds.
until_ready() {
  local what=$1 tries i
  shift
  for ((tries = 0; tries < READY_S * 10; tries++)); do
    for i in "${!PIDS[@]}"; do
      alive "${PIDS[i]}" || {
        tail -n 5 "$WORK/${NAMES[i]// /-}.log" >&2
        die "${NAMES[i]} has ended"
      }
    done
    if "$@"; then return; fi
    sleep 0.1
  done
  die "$what after $READY_S s"
}

random_key() { printf 'sk-%s' "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"; }
GATEWAY_KEY=$(random_key)
GATEWAY_URL=http://$LISTEN
export GATEWAY_KEY GATEWAY_URL

set -m # a process group each, so that Ctrl-C reaches this script alone
start "the fake provider" bin/upstream -listen "$UPSTREAM"
start "the gateway" env MODELGATEWAY_MASTER_KEY="$(random_key)" MODELGATEWAY_APP_KEY="$GATEWAY_KEY" \
  bin/modelgateway serve --config examples/sidecar/gateway.yaml --data "${DATA:-$WORK/data}" --listen "$LISTEN"

# The gateway says where it has put the configuration that Envoy is to be started with.
bootstrap() {
  BOOTSTRAP=$(sed -n 's/.*"bootstrap":"\([^"]*\)".*/\1/p' "$WORK/the-gateway.log")
  [ -n "$BOOTSTRAP" ]
}
BOOTSTRAP=
until_ready "the gateway has written no configuration" bootstrap
start "Envoy" "$ENVOY" -c "$BOOTSTRAP" --disable-hot-restart --log-level warning \
  --drain-strategy immediate --drain-time-s 30
until_ready "the gateway is not ready" curl -fsS -m 2 -o /dev/null "$GATEWAY_URL/health/readiness" 2>/dev/null
set +m

if [ $# -gt 0 ]; then
  "$@"
  exit
fi
cat <<TEXT

Ready on $GATEWAY_URL, with an Envoy of its own started with
$BOOTSTRAP

curl $GATEWAY_URL/v1/chat/completions \\
  -H 'Authorization: Bearer $GATEWAY_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "fast", "messages": [{"role": "user", "content": "Hello"}]}'

Ctrl-C ends everything.
TEXT
wait -n "${PIDS[@]}" || true
die "a process has ended"
