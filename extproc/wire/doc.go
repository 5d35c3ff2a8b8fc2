// Package wire is the canonical form between what callers speak (package
// dialect) and what providers speak (package driver): with it a new language is
// one package, not one package per pair.
//
// It is data only. A Request is what a caller wants, a Response is a whole
// response, a Chunk is one step of a streamed response, and a Failure is why there
// is none. The form is a superset of the chat APIs: what a dialect reads and the
// form has no field for stays, raw, in Request.Extra. A driver then either
// forwards it or rejects it; nothing is lost silently.
//
// If caller and provider speak the same dialect, the form is not used: the bytes
// are edited in place and never decoded.
//
// Values are not safe for concurrent use. Raw JSON in them (jsontext.Value) is
// always valid, without duplicate names, and may alias the body it was read from.
package wire
