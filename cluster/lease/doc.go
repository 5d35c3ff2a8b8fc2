// Package lease keeps hard budgets at this node. The replicated state grants each
// node a part of what is left of a budget, a lease; the Teller admits requests
// against it without asking anybody, asks for more where it does not suffice, and
// gives back what is not needed.
//
// Guarantees, for every account with a budget and whatever is lost, late or cut off:
// what is reserved here, and what was settled but is not posted yet, never exceeds
// this node's lease. So the sum over all nodes of what was posted and what is
// reserved stays within the budget, except for what requests cost beyond their
// reservation. A lease that the last process at this node had counts only once it is
// sure that the replica is as new as that process was.
//
// It leaves to others: how much a request may cost (who reserves), what is granted
// (cluster/ledger), and when events are posted (cluster).
package lease
