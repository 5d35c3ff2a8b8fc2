// Package restore brings the settings of a backup back into a state that goes on.
//
// A backup is the whole state of one moment. What operators want back of it are
// settings: keys, models, tenants, prompts. What must never go back is history: the
// ledger, the numbers of posted events, windows, leases, the audit chain, delivery
// positions. Other systems, and the nodes' own journals, depend on those.
//
// The records come in pieces, each an entry of the log (Stage), and change nothing
// until one entry puts all of them in force (Commit). A crash in between leaves
// pieces that nobody reads, which the leader drops later (Drop).
//
// Commit compares and writes bytes. It does not interpret a record, so nodes of two
// versions come to the same state. The entry itself says which ranges it replaces.
package restore
