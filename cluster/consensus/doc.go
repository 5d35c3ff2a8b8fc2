// Package consensus is the agreement of the nodes on one sequence of commands, by
// Raft, and the state that the commands make. It is the only importer of
// hashicorp/raft and knows nothing of what the commands mean: a Machine does. A
// node that is alone is a cluster of one voter and runs the same code.
//
// It guarantees:
//
//   - A command whose proposal was answered without an error survives the loss of
//     every machine at once, and of a minority of the disks. The log is synced
//     before anybody counts it.
//   - Effects, the mark of how far the state has come and the outcome of the
//     command are one batch. A command with an id takes effect once, however often
//     it is proposed within a day.
//   - The state is not synced with each entry, because the log can repeat it. It is
//     flushed before the log may be truncated, and what a crash took of it is
//     replayed from the log.
//   - The state is a function of the sequence alone: entries carry the time that
//     their leader stamped them with, and the state's clock never goes back.
//   - ReadIndex names an index that no acknowledged command is above. It asks a
//     majority, and only after an entry of the leader's own term is applied.
//   - A snapshot, a backup or a log that is damaged is refused, never served. A log
//     with a hole is refused at the start, with the remedy.
//   - A crash at any step leaves the old state or the new one. Open finishes or
//     undoes what was half done.
//
// Layout below the data directory:
//
//	state/current    names the directory of the state in force
//	state/<n>/       a store of the kind store.StateStore
//	snapshots/<id>/  a checkpoint (files/) and what it is (meta)
//	snapshots/tmp-*  half made; removed at the next Open
//
// The log and Raft's own values are in the node's store.
package consensus
