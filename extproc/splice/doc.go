// Package splice reads and edits JSON bodies and event streams in OpenAI's form
// in place, without decoding them.
//
// It guarantees that
//   - what Scan, ScanLoose, Reply and Chunk accept is one JSON value by RFC 8259 in
//     valid UTF-8, without lone surrogates in escapes, at most 512 levels deep;
//   - a request in which two readers could see different values is refused: a name
//     that occurs twice at the top level, or a name that the gateway acts on in
//     another letter case;
//   - time and memory are linear in the body, whatever it holds;
//   - an edit changes the members it names and no other byte;
//   - the events that a Splitter returns do not depend on how the stream was cut
//     into chunks, and their raw bytes together are the stream.
//
// The road not taken is to decode into a map of raw values and encode it again: at
// 256 KB that costs three times what the proxy in front of us needs for the request.
//
// What the values mean beyond their type and range (does the model exist, may the
// caller use it) is left to the caller, and so are sizes: a body is taken as it is.
package splice
