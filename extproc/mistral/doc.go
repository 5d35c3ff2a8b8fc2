// Package mistral is the language of Mistral's chat completions, for providers. It resembles OpenAI's, and
// is strict: an unknown member, an id of a call in another form, or a role in the wrong place is
// an error. So chats are translated, and never passed on. Embeddings, moderations, sound and speech are
// OpenAI's, and pass.
//
// What is different, and where it is handled:
//
//   - ids of calls have nine letters or digits. Another id becomes one, the same in the call and in its result
//     (callid.go), so histories of other providers work;
//   - after a tool's result comes the assistant, and a system message follows no assistant (order.go);
//   - content may be chunks, and reasoning is one of them. A signed one goes back (message.go, content.go);
//   - usage comes without being asked for, with the last piece of a stream;
//   - the end may be an error, in a response with status 200.
package mistral
