// Package catalog holds what can be asked for and where it is sent: deployments,
// their groups and prices, the router's settings and the fallbacks.
//
// A Catalog is a snapshot. New checks the file's whole Spec and either returns a
// Catalog in which every name resolves, or every problem at once. With, Without
// and Adopt make another one of it for what the nodes agreed on at run time;
// nothing in a Catalog changes, so any number of goroutines may read it without a
// lock, and a request that holds on to one sees one configuration for its whole
// life. It guarantees:
//
//   - A change copies the paths to what it changes and shares the rest. It does
//     not take longer with ten thousand deployments than with ten, but for the
//     list of the deployment's own group.
//   - What a Catalog answers depends on what is in it and not on the order in
//     which that came: nodes with the same file and the same state route alike.
//   - A name that goes leaves no error behind. Aliases and fallbacks are kept as
//     names and looked up when they are used; those of nobody are skipped.
//   - The file wins: the state can neither replace nor remove what stands there.
//
// Deployments on the same upstream share one Endpoint, and deployments of the
// same model share one Prices: ten thousand deployments of a few models on a
// few hosts cost little more than their own names and keys.
//
// A deployment may name a Credential for what it does not have itself: its key, its
// address, its organization. A change of the credential makes the deployments that
// name it again, and it cannot be deleted as long as there are any.
//
// What this node cannot use of what the nodes agreed on (a provider that its version
// does not know, a secret that it cannot open) is not served, and is not forgotten:
// its id is taken, and it can be deleted and sealed again.
//
// Create, Update, Delete, UpdateRouter and the other methods that take a transaction
// are operations: they decide by this catalogue, note what they rest on, and write to
// the transaction alone. Secrets are sealed before they get there.
package catalog
