// Package mgmt is the gateway's own HTTP surface: everything on the one port
// that is not inference. It serves the models a key may use, health, metrics and
// what requests have cost; the REST half is described in proto/gateway/v1 and
// generated.
//
// Every route is in one table with who may use it, and what is not in the table
// does not exist: a new route cannot be open by oversight. Requests for
// inference arrive here only when they have no body, which the external
// processor therefore never saw, and are refused.
package mgmt
