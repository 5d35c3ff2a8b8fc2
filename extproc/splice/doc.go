// Package splice reads and edits JSON bodies, forms (multipart/form-data) and event streams in
// OpenAI's format in place, without decoding them.
//
// Guarantees:
//
//   - Scan, Reply and Chunk accept exactly one JSON value by RFC 8259, in valid
//     UTF-8, without lone surrogates in escapes, at most 512 levels deep.
//   - They reject a request in which two JSON readers could see different values: a duplicate
//     name at the top level, or a name that the gateway uses in another letter case.
//   - Time and memory are linear in the size of the body, whatever its content.
//   - An edit changes the members that it names and no other byte.
//   - ScanForm rejects a form in which two readers could see different fields. It copies text
//     fields of 256 KiB at most, and no files.
//   - The events of a Splitter do not depend on the chunks of the stream. Their raw bytes
//     together are the stream.
//
// The rejected alternative is to decode into a map of raw values and encode again. At 256 KB
// that costs three times what Envoy needs for the request.
//
// Not part of this package: the meaning of values beyond type and range, such as whether the
// model exists, and limits on sizes.
package splice
