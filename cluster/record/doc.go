// Package record is how the replicated state is changed: by transactions.
//
// An operation reads records, decides, and writes records. All of that it does on
// one node, in memory, from the View; what it read and what it wants to write is
// its Txn. The log carries the Txn, and the state machine makes it on every node if
// what was read is still as it was, and refuses it as stale if not; then the
// operation is run again. So operations are serializable: the outcome is as if they
// had been run one after the other, each on the state that the ones before left.
// And what an entry of the log does depends on nothing that a version of this
// program knows of a resource, so nodes of different versions stay the same.
//
// Two roads not taken. Commands for each operation, decided in the state machine:
// every rule of every resource would then be part of what must not differ between
// versions. And locks: they would have to be agreed on, too.
//
// A record is a protobuf message without maps. The state machine stamps it without
// knowing it: concatenated messages merge, so the stamp is appended.
package record
