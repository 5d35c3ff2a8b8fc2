// Package restore brings the settings of a backup back into a running cluster.
//
// A backup is a snapshot of the whole state. Operators want its settings back: keys, models,
// tenants, prompts. History must never go back: the ledger, the numbers of posted events,
// windows, leases, the audit chain, and delivery positions. Other systems and the journals of
// the nodes depend on it.
//
// The records arrive in pieces, each in one log entry (Stage). They have no effect until one
// entry applies all of them (Commit). A crash in between leaves staged pieces, which the leader
// drops later (Drop).
//
// A new cluster can take the whole state of a backup instead (NewCluster, Adopt).
//
// Commit compares and writes bytes. It does not interpret records, so nodes of two versions
// reach the same state. The entry itself names the ranges that it replaces.
package restore
