// Package audit keeps the audit log: what happened, in an order that nobody can
// change without being found out.
//
// Each workspace has a chain of records. A record is two JSON objects, RFC 8785 but
// that numbers are exact decimals: the external one is what other systems get, the
// internal one has the fields that stay here. What is stored are the bytes that were
// hashed:
//
//	h_0 = SHA256("gwaudit1" || workspace)
//	h_i = SHA256("gwaudit1" || h_{i-1} || SHA256(external) || SHA256(internal))
//
// The external object names h_{i-1} as previous_event_hash. So who has the external
// records and the hashes of the internal ones can check the chain.
//
//  1. Numbers are dense, from 1, and an event's id is its number.
//  2. Records are appended and read, never changed. Only Trim drops some: whole
//     segments, the oldest first. The head says what the rest goes on from, and a
//     record that it was Trim.
//  3. What Append and Trim do depends on their arguments and the state alone: all
//     nodes come to the same bytes. So JSON is made by code that names each field,
//     never by reflection over what may grow.
//  4. Verify looks at every link, never at the ends only.
//  5. Where a segment of 1024 records begins is kept what the chain was before it. So
//     whoever wants a part reads a segment more than it at most, however long the chain.
//
// A chain cannot show that its tail was cut off or that all of it was written anew.
// Checkpoints do: signed statements of a chain's size and of the root of a Merkle tree
// (RFC 6962) over its hashes, in the form of C2SP's tlog-checkpoint. They are worth as
// much as the place where somebody else keeps them.
package audit
