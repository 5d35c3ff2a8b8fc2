#!/usr/bin/env bash
# run.sh: the fake provider and the gateway with its Envoy, on loopback, with a
# key and a data directory that live as long as this run. Ctrl-C ends all.
#
# LISTEN, MODELGATEWAY_MASTER_KEY, MODELGATEWAY_ENVOY and DATA may be set; `make
# run` builds what is needed first.
set -euo pipefail
cd "$(dirname "$0")/../.."

LISTEN=${LISTEN:-127.0.0.1:8080}
UPSTREAM=127.0.0.1:9100 # the address in gateway.yaml
ENVOY=${MODELGATEWAY_ENVOY:-$PWD/.tmp/envoy-1.40.0/envoy/_bin/envoy}
READY_S=60

PIDS=()
WORK=
NAMES=()

say() { printf '%s\n' "$*" >&2; }
die() {
  say "run.sh: $*"
  exit 1
}

# alive PID: it is a running job of this shell. Asking the shell rather than the
# kernel means that an id which was given to another process is not ours.
alive() { jobs -rp | grep -qx "$1"; }

# Ends what was started here, the gateway first so that it can finish what it is
# answering, and nothing else.
cleanup() {
  local i pid tries
  trap - EXIT
  trap '' INT TERM # a second Ctrl-C must not leave half of it behind
  for ((i = ${#PIDS[@]} - 1; i >= 0; i--)); do
    pid=${PIDS[i]}
    alive "$pid" && kill -TERM "$pid" 2>/dev/null
    for ((tries = 0; tries < 150; tries++)); do
      alive "$pid" || break
      sleep 0.1
    done
    if alive "$pid"; then
      say "run.sh: ${NAMES[i]} did not end in 15 s; killing it"
      kill -KILL "$pid" 2>/dev/null || true
    fi
    wait "$pid" 2>/dev/null || true
  done
  [ -z "$WORK" ] || rm -rf "$WORK"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for program in bin/modelgateway bin/upstream "$ENVOY"; do
  [ -x "$program" ] || die "$program is missing; run: make run"
done

# taken HOST:PORT: somebody listens there.
taken() { (exec 3<>"/dev/tcp/${1%:*}/${1##*:}") 2>/dev/null; }
if taken "$UPSTREAM"; then
  die "$UPSTREAM is taken; the fake provider needs it (see who: ss -ltnp 'sport = :${UPSTREAM##*:}')"
fi
if taken "$LISTEN"; then
  die "$LISTEN is taken; choose another address: LISTEN=127.0.0.1:8081 make run"
fi

if [ -z "${MODELGATEWAY_MASTER_KEY:-}" ]; then
  MODELGATEWAY_MASTER_KEY=sk-$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
fi
export MODELGATEWAY_MASTER_KEY
WORK=$(mktemp -d)
DATA=${DATA:-$WORK/data}

# Each program gets a process group of its own (set -m), so that the terminal's
# Ctrl-C reaches this script alone and the order of the end is decided above.
set -m
bin/upstream -listen "$UPSTREAM" 2>"$WORK/upstream.log" &
PIDS+=($!)
NAMES+=("the fake provider")
bin/modelgateway serve --config examples/quickstart/gateway.yaml --data "$DATA" --listen "$LISTEN" --envoy-path "$ENVOY" 2> >(tee "$WORK/gateway.log" >&2) &
PIDS+=($!)
NAMES+=("the gateway")
set +m

# fail_if_ended: says which program ended, and shows the end of its log.
fail_if_ended() {
  local i
  for i in "${!PIDS[@]}"; do
    alive "${PIDS[i]}" && continue
    [ "$i" = 0 ] && tail -n 5 "$WORK/upstream.log" >&2
    die "${NAMES[i]} has ended"
  done
}

ready=
for ((i = 0; i < READY_S * 10; i++)); do
  fail_if_ended
  if python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "http://$LISTEN/health/readiness" 2>/dev/null; then
    ready=yes
    break
  fi
  sleep 0.1
done
[ -n "$ready" ] || die "the gateway is not ready after $READY_S s; its last lines are above"

cat <<TEXT

The gateway is ready on http://$LISTEN, with a key for this run.

curl http://$LISTEN/v1/chat/completions \\
  -H 'Authorization: Bearer $MODELGATEWAY_MASTER_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "fast", "messages": [{"role": "user", "content": "Hello"}]}'

from openai import OpenAI
client = OpenAI(base_url="http://$LISTEN/v1", api_key="$MODELGATEWAY_MASTER_KEY")
print(client.chat.completions.create(model="fast", messages=[{"role": "user", "content": "Hello"}]).choices[0].message.content)

The model "steady" always fails at its provider and is answered by "fast" instead.
What requests have cost: curl -H 'Authorization: Bearer $MODELGATEWAY_MASTER_KEY' http://$LISTEN/spend/logs
The whole API, with examples: http://$LISTEN/docs
What reached the fake provider: curl http://$UPSTREAM/_fake/requests
Ctrl-C ends everything.
TEXT

wait -n "${PIDS[@]}" || true # a signal's trap runs at once
fail_if_ended
