// Package gossip exchanges eventually consistent data between nodes: which deployments failed
// on which node, how many requests each node has in flight, and counters by which any node can
// show the state of the others. It is the only importer of hashicorp/memberlist.
//
// Gossip is not consensus. It never changes voters, money, names or keys. A holder of the
// gossip key can invent members, mark others dead and forge hints. The worst effects are a
// deployment that gets fewer requests, a rate limit that is reached too early, and a wrong
// figure on a page.
//
//	what                | travels                        | merge                         | ends
//	--------------------|--------------------------------|-------------------------------|---------------------------
//	cooldown hints      | broadcast, relayed; push/pull  | newest version of an observer | after its time, 1 h at most
//	numbers of a node   | broadcast; push/pull of its own| newest version of a part      | node gone or silent for 15 s
//	usage of            | a packet to each member;       | cluster/rate: by bucket,      | cluster/rate: as it drains,
//	rate limits         | push/pull of its own           | newest version, differences   | 30 s for requests in flight
//	members             | memberlist                     | memberlist (SWIM)             | dead for a day
//
// State holds the local and the received data. It has no goroutine and no network. The
// invariants of its merges are documented at each merge. Gossip connects a State with other
// nodes over a Network, which provides streams and packets. Messages are encrypted with a key
// that all nodes share. memberlist uses IP addresses only; here a member is identified by the
// host:port that it advertises, and the Network resolves names.
//
// Limits protect the memory of a node against other members: on the number and size of hints,
// numbers, members and names, on a full exchange (20 MiB), and on concurrent streams. Malformed
// data is dropped before memberlist sees it where memberlist would panic, and in decode.go
// otherwise.
package gossip
