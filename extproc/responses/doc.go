// Package responses is the language of OpenAI's Responses API, for callers (Dialect) and
// for models that have no other endpoint (Codec). What callers send is read strictly, and
// what providers send is read loosely.
//
// # Nothing is stored
//
// A translated response is as if the request had store: false. A request that needs a
// stored response, prompt or file list of the provider (previous_response_id,
// conversation, item_reference, prompt, background) is rejected by name. Of references, one to
// reasoning is dropped.
//
// # Items and messages
//
// A caller sends items, and the canonical form has messages. Adjacent items of the
// assistant (reasoning, messages, calls) become one message, because chat providers
// require all calls of a turn in one message. Each part remembers the item that it came
// from, for errors.
//
// # Reasoning
//
// A reasoning item has a summary, for reading, and encrypted_content, for sending back.
// For a caller, encrypted_content carries the proof of whichever provider the reasoning
// is from: OpenAI's own as it is, and that of another provider in an envelope that begins
// with "mgw1." (seal). When it comes back, the driver of that provider gets the proof
// unchanged, and every other driver leaves it out.
package responses
