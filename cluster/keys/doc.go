// Package keys says who is calling. Parse reads the credential from a request's
// headers, a Set holds the virtual keys by their SHA-256 (never the keys
// themselves) and Authenticate turns headers into a Principal or a refusal.
//
// A Set is immutable and safe for concurrent use. What a refusal says depends
// only on the header and on the key's own state: an unknown key, a revoked one and
// a malformed one get the same answer. Nothing here repeats a credential in an
// error.
package keys
