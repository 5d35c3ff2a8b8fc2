// Package cluster holds the replicated state of a node: the View that every request reads, the
// changes that management makes, and the journal that every request writes. It composes the
// packages below it, most of which do not import each other. DESIGN.md has the reasons.
//
//	fact                      | package          | durable when             | stale by at most
//	--------------------------|------------------|--------------------------|--------------------------------
//	deployments, prices       | catalog          | the response is sent     | a second; without limit if cut off
//	credentials               | catalog, vault   | the response is sent     | as deployments
//	keys and their owners     | tenancy          | the response is sent     | a second; KeyStaleness if cut off
//	prompts, guardrails       | prompts, …       | the response is sent     | as deployments
//	router settings           | catalog          | the response is sent     | as deployments
//	members and their votes   | consensus        | the response is sent     | -
//	usage of every attempt    | journal          | Pending.Wait is nil      | never
//	cooldowns, load           | cooldown, gossip | not: a hint              | seconds
//	secrets                   | vault            | -                        | -
//
// The parts of a Node that have rules of their own are packages too. Each gets what it needs from the
// Node as functions in its Config: clock (the cluster's time), membership (which nodes are the
// cluster), ship (usage from the journal to the ledger), history (checkpoints and retention), and
// restore (the settings of a backup).
//
// The View also has the deployments, keys and settings of the node's configuration file. They are
// not replicated.
//
// A View is immutable. Node.View returns the current one without a lock, and a request uses the
// View that it got until it ends. Node.Change runs an operation on a View, on any node, until a
// majority of the voters has agreed to its writes. Package record describes how the result is the
// same as if no other change had happened meanwhile. The data plane never waits for a change.
package cluster
