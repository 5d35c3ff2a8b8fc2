// Package wire is the canonical form between what callers speak (package
// dialect) and what providers speak (package driver): with it a new language is
// one package, not one package per pair.
//
// It is data only. An Ask is what a caller wants, a Reply is a whole answer, a
// Chunk is one step of a streamed answer, a Failure is why there is none. The
// form is a superset of the chat APIs: whatever a dialect reads and the form
// has no field for stays, raw, in Ask.Extra, so that a driver either forwards
// it or says that it cannot; nothing is lost silently.
//
// Traffic whose caller and provider speak the same dialect does not come
// through here: its bytes are edited in place and never decoded.
//
// Values are not safe for concurrent use. Raw JSON in them (jsontext.Value) is
// always valid, without duplicate names, and may alias the body it was read from.
package wire
