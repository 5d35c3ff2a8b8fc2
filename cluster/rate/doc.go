// Package rate bounds how fast requests and tokens are used and how many requests
// are under way at once. A Limiter has a bucket for each bound of each account; Take
// takes a request from all of its buckets or from none, and the Ticket that it
// returns gives back what was not used.
//
// A bucket holds as much as its limit allows in one period (a minute, a day), and
// drains evenly: the generic cell rate algorithm (GCRA) with a burst of the
// whole limit. It has no window whose end everybody waits for, and around which twice the
// limit could be used. Its arithmetic is in gcra.go and is exact.
//
// Nodes tell each other what they took: Export lists what has changed here since it was
// last told, and Hear adds what another node took to the same bucket. Nothing waits for that.
// So one node by itself never lets more through than a limit allows, and n nodes
// together at most what n-1 of them take in the time that a word needs, some 400 ms.
// A node that cannot hear the others goes by what it sees itself.
package rate
