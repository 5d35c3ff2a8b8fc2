// Package usage describes one attempt at a provider: its owner, its usage, its outcome, and the
// limits by which it was admitted. It has the only codec between that and
// cluster.v1.UsageEvent. The provider drivers, the price catalog, the pipeline, the journal and
// the ledger share its types.
package usage
