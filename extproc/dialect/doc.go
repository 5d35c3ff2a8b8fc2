// Package dialect defines the caller's side of a language: a Dialect reads
// requests into the canonical form (package wire) and writes responses, streams
// and errors from it. Each language implements it in a package of its own, such
// as openai, next to its driver for providers.
//
// The rest of the package helps a Dialect to read strictly. A Dialect
// guarantees that names that appear twice, wrong types and impossible numbers
// are rejected with the path of the field, such as messages[2].content; that it
// never panics on any body; that a top-level member that it does not know is
// kept in wire.Request.Extra; and that whatever it writes is valid JSON.
//
// The gateway's own extension fields (prompt_id and the like) are not known
// here. They are removed from the body before it is decoded.
package dialect
