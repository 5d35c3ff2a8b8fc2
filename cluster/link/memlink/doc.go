// Package memlink implements the methods of cluster/link in memory, for tests: without sockets,
// and with fault injection.
//
// Guarantees:
//
//   - It works inside a testing/synctest bubble. It starts no goroutines, and calls wait only
//     on channels.
//   - A stream behaves like TCP. Bytes arrive once and in order, or the connection breaks.
//     Between two partitioned nodes it stalls: writes fill a window and then block. After Heal
//     everything arrives, unless a deadline or a Close came first.
//   - A packet behaves like UDP: it may be lost and may overtake another.
//   - Delays and losses follow the seed: the n-th transfer from one node to another always has
//     the same delay and loss. The scheduling of goroutines is not controlled.
//
// Not implemented: encryption, certificates and access control. The id of a node is not
// verified.
package memlink
