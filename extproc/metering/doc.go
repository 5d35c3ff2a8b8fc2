// Package metering finds what a request uses, in the units by which its operation and its
// deployment are sold: tokens, characters, pictures, seconds of sound, search units. Before a
// request is sent it estimates (Costs), and after the response it returns what the provider has
// reported, within what is possible, or else what it counts itself (Used).
//
// Guarantees:
//
//   - Reported usage is never larger than the request and the response allow.
//   - An operation that no provider charges for uses nothing.
//   - Usage that is not reported is counted with the tokenizer of the deployment's model, and says
//     that it was estimated, unless it was measured.
package metering
