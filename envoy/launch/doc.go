// Package launch runs Envoy as a child process. It finds a recent enough binary, starts it,
// restarts it after a crash, forwards its log, and stops it without cutting responses in
// progress.
//
// Guarantees:
//
//   - The child dies with the gateway, on Linux even after SIGKILL.
//   - A terminal signal to the gateway does not reach the child before it is drained.
//   - The child does not inherit the environment, which may contain provider keys.
//   - If the first start fails, Run returns the cause and does not retry.
//   - Run returns only after the child has exited.
//
// The configuration of Envoy comes from the packages bootstrap and xds.
package launch
