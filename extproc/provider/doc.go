// Package provider is the table of providers: the name, the address and the
// driver of each. Its tests translate the golden files in testdata/<name> from
// the caller's request to the provider's, and from its response to the caller's.
//
// A provider that speaks OpenAI's chat API is a row in Providers. Any other is
// a package with a driver.Driver, a row, and golden files in
// testdata/<name>/*.txtar; the suite rejects a driver of chats without chat, chat_stream
// and error_429.
//
// Those are for callers of OpenAI's chats. Callers of Anthropic's messages have theirs in
// testdata/messages/<name>, and callers of completions in testdata/completions/<name>: matrices of
// what a response may have, whole and streamed, that the suite rejects if a cell is missing.
//
// Requests of other endpoints than chats that a driver.Rewriter rewrites have theirs in testdata/rewritten/<name>. The name of
// a file begins with the endpoint's (embeddings, images, edits, rerank, speech, transcription, translation, count, inputs); of each endpoint there is one with this name alone, and
// one with _error_429. ask.json has the fields of a form. Sound has no answer.http if it passes; that of a
// driver.Speaker has one, in which it is quoted.
//
// A provider that almost speaks a language has a Variation: the edits of requests that are passed on.
package provider
