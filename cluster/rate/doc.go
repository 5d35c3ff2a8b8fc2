// Package rate limits the rates of requests and tokens, and the number of requests in flight. A
// Limiter has a bucket for each limit of each account. Take takes a request from all of its
// buckets or from none. The Ticket that it returns releases what was not used.
//
// A bucket holds as much as its limit allows in one period (a minute, a day), and drains
// evenly. This is the generic cell rate algorithm (GCRA) with a burst of the whole limit. So
// there is no fixed window, at whose end all callers retry and around which twice the limit
// could be used. Its arithmetic is in gcra.go and is exact.
//
// Nodes exchange their usage without blocking: Changed lists what has changed here, and Hear
// adds the usage of another node to the same bucket. So a single node never exceeds a limit. n
// nodes together exceed it at most by what n-1 of them take until an update arrives, about 400
// ms. A partitioned node counts only its own usage.
package rate
