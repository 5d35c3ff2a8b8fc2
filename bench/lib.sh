# What run-peer.sh and turns.sh have in common; to be sourced.

say() { printf '%s %s\n' "$(date +%T)" "$*" >&2; }

# The process and its descendants, each as pid:start-time, so that a pid that was
# meanwhile given to another process is not mistaken for ours.
tree() {
  local pid child
  for pid in "$@"; do
    [ -r "/proc/$pid/stat" ] || continue
    echo "$pid:$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d' ' -f20 2>/dev/null)"
    for child in $(pgrep -P "$pid" || true); do tree "$child"; done
  done
}

stop() { # PID: end the process tree, first kindly
  local list entry left
  [ -n "$1" ] || return 0
  list=$(tree "$1")
  kill -TERM "$1" 2>/dev/null || true
  for _ in $(seq 50); do
    left=
    for entry in $list; do
      [ "$(tree "${entry%%:*}" | head -1)" = "$entry" ] && left="$left $entry"
    done
    [ -z "$left" ] && break
    sleep 0.2
  done
  for entry in $left; do
    say "killing $entry"
    kill -KILL "${entry%%:*}" 2>/dev/null || true
  done
  wait "$1" 2>/dev/null || true
}

unused() { # PORT...: ends the script if a process listens there
  local port
  for port in "$@"; do
    if ss -Hltn "sport = :$port" | grep -q .; then
      say "port $port is taken"
      exit 1
    fi
  done
}
