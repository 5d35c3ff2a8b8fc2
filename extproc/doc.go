// Package extproc is one request's life: Envoy's external processor.
//
// The downstream filter opens one stream a request. Its stages, in order:
//
//	stage     | file         | Envoy phase              | writes to the Exchange          | may refuse as
//	----------|--------------|--------------------------|---------------------------------|---------------------------
//	identify  | identify.go  | request headers          | Principal                       | unauthenticated, denied
//	media     | decode.go    | "                        | -                               | media_type
//	debug     | whyfailed.go | "                        | -                               | malformed, denied
//	parallel  | parallel.go  | "                        | counted in admission            | rate_limited
//	quota     | quota.go     | "                        | place in admission, bounds      | over_budget, rate_limited
//	bytes     | quota.go     | "                        | flight                          | too_large, rate_limited, unavailable
//	decode    | decode.go    | request body             | Facts, Options                  | malformed, not_found
//	enforce   | enforced.go  | "                        | -                               | malformed
//	authorize | identify.go  | "                        | Model, tags of the key          | denied
//	route     | route.go     | "                        | Group, Plan, bounds             | not_found, unavailable, denied
//	admit     | admit.go     | "                        | admission                       | rate_limited, over_budget, unavailable
//	dispatch  | attempt.go   | "; again per later try   | intents, the provider's request | malformed, unsupported
//	receive   | receive.go   | response headers         | Tries, Status; chooses the list | never
//	accept    | receive.go   | a whole response         | -                               | upstream
//	translate | receive.go   | "                        | response: body, usage           | upstream
//	record    | receive.go   | "                        | usage events                    | unavailable
//	address   | receive.go   | "                        | response: headers               | never
//	accept    | receive.go   | the head of a stream     | -                               | upstream
//	record    | receive.go   | "                        | - (waits for the intents)       | unavailable
//	address   | receive.go   | "                        | response: headers               | never
//	record    | receive.go   | the end of a stream      | usage events                    | unavailable
//	explain   | failure.go   | a failure                | response: error                 | never
//	record    | receive.go   | "                        | usage events                    | unavailable
//	address   | receive.go   | "                        | response: status, headers, body | never
//	settle    | settle.go    | end, whatever the end    | usage events; ends admission    | never
//
// Between the head and the end of a stream, Relay (stream.go) translates each event. A
// failure is an error of the provider or of Envoy, or a response that a stage has stopped.
// Stages that are not here yet have their places in NewPipeline: compose, guard and screen.
//
// The stages know nothing of Envoy's messages. An attachment translates: it makes the Exchange
// of a request, takes it from step to step (request.go), and sends what comes out (package
// message). The one that there is speaks ext_proc, in the files server.go, downstream.go,
// upload.go, answer.go, upstream.go, registry.go, attemptlog.go and envoyhead.go.
//
// Who has no key learns nothing from what is wrong with the rest of the request,
// so identify comes first. No byte of the body is taken in before the stages of the
// headers have passed. A long body comes in pieces and goes in pieces (upload.go).
//
// What it guarantees:
//
//   - A request that was dispatched ends in exactly one settle per attempt that
//     reached its provider: at the end of the answer, when the caller leaves,
//     when the provider breaks off, or, by the journal, when the process dies.
//   - What a request has taken of rates, budgets and slots is given back once, however it
//     ends, and what is spent of a budget is in the journal before its reservation ends.
//   - Every request that was dispatched has exactly one event that is Final.
//   - No byte of an answer leaves before its intent is on disk, and the last
//     byte does not leave before its settle is.
//   - One View serves a request from its first byte to its last.
//   - Bytes between a caller and a provider of the same dialect are passed as
//     they are, but for the members that must change.
//   - No credential of a caller reaches a provider, no provider's credential
//     reaches a caller, and neither is logged.
//
// It never retries: Envoy does, along the plan it was given. An attempt after
// the first that needs another request than the first is rewritten by a stream
// of an upstream filter (upstream.go), which finds the Exchange by its id.
// Attempts that failed are known from Envoy's log of them (attemptlog.go).
package extproc
