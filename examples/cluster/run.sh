#!/usr/bin/env bash
# run.sh [COMMAND...]: three gateways, each with its Envoy, that are one cluster,
# and a fake provider; all on loopback, with keys and data directories that live as
# long as this run. Ctrl-C ends all. A command is run beside them, with
# MODELGATEWAY_URL and MODELGATEWAY_KEY set; then all ends with its status.
#
# NODES (3; 1 or 5 also make sense), PORT (8081: the first node's, the others
# follow), CLUSTER_PORT (7401), MODELGATEWAY_MASTER_KEY, MODELGATEWAY_ENVOY and
# DATA may be set, and GATEWAY and UPSTREAM_PROGRAM, the programs; `make cluster`
# builds what is needed first.
set -euo pipefail
cd "$(dirname "$0")/../.."

NODES=${NODES:-3}
PORT=${PORT:-8081}
CLUSTER_PORT=${CLUSTER_PORT:-7401}
UPSTREAM=127.0.0.1:9100 # the address in gateway.yaml
GATEWAY=${GATEWAY:-bin/modelgateway}
UPSTREAM_PROGRAM=${UPSTREAM_PROGRAM:-bin/upstream}
ENVOY=${MODELGATEWAY_ENVOY:-$PWD/.tmp/envoy-1.40.0/envoy/_bin/envoy}
READY_S=60

PIDS=()
NAMES=()
WORK=

say() { printf '%s\n' "$*" >&2; }
die() {
  say "run.sh: $*"
  exit 1
}

# alive PID: it is a running job of this shell.
alive() { jobs -rp | grep -qx "$1"; }

# Ends what was started here, the last first, and nothing else.
cleanup() {
  local i pid tries
  trap - EXIT
  trap '' INT TERM
  for ((i = ${#PIDS[@]} - 1; i >= 0; i--)); do
    alive "${PIDS[i]}" && kill -TERM "${PIDS[i]}" 2>/dev/null
  done
  for ((i = ${#PIDS[@]} - 1; i >= 0; i--)); do
    pid=${PIDS[i]}
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

for program in "$GATEWAY" "$UPSTREAM_PROGRAM" "$ENVOY"; do
  [ -x "$program" ] || die "$program is missing; run: make cluster"
done

# taken HOST:PORT: somebody listens there.
taken() { (exec 3<>"/dev/tcp/${1%:*}/${1##*:}") 2>/dev/null; }
for at in "$UPSTREAM" $(seq -f "127.0.0.1:%g" "$PORT" $((PORT + NODES - 1))) $(seq -f "127.0.0.1:%g" "$CLUSTER_PORT" $((CLUSTER_PORT + NODES - 1))); do
  taken "$at" && die "$at is taken; choose other ports: PORT=9081 CLUSTER_PORT=9401 make cluster"
done

if [ -z "${MODELGATEWAY_MASTER_KEY:-}" ]; then
  MODELGATEWAY_MASTER_KEY=sk-$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
fi
MODELGATEWAY_CLUSTER_SECRET=${MODELGATEWAY_CLUSTER_SECRET:-$("$GATEWAY" cluster secret)}
export MODELGATEWAY_MASTER_KEY MODELGATEWAY_CLUSTER_SECRET
WORK=$(mktemp -d)
DATA=${DATA:-$WORK/data}

set -m # each program gets a process group of its own; see examples/quickstart/run.sh
"$UPSTREAM_PROGRAM" -listen "$UPSTREAM" 2>"$WORK/upstream.log" &
PIDS+=($!)
NAMES+=("the fake provider")
for ((i = 0; i < NODES; i++)); do
  "$GATEWAY" serve --config examples/cluster/gateway.yaml --data "$DATA/node$((i + 1))" --envoy-path "$ENVOY" \
    --listen "127.0.0.1:$((PORT + i))" --cluster-listen "127.0.0.1:$((CLUSTER_PORT + i))" \
    --join "127.0.0.1:$CLUSTER_PORT" --expect "$NODES" 2> >(sed -u "s/^/node$((i + 1)) /" | tee "$WORK/node$((i + 1)).log" >&2) &
  PIDS+=($!)
  NAMES+=("node $((i + 1))")
done
set +m

fail_if_ended() {
  local i
  for i in "${!PIDS[@]}"; do
    alive "${PIDS[i]}" || die "${NAMES[i]} has ended; its last lines are above"
  done
}

for ((n = 0; n < NODES; n++)); do
  ready=
  for ((i = 0; i < READY_S * 10; i++)); do
    fail_if_ended
    if python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "http://127.0.0.1:$((PORT + n))/health/readiness" 2>/dev/null; then
      ready=yes
      break
    fi
    sleep 0.1
  done
  [ -n "$ready" ] || die "node $((n + 1)) is not ready after $READY_S s; its last lines are above"
done

if [ $# -gt 0 ]; then
  export MODELGATEWAY_URL=http://127.0.0.1:$PORT MODELGATEWAY_KEY=$MODELGATEWAY_MASTER_KEY
  "$@"
  exit
fi

cat <<TEXT

$NODES nodes are one cluster: http://127.0.0.1:$PORT and the ports after it.

export MODELGATEWAY_URL=http://127.0.0.1:$PORT MODELGATEWAY_KEY=$MODELGATEWAY_MASTER_KEY
bin/modelgateway cluster status

Make a key at one node and use it at another:

KEY=\$(curl -s http://127.0.0.1:$PORT/key/generate -H "Authorization: Bearer \$MODELGATEWAY_KEY" \\
  -H 'Content-Type: application/json' -d '{"key_alias": "app"}' | python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])')
curl http://127.0.0.1:$((PORT + NODES - 1))/v1/chat/completions -H "Authorization: Bearer \$KEY" \\
  -H 'Content-Type: application/json' -d '{"model": "fast", "messages": [{"role": "user", "content": "Hello"}]}'

Kill one (kill -9 ${PIDS[1]}): the others serve on. Ctrl-C ends everything.
TEXT

# A node that was killed does not end the run: that is what a cluster is for. It
# ends when nothing is left.
for pid in "${PIDS[@]}"; do
  wait "$pid" || true
done
