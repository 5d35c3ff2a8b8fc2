// Package provider is what upstreams speak: one Driver per sort of provider
// turns the canonical form (package wire) into the provider's requests, and its
// answers, streams and errors back. The drivers are listed in Providers.
//
// A driver is a pure function of its arguments: it opens no connection, reads
// no clock and keeps no state between calls; what one stream needs to remember
// is in the Stream it hands out.
//
// It guarantees
//   - that content is never lost silently: a message part that the provider
//     cannot take is refused with its path. Parameters the provider lacks are
//     refused too, unless Target.DropParams says to drop them or they ask for
//     what the provider does anyway. Mere hints, which do not change what a
//     good answer is (store, prediction, prompt_cache_key, …), are dropped;
//   - that no credential, neither ours in a header nor one that a provider
//     repeats in an error, appears in a text for callers or logs;
//   - that token counts that cannot be true (negative, fractional, huge, parts
//     above their whole, not numbers) count as not reported. Absent is not
//     zero, and a reported zero is zero;
//   - that an answer which is not one (HTML, nothing, an error with status 200)
//     is a *wire.Failure and never an empty reply.
//
// # Structured answers from providers without them
//
// Where a target has no native JSON schema, the driver offers the model a tool
// of a reserved name whose arguments are the answer. Its calls come back as
// text, so the caller sees what it asked for, and decoding needs no memory of
// the request.
//
// # Adding a provider
//
// A provider that speaks OpenAI's chat API is a row in Providers. Any other is
// a file with a Driver, a row, and golden files in testdata/<name>/*.txtar; the
// suite refuses a driver without chat, chat_stream and error_429.
package provider
