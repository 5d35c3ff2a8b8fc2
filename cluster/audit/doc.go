// Package audit keeps a tamper-evident audit log.
//
// Each workspace has a chain of records. A record is two JSON objects, in the form of RFC 8785
// except that numbers are exact decimals. The external object is for other systems; the
// internal one has the fields that stay in the gateway. The stored bytes are exactly those that
// were hashed:
//
//	h_0 = SHA256("gwaudit1" || workspace)
//	h_i = SHA256("gwaudit1" || h_{i-1} || SHA256(external) || SHA256(internal))
//
// The external object contains h_{i-1} as previous_event_hash. So the external records and the
// hashes of the internal ones suffice to verify the chain.
//
//  1. Numbers are dense, from 1, and the id of an event is its number.
//  2. Records are appended and read, never changed. Only Trim deletes records: whole segments,
//     the oldest first. The head contains the start of the rest, and a record documents the
//     Trim.
//  3. The effect of Append and Trim depends only on their arguments and the state, so all
//     nodes write the same bytes. Therefore JSON is written by code that names each field,
//     never by reflection over types that may grow.
//  4. Verify checks every link, never only the ends.
//  5. The state of the chain is stored at the start of each segment of 1024 records. So
//     reading a part of a long chain reads at most one segment more.
//
// A chain alone cannot show that its tail was removed or that it was rewritten completely.
// Checkpoints can: they are signed statements of a chain's size and of the root of a Merkle
// tree (RFC 6962) over its hashes, in the format of C2SP's tlog-checkpoint. They are as
// trustworthy as the external place that stores them.
package audit
