// Package store keeps what a node must not forget in its data directory, in
// Pebble, of which it is the only importer.
//
// It guarantees:
//
//   - A batch is atomic, and after Commit returned nil it survives kill -9 and a
//     power cut: every commit is synced. Writes that were acknowledged without a
//     sync are lost by kill -9; so there is none, but for a StateStore, whose owner
//     can repeat them from a synced log.
//   - One process has the directory, by an exclusive lock.
//   - A directory that is read-only, or on a disk that is nearly full, is
//     refused before Pebble is opened: on a full disk Pebble does not fail, it
//     spins.
//   - When the disk fills up later, a ballast file makes way, so that what is
//     running can still be written and the process can close cleanly. Healthy
//     says from then on that nothing new should be begun.
//   - Flushes and compactions that fail are tried again for as long as it takes,
//     but after a while only once a second. Reads and commits go on meanwhile,
//     until 16 MiB of commits wait to be flushed; then these wait as well.
//   - What a StateStore lost in a crash is the end of what was committed to it,
//     never something from the middle; nothing from before a Flush.
//   - A copy (Checkpoint) is one moment of the store and survives a power cut.
//   - A commit whose outcome is not known ends the process (Config.Fatal);
//     opening the directory again is what finds out. Nothing goes on after it.
//   - The directory of a NodeStore has an identity, (node, epoch), from its first
//     start on. That of a StateStore has none; neither opens as the other.
//
// What the keys and values mean is the business of the packages that own the
// keyspaces; keyspaces.go lists them.
package store
