// Package store keeps what a node must not forget in its data directory, in
// Pebble, of which it is the only importer.
//
// It guarantees:
//
//   - A batch is atomic, and after Commit returned nil it survives kill -9 and a
//     power cut: every commit is synced. There is no way to write without a
//     sync, because writes that were acknowledged without one are lost by
//     kill -9.
//   - One process has the directory, by an exclusive lock.
//   - A directory that is read-only, or on a disk that is nearly full, is
//     refused before Pebble is opened: on a full disk Pebble does not fail, it
//     spins.
//   - When the disk fills up later, a ballast file makes way, so that what is
//     running can still be written and the process can close cleanly. Healthy
//     says from then on that nothing new should be begun.
//   - A commit whose outcome is not known ends the process (Config.Fatal);
//     opening the directory again is what finds out. Nothing goes on after it.
//   - The directory has an identity, (node, epoch), from its first start on.
//
// What the keys and values mean is the business of the packages that own the
// keyspaces; keyspaces.go lists them.
package store
