// Package usage describes one attempt at a provider: whose it is, what it consumed, how
// it ended, and by which bounds it was admitted. It has the one codec between that and
// cluster.v1.UsageEvent. The providers' drivers, the price catalogue, the pipeline, the
// journal and the ledger share its types.
package usage
