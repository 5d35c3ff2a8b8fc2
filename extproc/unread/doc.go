// Package unread decides about requests to paths of a provider that no operation has, which are passed on unread: who may
// send them, whose account they use, and what of a response is not for the caller. The pipeline passes them on.
//
// Guarantees:
//
//   - Only a key whose allowed routes name such paths may use them.
//   - A request uses an account of its provider that the key's models have. If there are several, the caller has chosen it.
//   - Of the query the provider gets nothing that may be a credential.
package unread
