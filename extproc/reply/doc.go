// Package reply reads the head of a provider's response: what the stages of the pipeline need of it, and which of its
// headers the caller gets under another name or not at all.
//
// Guarantees:
//
//   - A Head keeps nothing of the bytes that it is given.
//   - A caller gets only those headers of a provider that report how close it is to the provider's limits, and the
//     provider's id of the request.
package reply
