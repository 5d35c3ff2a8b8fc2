// Package extproc is Envoy's external processor: it attaches the pipeline of inference requests
// to ext_proc. It translates between Envoy's messages and the Exchange of a request, and it alone
// knows these messages, Envoy's texts for failures, and the router's headers that carry out a plan.
//
// The downstream filter opens one stream for each request (downstream.go). Envoy's module brings
// the same messages over the links of package attach (Server.Attached). A long body is
// received and sent in pieces (upload.go); answer.go writes the answers. The package never
// retries: Envoy does, following the plan. If a later attempt needs another request than the
// first, a stream of an upstream filter (upstream.go) rewrites it, and finds the Exchange by its
// id (registry.go). Failed attempts are known from Envoy's attempt log (attemptlog.go).
//
// Guarantees:
//
//   - Every Exchange is closed, however its stream ends.
//   - No message leaves before the pipeline has passed what it carries.
package extproc
