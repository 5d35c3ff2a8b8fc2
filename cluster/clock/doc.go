// Package clock is the cluster's time: the time on which the clocks of most voters agree.
//
// Guarantees:
//
//   - A wrong clock moves no other node's time, not even if it is the leader's. Between two
//     comparisons, and while no majority agrees, the time advances by the monotonic clock, which
//     cannot be set.
//   - If no majority agrees at the start, the time is the earliest one of those that are not before
//     what is known to be over.
//   - After a jump the time is not Steady for a day. Nothing is deleted because of its age meanwhile,
//     so an operator has time to notice.
//
// A cluster of one has no other clock to compare with, so its own clock decides.
package clock
