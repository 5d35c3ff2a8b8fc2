// Package ship posts one node's usage events from its journal to the ledger of the cluster.
//
// Guarantees:
//
//   - The events are posted in order and without a gap. The journal drops them when this node's own
//     state has them, so a crash loses none; those that are sent twice count once.
//   - Nothing is posted before the journal was compared with the state: an older copy of a data
//     directory is rejected.
//   - Times that were recorded before the node knew the cluster's time are corrected before posting.
//   - A failure that lasts is in the log once for each reason, in the problems of the node, and in
//     the errors for callers, which name no address.
package ship
