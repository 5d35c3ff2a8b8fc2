// Package lease enforces hard budgets on this node. The replicated state grants each node a
// lease: a part of what is left of a budget. The Manager admits requests against the lease
// without network traffic, requests more if it does not suffice, and releases what is not
// needed.
//
// Guarantee, for every account with a budget, with any losses, delays and partitions:
// reservations plus settled, unposted amounts never exceed this node's lease. So the posted and
// reserved amounts of all nodes stay within the budget, except for costs beyond a reservation.
// A lease of the previous process on this node counts only once the replica is known to be as
// new as that process was.
//
// Not part of this package: the cost estimate of a request (its caller), the grants
// (cluster/ledger), and the posting of events (cluster).
package lease
