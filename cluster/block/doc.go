// Package block keeps a log of records in the replicated state, packed: up to 256 records are one
// compressed value, with one index entry for each distinct value that occurs in them.
//
// Guarantees:
//
//   - Records have dense numbers. They are appended and read, and dropped from the front; they never
//     change.
//   - The stored bytes depend on the records and on the state only, not on how the records are divided
//     into calls of Append. A call is part of the caller's transaction: all of it happens or nothing.
//   - Query returns the records in the order of their times, also if they were appended late. It reads
//     the blocks that can contain what is looked for, one at a time, and holds few of them in memory.
//   - A block that is damaged or in the wrong place is an error, never other records.
//   - Check finds a record that the index hides.
//
// A log uses one keyspace, or the part of one below a prefix:
//
//	"h" → its head
//	"r", number → a record that is in no block yet; at most 255
//	"b", number of the first record → a block
//	"d", number of the first record → the block's directory entry: number of records, times
//	"f", number of the first record → a Bloom filter of the values that hardly two records share
//	"t", number of the first record → the terms of the block's postings
//	"p", term, number of the first record → nothing: a posting
//
// Blocks that are old enough are sealed: their records, terms and postings go into a file, a segment. Then the log has
//
//	"s", number of the first record → what the segment is: cluster.v1.SealedSegment, CRC-32C
//	"v", number of the first record → the terms of the segment's postings
//	"q", term, number of the first record → nothing: a posting of a segment
//	"z", number of the first record → a dropped segment whose file may still be in the bucket
//
// The directory entries and filters of its blocks stay. A reader that is to read sealed records needs WithFiles.
//
// Numbers have 8 bytes, big endian. A term is the kind of a value and 8 bytes of its hash, so blocks
// are found by term, and the caller compares the records.
package block
