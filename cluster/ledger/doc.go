// Package ledger keeps what was spent: the part of the replicated state that usage
// events are posted to.
//
// It guarantees:
//
//   - An event is posted once, whatever is sent twice, late, or in other runs: the
//     state knows how far it has come in each epoch of each node's journal, skips
//     what is older and refuses what would leave a gap.
//   - The sum of what all keys have spent and all providers are owed is 0, always.
//     Teams, users and all others are sums of the same events, to the pico-dollar.
//   - A grant never lets the spend of a window and all leases on it exceed the
//     budget. A lease ends by being spent, given back, with its window, or when its
//     node is taken out; never by time.
//   - A window begins anew only with an entry of the log. What was admitted before
//     and ends after it counts in the total and not in the new window.
//   - What a change does depends on the change, the time of its entry and the state:
//     not on a clock, the configuration, or the order of a map. The bytes that
//     runs leave do not depend on where one run ends and the next begins.
//   - What a newer version wrote into an event, an account or a row is kept.
//
// The functions that change the state return a *fault.Error: of kind Internal or
// StorageUnavailable for this node's own trouble, of any other for a refusal that all
// nodes come to. After either nothing may be committed.
//
// Who is told of what happened, and that nodes which were taken out are refused, is
// the business of package cluster; what a request is admitted by, that of
// cluster/lease.
package ledger
