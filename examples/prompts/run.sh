#!/usr/bin/env bash
# run.sh: releases a prompt from files: pushes it, tries a change with some of the users, and makes it the
# one for all. GATEWAY_URL and GATEWAY_KEY say where to, GATEWAY is the program.
set -euo pipefail
cd "$(dirname "$0")"
export MODELGATEWAY_URL=${GATEWAY_URL:-http://127.0.0.1:8080} MODELGATEWAY_KEY=${GATEWAY_KEY:?set GATEWAY_KEY to a key that may change prompts}
GATEWAY=${GATEWAY:-modelgateway}
MODEL=${MODEL:-fast}

# versions N: sends a request for each of N users, and shows which versions they get.
versions() {
  for user in $(seq "$1"); do
    curl -sS -m 60 -o /dev/null -D - "$MODELGATEWAY_URL/v1/chat/completions" -H "Authorization: Bearer $MODELGATEWAY_KEY" -H 'Content-Type: application/json' \
      -d '{"model":"'"$MODEL"'","user":"user-'"$user"'","prompt_id":"support","messages":[{"role":"user","content":"Where is my parcel?"}]}' |
      tr -d '\r' | sed -n 's/^x-gateway-prompt: //p'
  done | sort | uniq -c
}
expect() { grep -q "$1" <<<"$2" || { echo "run.sh: no $1 in: $2" >&2; exit 1; }; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp prompts/*.prompt "$work"

echo "-- the first release: requests that name no version get the label production"
"$GATEWAY" prompt push "$work"
"$GATEWAY" prompt label support production 1 >/dev/null
"$GATEWAY" prompt configure support --default-label production >/dev/null

echo "-- a change, as a reviewer sees it"
sed -i.bak "s/ask for the order's number/say so/" "$work/support.prompt" && rm "$work/support.prompt.bak"
"$GATEWAY" prompt push --dry-run "$work"
"$GATEWAY" prompt push "$work"
expect 'support@1' "$(versions 2)" # the label has not moved: nobody gets it yet

echo "-- half of the users get it"
"$GATEWAY" prompt label support production --split '{"version": 1, "weight": 50}' --split '{"version": 2, "weight": 50}' >/dev/null
split=$(versions 24)
echo "$split"
expect 'support@1' "$split"
expect 'support@2' "$split"
"$GATEWAY" prompt usage support

echo "-- it is the one for all"
"$GATEWAY" prompt label support production 2 >/dev/null
all=$(versions 4)
echo "$all"
expect '4 support@2' "$all"

echo "-- and back again, if it has to be"
"$GATEWAY" prompt label support production 1 >/dev/null
expect '2 support@1' "$(versions 2)"
