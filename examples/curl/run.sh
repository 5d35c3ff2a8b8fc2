#!/usr/bin/env bash
# run.sh: a few requests with curl. GATEWAY_URL and GATEWAY_KEY say where to.
set -euo pipefail
URL=${GATEWAY_URL:-http://127.0.0.1:8080}
KEY=${GATEWAY_KEY:?set GATEWAY_KEY to the key that make run printed}
MODEL=${MODEL:-fast}
FALLBACK_MODEL=${FALLBACK_MODEL-steady}

# expect WHAT PATTERN TEXT: shows the text, and fails unless the pattern is in it.
expect() {
  printf -- '-- %s\n%s\n' "$1" "$3"
  grep -q -- "$2" <<<"$3" || {
    echo "run.sh: $1: no $2 in the answer" >&2
    exit 1
  }
}
get() { curl -sS -m 60 -H "Authorization: Bearer $KEY" "$URL$1"; }
ask() { curl -sS -N -m 60 -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d "$1" "$URL/v1/chat/completions"; }

expect "models" "\"$MODEL\"" "$(get /v1/models)"
expect "answer" '"finish_reason":"stop"' "$(ask '{"model":"'"$MODEL"'","messages":[{"role":"user","content":"Hello"}]}')"
expect "stream" '^data: \[DONE\]' "$(ask '{"model":"'"$MODEL"'","stream":true,"messages":[{"role":"user","content":"Hello"}]}')"
if [ -n "$FALLBACK_MODEL" ]; then
  expect "fallback" '"finish_reason":"stop"' "$(ask '{"model":"'"$FALLBACK_MODEL"'","messages":[{"role":"user","content":"Hello"}]}')"
fi
expect "unknown model" '"error"' "$(ask '{"model":"no-such-model","messages":[{"role":"user","content":"Hello"}]}')"
