// Package bootstrap renders the static part of Envoy's configuration: listeners, hardening,
// filters, and the addresses of the gateway process. The dynamic part, routes and provider
// clusters, comes from xds.
//
// Guarantees: the result contains no secret. Every value is quoted, so configured text cannot
// inject configuration. Local replies of Envoy have the form of the gateway's errors. No client
// can make Envoy hold more than the limits in Config. Package launch starts Envoy.
package bootstrap
