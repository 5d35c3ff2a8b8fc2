#!/usr/bin/env bash
# ledger.sh [FLAG...]: measures journal, agreement, ledger and audit chain on one node
# and on three, and prints one table. The flags are those of bench/cmd/ledger, such as
# -requests 5000 -length 3s for a quick look. It fails where the books are wrong,
# never for being slow.
#
# The data lies with the results, on a real disk, and lives as long as the run; after
# an error it is kept.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
cd "$HERE/.."
go build -o bin/bench/ ./bench/cmd/ledger
mkdir -p "$HERE/results"
SCRATCH=$(mktemp -d "$HERE/results/ledger.XXXXXX")
if bin/bench/ledger -dir "$SCRATCH" "$@"; then
  rm -rf "$SCRATCH"
else
  echo "ledger.sh: what it left is in $SCRATCH" >&2
  exit 1
fi
