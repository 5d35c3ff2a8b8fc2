// Package mgmt is the gateway's own HTTP surface: everything on the one port
// that is not inference. It serves the models a key may use, health, metrics and
// what requests have cost, and it shows and changes what the nodes agree on:
// keys, deployments, settings and the nodes themselves. The REST half is described
// in proto/gateway/v1 and generated.
//
// What it guarantees:
//
//   - Every route is in one table with who may use it, and what is not in the table
//     does not exist: a new route cannot be open by oversight. Nothing but the
//     master key changes anything.
//   - A request is taken as it is documented or refused with the name of the field:
//     what is unknown, of another type or there twice is never ignored.
//   - A 2xx is sent after the change is committed. Where that is not known in
//     time the answer is 503, within five seconds, and says so.
//   - A key is shown when it is made; a provider's credential never.
//   - Answers carry the revision of the view that they show.
//
// State is the seam to what the nodes agree on; nothing else here knows how they do.
// Requests for inference arrive here only when they have no body, which the
// external processor therefore never saw, and are refused.
package mgmt
