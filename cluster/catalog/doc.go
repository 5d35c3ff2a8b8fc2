// Package catalog holds what can be asked for and where it is sent: deployments,
// their groups and prices, the router's settings and the fallbacks.
//
// A Catalog is a snapshot. New checks a whole Spec and either returns a Catalog
// in which every name resolves, or every problem at once; nothing in it changes
// afterwards, so any number of goroutines may read it without a lock, and a
// request that holds on to one sees one configuration for its whole life.
// Deployments on the same upstream share one Endpoint, and deployments of the
// same model share one Prices: ten thousand deployments of a few models on a
// few hosts cost little more than their own names and keys.
//
// Prices are list prices, exact to 24 decimals of a dollar. What a request costs
// is summed in that unit and becomes whole pico-dollars once, at the end.
package catalog
