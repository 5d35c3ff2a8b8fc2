#!/usr/bin/env bash
# run.sh: chat.mjs with the Node.js and the SDKs that make installed. GATEWAY_URL and
# GATEWAY_KEY say where to.
set -euo pipefail
cd "$(dirname "$0")"
NODE=${MODELGATEWAY_NODE:-$PWD/../../.tmp/bin/node-clients}
[ -x "$NODE" ] || {
  echo "run.sh: $NODE is missing; run: make node-clients" >&2
  exit 1
}
exec "$NODE" chat.mjs
