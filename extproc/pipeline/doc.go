// Package pipeline has the stages of an inference request and of its response. They read and
// write an Exchange, and know no transport: an attachment makes the Exchange of a request, takes
// it from step to step (request.go), and sends what comes out (package message). The only
// attachment is package extproc.
//
// The stages, in order:
//
//	stage     | file         | phase                    | writes to the Exchange          | may reject as
//	----------|--------------|--------------------------|---------------------------------|---------------------------
//	identify  | identify.go  | request headers          | Principal                       | unauthenticated, denied
//	permit    | unread.go    | "                        | -                               | denied, not_found, malformed
//	media     | decode.go    | "                        | -                               | media_type
//	debug     | whyfailed.go | "                        | -                               | malformed, denied
//	parallel  | parallel.go  | "                        | counted in admission            | rate_limited
//	quota     | quota.go     | "                        | place in admission, bounds      | over_budget, rate_limited
//	bytes     | quota.go     | "                        | flight                          | too_large, rate_limited, unavailable
//	decode    | decode.go    | request body             | Facts, Options                  | malformed, not_found
//	enforce   | enforced.go  | "                        | -                               | malformed
//	compose   | compose.go   | "                        | Body, Facts, prompt             | malformed, not_found, unavailable
//	authorize | identify.go  | "                        | Model, tags of the key          | denied
//	guard     | guard.go     | "                        | Body, Facts, guardrails         | blocked, malformed, too_large, unavailable
//	route     | route.go     | "                        | Group, Plan, bounds             | not_found, unavailable, denied
//	admit     | admit.go     | "                        | admission                       | rate_limited, over_budget, unavailable
//	choose    | unread.go    | a body that nobody reads | Options, Model, Group, Plan    | not_found, denied, unavailable
//	admit     | admit.go     | "                        | admission                       | rate_limited, over_budget
//	dispatch  | attempt.go   | "; again per later try   | intents, the provider's request | malformed, unsupported
//	receive   | receive.go   | response headers         | Tries, Status; chooses the list | never
//	accept    | receive.go   | a whole response         | -                               | upstream
//	translate | receive.go   | "                        | response: body, usage           | upstream
//	screen    | guard.go     | "                        | response: body                  | blocked, unavailable
//	form      | native.go    | "                        | response: body                  | upstream
//	record    | receive.go   | "                        | usage events                    | unavailable
//	address   | receive.go   | "                        | response: headers               | never
//	accept    | receive.go   | the head of a stream     | -                               | upstream
//	record    | receive.go   | "                        | - (waits for the intents)       | unavailable
//	address   | receive.go   | "                        | response: headers               | never
//	record    | receive.go   | a head, likewise         | - (waits for the intents)       | unavailable
//	head      | unread.go    | "                        | response: headers               | never
//	record    | receive.go   | the end of a stream      | usage events                    | unavailable
//	explain   | failure.go   | a failure                | response: error                 | never
//	record    | receive.go   | "                        | usage events                    | unavailable
//	address   | receive.go   | "                        | response: status, headers, body | never
//	settle    | settle.go    | end, whatever the end    | usage events; ends admission    | never
//
// Between the head and the end of a stream, Relay (stream.go) translates each event, and screens it. A
// failure is an error of the provider or of Envoy, or a response that a stage has stopped.
//
// identify comes first, so a caller without a key learns nothing about the rest of the
// request. No byte of the body is read before the stages of the headers have passed.
//
// Guarantees:
//
//   - A dispatched request ends in exactly one settle per attempt that reached its
//     provider: at the end of the response, when the caller disconnects, when the provider
//     breaks off, or, from the journal, when the process dies.
//   - What a request reserves of rates, budgets and slots is released once, however the
//     request ends. Spending is in the journal before its reservation ends.
//   - Every dispatched request has exactly one event that is Final.
//   - No byte of a response leaves before its intent is on disk, and the last
//     byte does not leave before its settle is.
//   - One View serves a request from its first byte to its last.
//   - Between a caller and a provider of the same dialect, bytes pass unchanged, except
//     for the members that must change.
//   - No credential of a caller reaches a provider, no provider's credential
//     reaches a caller, and neither is logged.
//
// The package never retries. The attachment sees to retries, following the plan, and reports failed
// attempts to the Exchange.
package pipeline
