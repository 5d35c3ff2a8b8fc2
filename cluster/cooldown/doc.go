// Package cooldown remembers, on this node and for as long as the process
// lives, which deployments have failed and rest, and how many requests each has
// in flight. Nothing of it is agreed on with other nodes: to be wrong for some
// seconds is harmless, and every rest ends by itself.
//
// A rest is never shortened by a later failure, nor ended by a success: a request
// that began before the failure and ends well after it says nothing new. Time is
// an argument everywhere and no goroutine runs here.
//
// What other nodes say is kept apart, as hints, for it may be wrong here: their
// way to the provider is another, and a member may be mistaken or worse.
//
//  1. A local rest is in force at once and whatever the hints say.
//  2. A hint is never shortened by a newer one of its observer; the last end of
//     all hints counts.
//  3. From the half of the hinted time on, this node may send one request as a
//     probe. If it succeeds, the hints are void on this node until their
//     observers say something new; if it fails, the usual local rest follows.
//  4. No hint lasts longer than MaxRetryAfter, and their number is bounded.
//
// How many of a group may rest because of hints is decided where the groups are
// known, in extproc/strategy: never the last healthy one, nor more than half.
package cooldown
