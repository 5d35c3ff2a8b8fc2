# This gateway with its Envoy, on one core together, with a profile on request. The
# data directory lies with the results, on a real disk, and lives as long as the peer.
PORT=8207
VERSION="modelgateway $(git -C "$HERE" describe --tags --always --dirty 2>/dev/null || echo dev)"
MIN_PROCS=2 # the gateway and its Envoy: both are to be counted
SCRATCH=$(mktemp -d "$HERE/results/data.XXXXXX")
DATA=$SCRATCH/data
PROFILE=$HERE/results/$NAME.cpu.pprof
CLAUDE=mock-claude PROMPT=bench GUARDRAIL=bench SPEAKER=mock-speech LISTENER=mock-transcript
rm -f "$PROFILE"
MASTER="sk-$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"
CMD=(env GOMAXPROCS=1 "MODELGATEWAY_MASTER_KEY=$MASTER" "CPU_PROFILE=$PROFILE"
  "$BIN/profiled" serve --config "$HERE/conf/gateway.yaml" --data "$DATA"
  --listen "127.0.0.1:$PORT" --envoy-path "$ENVOY_BIN")
# The callers' key belongs to a user and a team. Its budget and the team's are never
# used up, but every request reserves of both and is charged to all three. They are
# made in a run of their own, because the management API takes memory once it is used.
prepare() {
  "${CMD[@]}" >"$LOG.prepare" 2>&1 &
  PEER_PID=$!
  api() { curl -fsS "$@" -H "Authorization: Bearer $MASTER" -H 'content-type: application/json'; }
  local base=http://127.0.0.1:$PORT
  for _ in $(seq 100); do
    api -o /dev/null "$base/team/list" 2>/dev/null && break
    sleep 0.2
  done
  api -o /dev/null "$base/team/new" -d '{"team_id": "bench", "max_budget": 1000000}'
  api -o /dev/null "$base/user/new" -d '{"user_id": "bench", "auto_create_key": false}'
  api -o /dev/null "$base/team/member_add" -d '{"team_id": "bench", "member": {"user_id": "bench", "role": "user"}}'
  # 1 KB of prompt.
  local text
  text=$(printf 'You help {{ v1 }} {{ v2 }} of {{ v3 }} with {{ v4 }} and {{ v5 }}. '
    for _ in $(seq 16); do printf 'Be short and polite, and name what you do not know for sure. '; done)
  api -o /dev/null "$base/prompts" -d "$(jq -nc --arg name "$PROMPT" --arg text "${text:0:1024}" \
    '{prompt_name: $name, messages: [{role: "system", content: $text}]}')"
  api -o /dev/null "$base/guardrail" -d "$(jq -nc --arg name "$GUARDRAIL" \
    '{guardrail_name: $name, engines: [{engine_name: "presidio", event_hooks: ["post_call"]}]}')"
  HEADERS=("Authorization: Bearer $(api "$base/key/generate" \
    -d '{"key_alias": "bench", "max_budget": 1000000, "team_id": "bench", "user_id": "bench"}' | jq -re .key)")
  stop "$PEER_PID"
  PEER_PID=
}
