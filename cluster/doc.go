// Package cluster is what a node knows and keeps, and what it agrees on with the
// others: the View that every request reads, the changes that management makes,
// and the journal that every request writes. It composes the packages below it,
// which do not know each other. DESIGN.md has the reasons.
//
//	fact                      | package          | durable when             | stale by at most
//	--------------------------|------------------|--------------------------|--------------------------------
//	deployments, prices       | catalog          | it is answered           | a second; without limit if cut off
//	credentials               | catalog, vault   | it is answered           | as deployments
//	keys, and whose they are  | keys             | it is answered           | a second; KeyStaleness if cut off
//	prompts, guardrails       | prompts, …       | it is answered           | as deployments
//	router settings           | catalog          | it is answered           | as deployments
//	members and their votes   | consensus        | it is answered           | -
//	usage of every attempt    | journal          | Pending.Wait is nil      | never
//	who rests, who is busy    | cooldown, gossip | not: a hint              | seconds
//	what may never be shown   | vault            | -                        | -
//
// What a node's file says of deployments, keys and settings is in its View as well, and stays
// the node's own.
//
// A View is immutable; View returns the one in force, without a lock, and a
// request keeps the one it got for its whole life. Change runs an operation on a
// View until a majority of the voters has agreed to what it wrote, whichever node is
// asked; record says how that is as if nobody else had been changing anything. The
// data plane waits for none of that.
package cluster
