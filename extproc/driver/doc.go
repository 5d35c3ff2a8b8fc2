// Package driver defines the provider's side of a language: a Driver turns the
// canonical form (package wire) into a provider's requests, and its responses,
// streams and errors back. Each language implements it in a package of its own,
// such as anthropic. The rest of the package is what drivers share: reading
// what a provider sends, and saying what a provider cannot take.
//
// A driver is a pure function of its arguments: it opens no connection, reads
// no clock and keeps no state between calls; what one stream needs to remember
// is in the Stream that it returns.
//
// A driver guarantees
//   - that content is never lost silently: a message part that the provider
//     cannot take is rejected with its path. Parameters that the provider lacks
//     are rejected too, unless Target.DropParams says to drop them or they
//     request what the provider does anyway. Mere hints, which do not change
//     what a good response is (store, prediction, prompt_cache_key, …), are dropped;
//   - that no credential, neither the gateway's in a header nor one that a
//     provider repeats in an error, appears in a text for callers or logs;
//   - that token counts that cannot be true (negative, fractional, huge, parts
//     above their whole, not numbers) count as not reported. Absent is not
//     zero, and a reported zero is zero;
//   - that a response which is not one (HTML, nothing, an error with status 200)
//     is a *wire.Failure and never an empty reply.
package driver
