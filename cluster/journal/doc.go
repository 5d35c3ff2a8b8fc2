// Package journal is a durable outbox of usage. It records what every attempt at a provider
// consumed and cost, on this node, before the caller receives the end of the response. From
// here events are shipped to the ledger.
//
// Each attempt has two records. Its intent, a usage.Attempt with an estimate, is queued when
// the attempt is dispatched. Its Event, with the actual usage, is settled when the attempt
// ends, and deletes the intent in the same batch. Both return a Pending to wait on.
//
// Guarantees:
//
//  1. A record that Wait has confirmed is on the disk: it survives kill -9 and a power
//     failure.
//  2. A confirmed intent ends as exactly one event: the one that settles it or, if the process
//     dies first, one that Open makes from the estimate, marked Crashed. It is never dropped
//     and never free of charge.
//  3. An event exists once, under an EventID that no other event ever has. The sequence
//     numbers of an epoch are dense, from 1.
//  4. A settle never overtakes its intent. If one commit contains both, the intent is not
//     written at all.
//  5. Neither Intent nor Settle waits for the disk.
//  6. Batch returns only synced events, without a gap, and Trim deletes only the events that
//     it is asked to delete. No number is reused, even after all events are deleted.
//
// Run does all writing in one goroutine: it takes the queued records, makes one batch of them
// and syncs once (group commit). The next batch gathers during the sync, so the number of syncs
// depends on the disk and not on the load. Two delays make the batches larger. An intent
// without a waiting caller may wait for other records (Config.IntentDelay). And if many records
// are queued, the batch stays open for a moment longer. Pebble's own group commit also batches
// concurrent committers, but then sequence numbers would need a lock across the sync, or have
// gaps.
//
// Notify queues an occurrence without an attempt, such as a blocked request. A Notice is
// journaled, numbered and shipped like any event, but is no money. It is dropped and counted if
// too much waits for the disk.
//
// The shipper waits for events with Wait, reads them with Batch, and calls Trim when the ledger
// has them. Until then, the loss of this disk would lose them. Config limits them, and beyond
// the limits Healthy rejects new work.
//
// This package neither deduplicates events at the receiver nor decides what an attempt costs.
package journal
