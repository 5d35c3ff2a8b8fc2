// Package xds tells Envoy what changes while it runs: a cluster for each way to
// reach each upstream endpoint, and the one route table.
//
// Translate is a pure function from the catalogue's endpoints and settings to
// Resources. Server gives them to every Envoy that connects, over delta ADS, and
// knows what each has accepted.
//
// It guarantees:
//   - no provider's cluster is reachable without a plan from ext_proc;
//   - no credential is in any resource: those travel in the requests;
//   - Acked is true of an endpoint only when every Envoy that serves has accepted
//     its clusters, so a plan that names it cannot meet a cluster that is not there;
//   - a cluster that is no longer wanted stays for a while, for the plans that
//     still name it;
//   - what Envoy refuses is logged once and not sent again until something is
//     published; Envoy keeps what it had.
//
// The listener is not here: changing one drains it and cuts long streams, so it
// is static and belongs to envoy/bootstrap.
package xds
