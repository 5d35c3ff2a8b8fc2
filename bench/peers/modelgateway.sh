# This gateway with its Envoy, on one core together. The data directory lies with
# the results, on a real disk, and lives as long as the peer.
PORT=8207
VERSION="modelgateway $(git -C "$HERE" describe --tags --always --dirty 2>/dev/null || echo dev)"
MIN_PROCS=2 # the gateway and its Envoy: both are to be counted
SCRATCH=$(mktemp -d "$HERE/results/data.XXXXXX")
random_key() { printf 'sk-%s' "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"; }
KEY=$(random_key)
HEADERS=("Authorization: Bearer $KEY")
CMD=(env GOMAXPROCS=1 GOGC=400 "MODELGATEWAY_MASTER_KEY=$(random_key)" "MODELGATEWAY_BENCH_KEY=$KEY"
  "$ROOT/bin/modelgateway" serve --config "$HERE/conf/gateway.yaml" --data "$SCRATCH/data"
  --listen "127.0.0.1:$PORT" --envoy-path "$ENVOY_BIN")
