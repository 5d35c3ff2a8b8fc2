#!/bin/sh
# Makes the snapshot that README.md describes.
# Usage: make.sh GATEWAY FAKE ENVOY OUT
#   GATEWAY  modelgateway, built from the version that is to be kept
#   FAKE     examples/upstream, built
#   ENVOY    Envoy 1.40
#   OUT      the file to write, .snapshot.gz
set -eu
gateway=$1 fake=$2 envoy=$3 out=$4
dir=$(mktemp -d)
export MODELGATEWAY_MASTER_KEY=sk-admin-0123456789abcdef
cat >"$dir/gateway.yaml" <<'YAML'
model_list:
  - model_name: fast
    gateway_params:
      model: openai/fake-gpt
      api_base: http://127.0.0.1:9100/v1
      api_key: fake-key
      input_cost_per_token: 0.00000015
      output_cost_per_token: 0.0000006
general_settings:
  master_key: os.environ/MODELGATEWAY_MASTER_KEY
YAML
url=http://127.0.0.1:18099
"$fake" -listen 127.0.0.1:9100 2>"$dir/fake.log" &
fake_pid=$!
"$gateway" serve --config "$dir/gateway.yaml" --data "$dir/data" --listen 127.0.0.1:18099 --envoy-path "$envoy" 2>"$dir/gateway.log" &
gateway_pid=$!
trap 'kill $gateway_pid $fake_pid; wait; rm -r "$dir"' EXIT
curl -sf -o /dev/null --retry 60 --retry-delay 1 --retry-all-errors $url/health/readiness

post() {
	curl -sS --fail-with-body -H "Authorization: Bearer $MODELGATEWAY_MASTER_KEY" -H 'Content-Type: application/json' "$url$1" -d "$2"
	echo
}
post /organization/new '{"organization_id":"acme","organization_alias":"Acme"}'
post /budget/new '{"budget_id":"monthly","max_budget":25,"budget_duration":"30d"}'
post /team/new '{"team_id":"red","team_alias":"Red","organization_id":"acme","max_budget":50}'
post /user/new '{"user_id":"ada","user_email":"ada@example.com","user_role":"internal_user","auto_create_key":false}'
post /team/member_add '{"team_id":"red","member":{"user_id":"ada","role":"user"}}'
post /key/generate '{"key":"sk-older-team-0123456789abcdef","key_alias":"of-team","team_id":"red","max_budget":10}'
post /key/generate '{"key":"sk-older-user-0123456789abcdef","key_alias":"of-user","user_id":"ada","models":["fast"]}'
post /customer/new '{"user_id":"alice","alias":"Alice","budget_id":"monthly"}'
post /prompts '{"prompt_name":"hello","messages":[{"role":"user","content":"Hello {{name}}"}]}'
post /model/new '{"model_name":"stored","gateway_params":{"model":"openai/fake-gpt","api_key":"fake-stored-key"},"model_info":{"id":"stored-id"}}'
post /v1/chat/completions '{"model":"fast","messages":[{"role":"user","content":"hi"}],"user":"alice"}'
until curl -sf -H "Authorization: Bearer $MODELGATEWAY_MASTER_KEY" $url/metrics | grep -q '^gateway_journal_backlog 0$'; do sleep 0.1; done
curl -sSf -H "Authorization: Bearer $MODELGATEWAY_MASTER_KEY" $url/cluster/snapshot | gzip -9n >"$out"
