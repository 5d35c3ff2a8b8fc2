// Package mgmt is the gateway's own surface: everything on the one port that is
// not inference. It serves the models a key may use, health, metrics and what
// requests have cost, and it shows and changes what the nodes agree on: keys and
// who they belong to, deployments, settings and the nodes themselves.
//
// The management API is described in proto/gateway/v1. REST and gRPC are two ways
// to the same operations: the caller is identified, and then the request goes through
// one pipeline (package operation). It checks what the caller may do and the rules of the
// fields, repeats a response that was kept, or runs the service's method. Package rest
// translates JSON.
//
// What it guarantees:
//
//   - Every operation is in one table with who may use it (proto/gen/gateway/surface), and what is
//     not in the table does not exist: a new one cannot be open by oversight.
//   - A request is taken as it is documented or refused with the name of the field:
//     what is unknown, of another type or there twice is never ignored.
//   - What is asked for twice under one Idempotency-Key is done once: the answer is
//     kept in the same entry of the log as the change, or after what is no entry of it.
//   - A 2xx is sent after the change is committed. Where that is not known in
//     time the answer is 503, within five seconds, and says so.
//   - A change and what the audit log says of it are one entry of the log: neither is
//     there without the other. Refusals for who asks are told to the node's journal.
//   - A key is shown when it is made, and so is a webhook's secret that was made here;
//     a provider's credential never.
//   - Sums of money and of tokens are whole numbers up to the answer, where they are
//     the JSON numbers nearest to them: exact up to 15 digits.
//   - Answers carry the revision of the view that they show.
//
// State is the seam to what the nodes agree on; nothing else here knows how they do.
// Ledger and AuditLog show what was spent and what has happened, as this node has it.
// Requests for inference arrive here only when they have no body, which the
// external processor therefore never saw, and are refused.
package mgmt
