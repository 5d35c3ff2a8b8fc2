#!/usr/bin/env bash
# run.sh: starts an analyzer of Microsoft Presidio in a container, and a guardrail that asks it. GATEWAY_URL and
# GATEWAY_KEY say where the gateway is, GATEWAY is the program. With ANALYZER_URL that analyzer is asked, and none started.
set -euo pipefail
export MODELGATEWAY_URL=${GATEWAY_URL:-http://127.0.0.1:8080} MODELGATEWAY_KEY=${GATEWAY_KEY:?set GATEWAY_KEY to a key that may make guardrails}
GATEWAY=${GATEWAY:-modelgateway}
MODEL=${MODEL:-fast}
IMAGE=${IMAGE:-mcr.microsoft.com/presidio-analyzer:2.2.360}
NAME=names-by-presidio
TEXT="Write to Ada Lovelace in London, please."

container=
cleanup() {
  "$GATEWAY" guardrail delete "$NAME" >/dev/null 2>&1 || true
  [ -z "$container" ] || docker rm --force "$container" >/dev/null
}
trap cleanup EXIT
expect() { grep -q -- "$1" <<<"$2" || { echo "run.sh: no $1 in: $2" >&2; exit 1; }; }

if [ -z "${ANALYZER_URL:-}" ]; then
  echo "-- an analyzer with its large model: the first start fetches 2 GB"
  container=$(docker run --detach --publish 127.0.0.1:5002:3000 "$IMAGE")
  ANALYZER_URL=http://127.0.0.1:5002
fi
for ((tries = 0; ; tries++)); do
  curl -fsS -m 2 "$ANALYZER_URL/health" >/dev/null 2>&1 && break
  [ "$tries" -lt 120 ] || { echo "run.sh: $ANALYZER_URL/health does not respond" >&2; exit 1; }
  sleep 1
done

echo "-- a guardrail that asks it"
"$GATEWAY" guardrail create "$NAME" --engines '{"engine_name":"presidio_remote","event_hooks":["pre_call","post_call"],
  "config":{"api_base":"'"$ANALYZER_URL"'","entities":["PERSON","LOCATION"],"reversible":true,"timeout":5}}' >/dev/null

echo "-- what it does with a text"
applied=$("$GATEWAY" guardrail apply "$NAME" "$TEXT" --output json)
echo "$applied"
expect '\[PERSON_1\]' "$applied"

echo "-- a request: the model reads the marks, and the caller gets the names again"
response=$(curl -sS -m 60 -D - "$MODELGATEWAY_URL/v1/chat/completions" -H "Authorization: Bearer $MODELGATEWAY_KEY" -H 'Content-Type: application/json' \
  -d '{"model":"'"$MODEL"'","guardrail_id":"'"$NAME"'","messages":[{"role":"user","content":"'"$TEXT"'"}]}' | tr -d '\r')
echo "$response"
expect "x-gateway-applied-guardrails: $NAME" "$response"
expect '"choices"' "$response"
