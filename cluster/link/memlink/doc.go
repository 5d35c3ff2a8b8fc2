// Package memlink is cluster/link in memory, for tests: the same methods, no
// sockets, and faults on demand.
//
// It guarantees:
//
//   - It works inside a testing/synctest bubble. Whoever waits, waits on a channel,
//     and only ever in a call; there is no goroutine of its own.
//   - A stream behaves as TCP does. What was written arrives once, in order, or
//     the connection breaks. Between two nodes that are cut off from each other it
//     stands still: writes fill a window and then block, and after Heal everything
//     arrives, unless a deadline or a Close came first.
//   - A packet behaves as UDP does: it may be lost and may overtake another.
//   - Delays and losses follow the seed: the n-th thing that goes from one node to
//     another always fares alike. Which goroutine is first is not decided here.
//
// What it leaves out: encryption, certificates, who may connect. An id is what it
// is said to be.
package memlink
