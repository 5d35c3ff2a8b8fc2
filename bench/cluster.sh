#!/usr/bin/env bash
# cluster.sh [FLAG...]: measures three gateways that agree on this machine's
# loopback and prints the figures, each beside what is due. `make bench-cluster`
# builds the gateway first. The flags are those of bench/cmd/cluster, such as
# -keys 10000 -kills 5 for a quick look. The figures are printed, never judged by
# the exit status.
#
# ENVOY_BIN may be set. The data lies with the results, on a real disk, and lives
# as long as the run; after an error it is kept.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/.." && pwd)
ENVOY_BIN=${ENVOY_BIN:-$ROOT/.tmp/envoy-1.40.0/envoy/_bin/envoy}
cd "$ROOT"
go build -o bin/bench/ ./bench/cmd/cluster ./bench/cmd/syncprobe
mkdir -p "$HERE/results"
SCRATCH=$(mktemp -d "$HERE/results/cluster.XXXXXX")
printf 'One synced append to this disk, ms: '
bin/bench/syncprobe -dir "$SCRATCH"
if bin/bench/cluster -gateway "$ROOT/bin/modelgateway" -envoy "$ENVOY_BIN" -dir "$SCRATCH" "$@"; then
  rm -rf "$SCRATCH"
else
  echo "cluster.sh: what it left is in $SCRATCH" >&2
  exit 1
fi
