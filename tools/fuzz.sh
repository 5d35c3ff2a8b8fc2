#!/usr/bin/env bash
# fuzz.sh TIME: runs every fuzz target of the module, one after the other, for
# TIME each. go test -fuzz takes one target of one package at a time, so they
# are found by their declarations. Fails at the end if any target failed; what
# it found is then in the package's testdata/fuzz and belongs into the commit
# that mends it.
set -euo pipefail
cd "$(dirname "$0")/.."
TIME=${1:?usage: fuzz.sh TIME, such as 30s}

failed=() ran=0
while IFS=: read -r file name; do
  dir=./$(dirname "$file")
  echo "== $dir $name"
  ran=$((ran + 1))
  go test -run '^$' -fuzz "^$name\$" -fuzztime "$TIME" "$dir" || failed+=("$dir $name")
done < <(grep -rHoE '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' --exclude-dir=.tmp . | sed 's/^\.\///; s/func //' | sort)

echo "$ran fuzz targets ran for $TIME each, ${#failed[@]} failed"
if [ ${#failed[@]} -gt 0 ]; then
  printf '  %s\n' "${failed[@]}"
  exit 1
fi
