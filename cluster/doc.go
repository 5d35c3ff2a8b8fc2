// Package cluster is what a node knows and keeps: the View that every request
// reads, and the journal that every request writes. It composes the packages
// below it, which do not know each other.
//
//	fact                     | package          | durable when          | stale by at most
//	-------------------------|------------------|-----------------------|------------------
//	deployments, prices      | catalog          | it is the file        | a restart
//	keys                     | keys             | it is the file        | a restart
//	usage of every attempt   | journal          | Pending.Wait is nil   | never
//	who rests, who is busy   | cooldown         | not: a hint           | -
//	what may never be shown  | vault            | -                     | -
//
// A View is immutable; View returns the one in force, without a lock, and a
// request keeps the one it got for its whole life.
package cluster
