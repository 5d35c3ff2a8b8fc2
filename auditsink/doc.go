// Package auditsink delivers the audit log: to a webhook, to a queue, and as hourly
// objects to object storage, where it also puts the usage records. Package delivery has its settings and its positions.
//
// Records are delivered after they are committed, in the order of their chain, by
// the node that leads. How far a place has got is agreed on by the nodes, so that
// whoever leads next goes on from there. What it guarantees:
//
//   - Every record is delivered at least once. The cursor moves after the place has
//     taken a record, never before; a crash, or a change of the leader, between the
//     two delivers some again. Receivers tell by the event's id.
//   - Each record is in exactly one object of its kind: the nodes agree on the records of
//     an object before it is put, and a repeated put uses the same name.
//   - A place that is down holds up nothing but itself, for as long as it takes.
//   - Within what one node delivers records come in order, and none is left out. A
//     webhook that gets requests in parallel has the records of one key, and of one
//     organization, in order; what was taken above a record that was not is part of
//     the cursor. A
//     stream of NATS that loses some out of the middle of a batch, as when its leader
//     changes, gets them right after; each record has its sequence in a header.
//   - A webhook is called only where delivery.Guard lets it.
//   - No secret is in an error or a log, and of an address, which may hold one, at
//     most its host.
//
// A place that is new begins with the first record that is still there, and the
// webhook, which is for what happens now, with those since it was switched on.
package auditsink
