// Package journal is the durable outbox of usage: what every attempt at a
// provider consumed and cost, written down on this node before the caller sees
// the end of the answer, and shipped from here to the ledger.
//
// An attempt is journaled twice. Its intent, a usage.Attempt with an estimate, is queued
// when the attempt is dispatched; its Event, with the real numbers, is settled when it
// has ended, and takes the intent away in the same batch. Both hand out a Pending to
// wait on.
//
// It guarantees:
//
//  1. What Wait has confirmed is on the disk: it survives kill -9 and a power cut.
//  2. A confirmed intent ends as exactly one event: the one it was settled with,
//     or, when the process dies first, one that Open makes from the estimate,
//     marked Crashed. It is not dropped and not free of charge.
//  3. An event is there once, under an EventID that no other event ever has.
//     The sequence numbers of an epoch are dense, from 1.
//  4. A settle never overtakes its intent. If both are written by the same
//     commit, the intent is not written at all.
//  5. Neither Intent nor Settle waits for the disk.
//  6. Batch shows only what is synced, without a gap, and Trim deletes only what it
//     is told to. No number is given out again, also when all events are gone.
//
// All writing is done by Run, in one goroutine: it takes whatever is queued,
// makes one batch of it and syncs once (group commit). While one sync is under
// way the next batch gathers, so the number of syncs follows the disk and not
// the load. Two waits make the batches larger: an intent that nobody waits for
// may wait for company (Config.IntentDelay), and where many records wait already
// the batch stays open for a moment more. Pebble's own group commit would batch
// concurrent committers as well, but then sequence numbers would need a lock
// across the sync, or have gaps.
//
// What happened without an attempt, such as a request that was blocked, is queued with
// Notify: a Notice is journaled, numbered and shipped like any event, but is no money,
// and is dropped and counted where too much waits for the disk.
//
// Whoever ships events waits for them with Wait, reads them with Batch, and calls Trim
// when the ledger has them. Until then they are what the destruction of this disk would
// lose; Config bounds them, and beyond that Healthy refuses new work.
//
// Applying events exactly once at the other end is not done here, nor is deciding what
// an attempt costs.
package journal
