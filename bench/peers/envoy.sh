# Envoy as a plain reverse proxy.
PORT=8205
VERSION="envoy $("$ENVOY_BIN" --version | grep -o '[0-9.]*/[A-Z][a-z]*/RELEASE' | head -1)"
CMD=("$ENVOY_BIN" -c "$HERE/conf/envoy.yaml" --base-id 205 --concurrency 1 -l error)
