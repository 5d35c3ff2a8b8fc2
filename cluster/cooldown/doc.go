// Package cooldown records, on this node and until the process ends, which deployments
// have failed and are in cooldown, and how many requests each has in flight. The nodes do
// not agree on it: an error of some seconds is harmless, and every cooldown expires.
//
// Neither a later failure nor a success shortens a cooldown: a request that began before
// the failure and succeeds after it proves nothing new. Time is always an argument, and
// no goroutine runs here.
//
// Reports of other nodes are kept separately, as hints, because they may be wrong here:
// the other nodes reach the provider by another route, and a member may be faulty or
// hostile.
//
//  1. A local cooldown applies at once, whatever the hints are.
//  2. A newer hint of the same observer never shortens an older one; the last end of
//     all hints counts.
//  3. After half of a hint's time this node may send one request as a probe. If it
//     succeeds, the hints are void on this node until their observers send newer ones.
//     If it fails, the usual local cooldown follows.
//  4. No hint lasts longer than MaxRetryAfter, and their number is bounded.
//
// Package extproc/strategy, which knows the groups, decides how many deployments of a
// group may be in cooldown because of hints: never the last healthy one, nor more than
// half.
package cooldown
