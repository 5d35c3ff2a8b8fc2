// Package openai is the language of OpenAI's chat completions, for callers
// (Dialect) and for the many providers that speak it (Driver). The shapes of
// requests, messages, tools and tool calls are the same types on both sides.
// Completions is the older language of one prompt, for callers only.
// Responses are written with one set of types and read with another: what the
// gateway writes is exact, and what providers send is read loosely.
//
// Unknown members inside a message are ignored: callers send whole earlier
// responses back, with all that some provider once put into them.
//
// # Reasoning
//
// OpenAI's chat API has no place for a model's reasoning, so two members are
// added to a message, the ones that most gateways use:
//
//   - reasoning_content, a string: all of the reasoning, for reading;
//   - thinking_blocks, an array of {"type":"thinking","thinking","signature"}
//     and {"type":"redacted_thinking","data"}: the blocks with the provider's
//     proof that they are its own, for sending back. Only blocks that have
//     such a proof are listed.
//
// In a stream, reasoning_content comes in pieces like content does, and each
// block comes once, whole, when it has ended: callers append it and need not
// merge anything. A caller that continues after a tool call puts
// thinking_blocks back into the assistant message. If both members are there,
// thinking_blocks counts; reasoning_content alone has no proof, and drivers
// whose provider requires one leave it out.
//
// Most clients drop these members. For them the pipeline seals the blocks into the ids of calls,
// and takes them out before a driver sees a request.
//
// A tool message may also carry "is_error": true. Providers that know failed
// tool calls receive it.
package openai
