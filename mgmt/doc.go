// Package mgmt is the gateway's own API: everything on the one port that is not inference. It
// serves the models that a key may use, health, metrics and the costs of requests, and it shows
// and changes the agreed state: keys and their owners, deployments, settings and the nodes.
//
// The management API is described in proto/gateway/v1. REST and gRPC are two ways to the same
// operations: the server identifies the caller, and then the request goes through one pipeline
// (package operation). It checks the rights of the caller and the rules of the fields, replays
// a response that was kept, or runs the service's method. Package rest translates JSON.
//
// Guarantees:
//
//   - Every operation is in one table with the callers that may use it
//     (proto/gen/gateway/surface). An operation that is not in the table does not exist, so a
//     new one cannot be open by mistake.
//   - A request is read as it is documented or rejected with the name of the field: a member
//     that is unknown, of another type or duplicate is never ignored.
//   - Requests with the same Idempotency-Key have one effect: the response is kept in the same
//     entry of the log as the change, or after a change that is no entry of the log.
//   - A 2xx is sent after the change is committed. If the outcome is not known in time, the
//     response is a 503 within five seconds, and says so.
//   - A change and its audit event are one entry of the log: neither exists without the other.
//     Denied requests are reported to the node's journal.
//   - A key is shown when it is created, and so is a webhook's secret that the gateway
//     generated; a provider's credential never.
//   - Amounts of money and numbers of tokens are whole numbers until the response, where they
//     are the nearest JSON numbers: exact up to 15 digits.
//   - Responses carry the revision of the view that they show.
//
// State is the seam to the agreed state; nothing else here knows how the nodes agree. Ledger
// and AuditLog show spend and events as this node has them. Requests for inference arrive here
// only if they have no body, so the external processor never saw them; they are rejected.
package mgmt
