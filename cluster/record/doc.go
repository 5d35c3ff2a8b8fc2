// Package record changes the replicated state by optimistic transactions.
//
// An operation runs on one node, in memory: it reads records from the View, decides, and writes
// records. Its reads and writes form a Txn, which the log carries. When a node applies the
// entry, the state machine checks that every record read is unchanged. If so, it makes the
// writes; if not, it rejects the transaction as stale and the proposing node runs the operation
// again. So operations are serializable: the outcome equals that of running them one after the
// other. Applying an entry needs no knowledge of resources, so nodes of different versions
// reach the same state.
//
// Rejected alternatives:
//
//   - One command for each operation, decided in the state machine. Every rule of every
//     resource would then have to be equal in all versions.
//   - Locks. The nodes would have to agree on them, too.
//
// A record is a protobuf message without maps. The state machine stamps it without decoding it:
// protobuf merges concatenated messages, so it appends the stamp.
package record
