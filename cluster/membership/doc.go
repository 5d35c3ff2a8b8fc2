// Package membership decides which nodes are the cluster: how nodes begin one, join it, get a vote, and
// are removed.
//
// Guarantees:
//
//   - Two first configurations that share a node never both begin. A node promises one of them, and
//     its promise is on the disk before it responds.
//   - A crash at any step leaves a node that continues from its promise, its log or its record.
//   - A node gets a vote when it has caught up. Only an operator takes a vote away, and only if the
//     remaining voters that can be reached are a majority.
//   - A removed node is recorded in the replicated state before it leaves the configuration. It
//     returns only with an empty data directory, and nothing more is posted for it.
package membership
