// Package launch runs Envoy as a child of the gateway: finds a binary that is new
// enough, starts it, restarts it when it dies, brings its log into ours and stops
// it without cutting the answers that still run.
//
// It guarantees that the child dies with us, also when we are killed with
// SIGKILL (on Linux); that a signal to our terminal does not reach it before it
// was drained; that it sees none of our environment, where provider keys may be;
// that a first start that fails ends Run with the reason instead of being tried
// for ever; and that Run returns only when the child is gone. It leaves to
// others what Envoy is told: bootstrap writes its file, xds the rest.
package launch
