// Package sealed puts what has to come back with a later request into the ids that callers send
// back: the deployment that has stored a response, and the reasoning before a call of a tool.
// All clients keep ids; they do not keep members that their API does not have.
//
// Guarantees:
//
//   - Only requests of the same team, user or key, within its organization, open an id.
//   - An id is sealed with the cluster's key, so nobody reads or changes what it has, and every node opens it.
//   - No provider gets a sealed id.
package sealed
