// Package consensus replicates one sequence of commands over the nodes by Raft, and keeps the
// state that results from them. Only this package imports hashicorp/raft. It does not interpret
// commands: a Machine does. A single node is a cluster of one voter and runs the same code.
//
// Guarantees:
//
//   - A command that was acknowledged survives the simultaneous crash of all machines, and the
//     loss of a minority of the disks. A node syncs its log before it acknowledges an entry.
//   - The effects of a command, its outcome and the mark of the applied index are one batch. A
//     command with an id takes effect once, however often it is proposed within a day.
//   - The state is not synced with each entry, because the log can be replayed. It is flushed
//     before the log is truncated. After a crash, the node replays the missing entries.
//   - The state depends on the sequence only: each entry carries its leader's time stamp, and
//     the clock of the state never goes back.
//   - ReadIndex returns an index at or above every acknowledged command. A majority confirms
//     it, after an entry of the leader's own term has been applied.
//   - A damaged snapshot, backup or log is rejected and never used. A log with a hole is
//     rejected at the start, with the remedy.
//   - A crash at any step leaves the old state or the new one. Open completes or undoes an
//     interrupted step.
//
// Layout below the data directory:
//
//	state/current    the name of the directory of the current state
//	state/<n>/       a store of the kind store.StateStore
//	snapshots/<id>/  a checkpoint (files/) and its description (meta)
//	snapshots/tmp-*  incomplete; removed at the next Open
//
// The log and Raft's own values are in the node's store.
package consensus
