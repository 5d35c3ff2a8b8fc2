// Package xds serves Envoy's dynamic configuration: the clusters of each upstream endpoint, and
// the route table.
//
// Translate is a pure function from the catalog's endpoints and settings to Resources. Server
// serves them to every connected Envoy over delta ADS, and tracks what each has accepted.
//
// Guarantees:
//
//   - No provider cluster is reachable without a plan from ext_proc.
//   - No resource contains a credential; the requests carry them.
//   - Acked is true for an endpoint only when every serving Envoy has accepted its clusters. So
//     a plan never names a missing cluster.
//   - A removed cluster stays for a while, for plans that still name it.
//   - A resource that Envoy rejects is logged once, and is not sent again before the next
//     publication. Envoy keeps its previous one.
//
// The listener is not part of this package: a changed listener is drained, which cuts long
// streams. So it is static and belongs to envoy/bootstrap.
package xds
