// Package dialect is what callers speak: it reads their requests into the
// canonical form (package wire) and writes answers, streams and errors out of it.
//
// It guarantees that a request is read strictly (names that appear twice, wrong
// types and impossible numbers are refused with the path of the field, such as
// messages[2].content), that it never panics on any body, that what it does not
// know at the top level survives in wire.Ask.Extra, and that whatever it writes
// is valid JSON. Unknown members inside a message are ignored: callers send
// whole earlier answers back, with all that some provider once put into them.
//
// The gateway's own extension fields (prompt_id and the like) are not known
// here. They are removed from the body before it is decoded.
//
// # Reasoning in OpenAI's dialect
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
// whose provider demands one leave it out.
//
// A tool message may also carry "is_error": true, which providers that know
// failed tool calls are told of.
package dialect
