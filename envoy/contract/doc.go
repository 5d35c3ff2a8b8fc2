// Package contract defines the names that the components around Envoy share: every header,
// metadata key, attribute and cluster name that extproc writes and xds or the bootstrap
// matches. It contains names only and imports nothing but ids.
package contract
