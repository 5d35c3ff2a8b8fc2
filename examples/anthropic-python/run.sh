#!/usr/bin/env bash
# run.sh: chat.py with the SDK that make installed. GATEWAY_URL and GATEWAY_KEY
# say where to.
set -euo pipefail
cd "$(dirname "$0")"
PYTHON=${MODELGATEWAY_PYTHON:-$PWD/../../.tmp/bin/python-sdks}
[ -x "$PYTHON" ] || {
  echo "run.sh: $PYTHON is missing; run: make sdks" >&2
  exit 1
}
exec "$PYTHON" chat.py
