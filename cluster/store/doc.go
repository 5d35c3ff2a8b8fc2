// Package store keeps a node's durable data in its data directory, in Pebble. It is the only
// importer of Pebble.
//
// Guarantees:
//
//   - A batch is atomic, and after Commit has returned nil it survives kill -9 and a power
//     failure: every commit is synced. Unsynced writes would be lost by kill -9. Only a
//     StateStore has them, because its owner can repeat them from a synced log.
//   - An exclusive lock gives the directory to one process.
//   - A directory that is read-only or on a nearly full disk is rejected before Pebble is
//     opened. On a full disk Pebble does not fail but retries in a busy loop.
//   - When the disk fills up later, a ballast file is removed. Work in progress can then still
//     be written, and the process can close cleanly. From then on Healthy rejects new work.
//   - Failed flushes and compactions are retried without limit, after a while only once a
//     second. Reads and commits continue meanwhile, until 16 MiB of commits wait to be flushed;
//     then commits wait too.
//   - A crash of a StateStore loses only its latest commits, never an earlier one without the
//     later ones, and nothing from before a Flush.
//   - A copy (Checkpoint) is a consistent snapshot and survives a power failure.
//   - A commit with an unknown outcome ends the process (Config.Fatal). Only opening the
//     directory again shows the outcome.
//   - The directory of a NodeStore has an identity, (node, epoch), from its first start on.
//     That of a StateStore has none. Neither opens as the other.
//
// The packages that own the keyspaces define the keys and values; keyspaces.go lists them.
package store
