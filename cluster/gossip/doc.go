// Package gossip carries between nodes what may be wrong for seconds: which
// deployments failed for whom, how many requests each node has in flight, and
// numbers by which any node can show how the others do. It is the only importer
// of hashicorp/memberlist.
//
// Nothing here is agreed on. Gossip never changes voters, money, names or keys:
// whoever holds the key can invent members, mark others dead and make up
// every hint, and what comes of it is a deployment that is asked less often, a rate
// limit that is reached too early and a wrong figure on a page.
//
//	what                | travels                        | merge                         | ends
//	--------------------|--------------------------------|-------------------------------|---------------------------
//	cooldown hints      | broadcast, relayed; push/pull  | newest version of an observer | after its time, 1 h at most
//	numbers of a node   | broadcast; push/pull of its own| newest version of a part      | node gone or silent for 15 s
//	what it took of     | a packet to each member;       | cluster/rate: by bucket,      | cluster/rate: as it runs out,
//	rate limits         | push/pull of its own           | newest version, differences   | 30 s for requests under way
//	members             | memberlist                     | memberlist (SWIM)             | dead for a day
//
// State holds what is told and heard. It has no goroutine and no network, and
// the laws of its merges are written above each. Gossip connects a State with
// other nodes: over a Network, which gives it streams and packets, encrypted with
// a key that all nodes have. memberlist deals in IP addresses only; here a member is
// known by the host:port that it advertises, and names are resolved by the Network.
//
// What is bounded, so that no member can fill another's memory: hints, numbers, members
// and names in number and size; a full exchange to 20 MiB; streams at a time. What
// is not in the right form is dropped before memberlist sees it where
// memberlist would panic on it, and in decode.go everywhere else.
package gossip
