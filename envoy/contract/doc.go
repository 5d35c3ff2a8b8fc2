// Package contract is what the parts that meet in Envoy must agree on: every
// header, metadata key, attribute and cluster name that extproc writes and
// xds or the bootstrap matches. It is a leaf and holds names only.
package contract
