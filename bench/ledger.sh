#!/usr/bin/env bash
# ledger.sh [FLAG...]: measures journal, agreement, ledger and audit chain on one node
# and on three, and reading them back: what one key has used within 30 days, and the
# verification of the audit chain. It prints two tables. The flags are those of
# bench/cmd/ledger, such as -requests 5000 -length 3s for a quick look. It fails where
# the books are wrong, never for being slow.
#
# ROWS usage records are in the ledger that one key is looked for in (10000000 take some
# minutes and 2 GB), and each benchmark runs ROUNDS times. The data lies with the
# results, on a real disk, and lives as long as the run; after an error it is kept.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
ROWS=${ROWS:-1000000}
ROUNDS=${ROUNDS:-3}
cd "$HERE/.."
go build -o bin/bench/ ./bench/cmd/ledger ./bench/cmd/benchmedian
go test -c -o bin/bench/ ./cluster/ledger ./cluster/audit
mkdir -p "$HERE/results"
SCRATCH=$(mktemp -d "$HERE/results/ledger.XXXXXX")
trap 'echo "ledger.sh: what it left is in $SCRATCH" >&2' ERR
bin/bench/ledger -dir "$SCRATCH/nodes" "$@"
export TMPDIR=$SCRATCH
{
  (cd cluster/ledger && ../../bin/bench/ledger.test -test.run '^$' -test.bench '^BenchmarkOneKey$' -test.count "$ROUNDS" -ledger.rows "$ROWS")
  (cd cluster/audit && ../../bin/bench/audit.test -test.run '^$' -test.bench '^BenchmarkVerify$' -test.count "$ROUNDS")
} >"$SCRATCH/benchmarks" || { cat "$SCRATCH/benchmarks" >&2; false; }
bin/bench/benchmedian <"$SCRATCH/benchmarks"
rm -rf "$SCRATCH"
