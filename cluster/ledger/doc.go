// Package ledger keeps the accounts: it is the part of the replicated state to which usage
// events are posted.
//
// Guarantees:
//
//   - An event is posted once, even if it is sent twice, late, or in another run. The state
//     records how far each epoch of each node's journal has been posted. It skips older events
//     and rejects a run that leaves a gap.
//   - The spend of all keys and the debt to all providers always sum to 0. Teams, users and all
//     others are sums of the same events, exact to the pico-dollar.
//   - A grant never lets the spend of a window and all leases on it exceed the budget. A lease
//     ends when it is spent, when it is released, with its window, or when its node is removed;
//     never by time.
//   - A window resets only by an entry of the log. A request that was admitted before the reset
//     and ends after it counts in the total and not in the new window.
//   - The effect of a change depends on the change, the time of its entry and the state only:
//     not on a clock, the configuration, or the order of a map. The resulting bytes do not
//     depend on how events are divided into runs.
//   - Fields that a newer version wrote into an event, an account or a row are kept.
//
// The functions that change the state return a *fault.Error. Kind Internal or
// StorageUnavailable means that this node has failed; any other kind rejects the change on all
// nodes alike. The caller must commit nothing after an error.
//
// Package cluster notifies about changes and rejects removed nodes. Package cluster/lease
// admits requests.
package ledger
