// Package cooldown remembers, on this node and for as long as the process
// lives, which deployments have failed and rest, and how many requests each has
// in flight. Nothing of it is agreed on with other nodes: to be wrong for some
// seconds is harmless, and every rest ends by itself.
//
// A rest is never shortened by a later failure, nor ended by a success: a request
// that began before the failure and ends well after it says nothing new. Time is
// an argument everywhere and no goroutine runs here.
package cooldown
