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
// Prices are list prices, exact to 24 decimals of a dollar. What a request costs
// is summed in that unit and becomes whole pico-dollars once, at the end.
//
// CreateDeployment, DeleteDeployment and UpdateRouter are what entries of the
// replicated log do to the state: the same on every node, whatever its version,
// its file or its clock. Secrets are sealed before they get there.
package catalog
